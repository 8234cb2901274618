#include "codegen/candidate_text.h"

#include <span>

#include "base/embedded.h"
#include "base/template.h"
#include "base/text.h"
#include "source/python_ast.h"
#include "source/syntax_tree.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_codegen();

namespace {

bool IsMainGuard(const PyNode* node) {
  if (!node->Is(PyKind::kIf) || !node->test->Is(PyKind::kCompare) || node->test->args.size() != 1)
    return false;
  const PyNode* left = node->test->left;
  const PyNode* right = node->test->args[0];
  return left->IsName("__name__") || right->IsName("__name__");
}

// Escapes text so that it is safe between triple quotes.
std::string ForDocstring(std::string_view text) {
  std::string out = ReplaceAll(ValidUtf8(text), "\\", "\\\\");
  out = ReplaceAll(std::move(out), "\"\"\"", "'''");
  while (EndsWith(out, "\"")) out.back() = '\'';
  return out;
}

// Breaks text at spaces into lines of at most `width` characters.
std::string Wrapped(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty()) continue;
    const bool breaks = column > 0 && column + 1 + word.size() > width;
    if (column > 0) out += breaks ? '\n' : ' ';
    column = breaks ? word.size() : column + (column > 0 ? 1 : 0) + word.size();
    out += word;
  }
  return out;
}

}  // namespace

Result<std::string_view> EmbeddedText(const std::string& path) {
  for (const EmbeddedFile& file : EmbeddedFiles_hone_codegen())
    if (file.name == path) return file.content;
  return Error{ErrorKind::kInternal, "the binary has no " + path};
}

Result<std::string_view> TemplateText(const std::string& name) {
  return EmbeddedText("templates/" + name);
}

void SplitTask(const std::string& source, RecipeContext* context) {
  const SyntaxTree syntax = SyntaxTree::Parse(source, Language::kPython);
  context->task_text = source;
  if (syntax.gave_up()) return;
  const PyTree tree = BuildPythonTree(syntax);
  std::vector<const PyNode*> removed;
  for (size_t i = 0; i < tree.module->body.size(); ++i) {
    const PyNode* node = tree.module->body[i];
    if (i == 0 && node->Is(PyKind::kExprStmt) && node->value->Is(PyKind::kString)) {
      context->task_docstring = std::string(Trim(node->value->string));
      removed.push_back(node);
    } else if (IsMainGuard(node)) {
      removed.push_back(node);
    }
  }
  for (auto node = removed.rbegin(); node != removed.rend(); ++node)
    context->task_text.erase((*node)->start, (*node)->end - (*node)->start);
  context->task_text = std::string(Trim(ReplaceAll(context->task_text, "\r\n", "\n")));
}

Result<std::string> WriteCandidate(const RecipeContext& context, const CandidateParts& parts) {
  Json values = parts.values;
  values["title"] = ForDocstring(parts.title);
  values["about"] = Wrapped(ForDocstring(parts.about), 118);
  values["recipe"] = parts.recipe;
  values["task"] = {{"name", ForDocstring(context.inputs.task.name)},
                    {"sha256", context.inputs.task.sha256.substr(0, 16)},
                    {"docstring", ForDocstring(context.task_docstring)},
                    {"text", context.task_text}};
  values["version"] = HONE_VERSION;
  values["device"] = context.inputs.device;
  HONE_ASSIGN_OR_RETURN(const std::string_view not_here, TemplateText("part_not_here.py"));
  HONE_ASSIGN_OR_RETURN(const std::string warning,
                        RenderTemplate(not_here, values).WithContext("part_not_here.py"));
  values["warn_not_here"] = Trim(warning);
  std::vector<std::string> pieces;
  for (const std::string& name : parts.files) {
    HONE_ASSIGN_OR_RETURN(const std::string_view text, TemplateText(name));
    HONE_ASSIGN_OR_RETURN(const std::string rendered, RenderTemplate(text, values).WithContext(name));
    pieces.emplace_back(Trim(rendered));
  }
  values["code"] = Join(pieces, "\n\n\n");
  HONE_ASSIGN_OR_RETURN(const std::string_view frame, TemplateText("frame.py"));
  return RenderTemplate(frame, values).WithContext("frame.py");
}

}  // namespace hone
