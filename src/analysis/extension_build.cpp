#include "analysis/extension_build.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.h"

namespace hone {

namespace {

constexpr int kMostHops = 6;  // from a name to its value

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Keeps blanks only where two words would otherwise merge.
std::string Tight(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      continue;
    }
    if (!out.empty() && out.back() == ' ' &&
        (!IsWordCharacter(c) || out.size() < 2 || !IsWordCharacter(out[out.size() - 2])))
      out.pop_back();
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Returns one spelling for all spellings of a type.
std::string OneSpelling(std::string type) {
  static const std::pair<const char*, const char*> kSame[] = {
      {"at::Tensor", "torch::Tensor"},
      {"at::optional", "std::optional"},
      {"c10::optional", "std::optional"},
      {"torch::optional", "std::optional"},
      {"int32_t", "int"},
      {"at::IntArrayRef", "torch::IntArrayRef"},
  };
  for (const auto& [from, to] : kSame) type = ReplaceAll(std::move(type), from, to);
  if (type == "long" || type == "const long") type = "int64_t";
  const bool by_value = !type.empty() && type.back() != '&' && type.back() != '*';
  if (by_value && StartsWith(type, "const ")) type = type.substr(6);
  return type;
}

bool IsPlain(std::string_view type) {
  static const std::set<std::string_view> kWords = {
      "const",   "torch",    "at",       "c10",      "std",         "Tensor",    "int",
      "long",    "int64_t",  "float",    "void",     "double",      "string",    "bool",
      "vector",  "optional", "tuple",    "unsigned", "size_t",      "int32_t",   "pair",
      "uint8_t", "int8_t",   "uint32_t", "uint64_t", "IntArrayRef", "TensorList"};
  for (size_t at = 0; at < type.size();) {
    size_t end = at;
    while (end < type.size() && IsWordCharacter(type[end])) ++end;
    if (end > at && kWords.count(type.substr(at, end - at)) == 0) return false;
    at = std::max(end, at + 1);
  }
  return !type.empty();
}

const SyntaxNode* InnermostName(const SyntaxNode* declarator) {
  const SyntaxNode* at = declarator;
  while (at != nullptr && !at->Is("identifier")) {
    const SyntaxNode* inner = at->Field("declarator");
    if (inner == nullptr) inner = at->FirstNamed();
    at = inner;
  }
  return at;
}

// Returns "const torch::Tensor&" for `const torch::Tensor& x = y`.
std::string ParameterType(const SyntaxNode* parameter) {
  std::string text(parameter->text);
  if (const SyntaxNode* value = parameter->Field("default_value")) {
    text.resize(value->start - parameter->start);
    text.resize(std::min(text.size(), text.rfind('=')));
  }
  if (const SyntaxNode* declarator = parameter->Field("declarator"))
    if (const SyntaxNode* name = InnermostName(declarator))
      if (name->start >= parameter->start && name->end - parameter->start <= text.size())
        text.erase(name->start - parameter->start, name->end - name->start);
  return OneSpelling(Tight(text));
}

// The function_declarator inside pointers and references.
const SyntaxNode* FunctionDeclarator(const SyntaxNode* node) {
  const SyntaxNode* at = node->Field("declarator");
  while (at != nullptr && !at->Is("function_declarator")) at = at->Field("declarator");
  return at;
}

bool ReadFunction(const SyntaxNode* node, CppFunction* out) {
  const SyntaxNode* declarator = FunctionDeclarator(node);
  const SyntaxNode* type = node->Field("type");
  if (declarator == nullptr || type == nullptr) return false;
  const SyntaxNode* name = declarator->Field("declarator");
  const SyntaxNode* list = declarator->Field("parameters");
  if (name == nullptr || !name->Is("identifier") || list == nullptr) return false;
  const SyntaxNode* body = node->Field("body");
  out->name = name->text;
  out->node = node;
  out->defined = body != nullptr;
  const uint32_t end = body != nullptr ? body->start : declarator->end;
  out->signature = std::string(Trim(node->text.substr(0, end - node->start)));
  // Attributes and qualifiers matter to only one compiler, source or linkage, so they are dropped.
  const std::string_view before = node->text.substr(0, type->start - node->start);
  std::string result(node->text.substr(type->start - node->start, name->start - type->start));
  out->result = OneSpelling(Tight(result));
  out->plain = Trim(before).empty() && IsPlain(out->result) &&
               Trim(node->text.substr(declarator->end - node->start, end - declarator->end)).empty();
  for (const SyntaxNode* child = list->first_child; child != nullptr; child = child->next) {
    if (!child->named || child->Is("comment")) continue;
    if (!child->Is("parameter_declaration") && !child->Is("optional_parameter_declaration")) {
      out->plain = false;
      continue;
    }
    out->params.push_back(ParameterType(child));
    out->plain = out->plain && IsPlain(out->params.back());
  }
  if (out->params.size() == 1 && out->params[0] == "void") out->params.clear();
  return true;
}

std::string_view Unquoted(const SyntaxNode* string) {
  const std::string_view text = string->text;
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2)
                                                                       : std::string_view();
}

// Reads m.def("name", ...) inside PYBIND11_MODULE.
void ReadBinding(const SyntaxNode* node, ExtensionSource* out) {
  out->binding = node;
  for (const SyntaxNode* at = node; at != nullptr; at = NextInDocument(at, node)) {
    if (!at->Is("call_expression")) continue;
    const SyntaxNode* callee = at->Field("function");
    const SyntaxNode* member = callee != nullptr ? callee->Field("field") : nullptr;
    const SyntaxNode* arguments = at->Field("arguments");
    const SyntaxNode* first = arguments != nullptr ? arguments->FirstNamed() : nullptr;
    if (member == nullptr || member->text != "def" || first == nullptr || !first->Is("string_literal"))
      continue;
    if (const std::string_view name = Unquoted(first); !name.empty()) out->bound.push_back(name);
  }
}

void ReadSource(ExtensionSource* source) {
  source->device_code = !source->unit->kernels.empty() || !source->unit->launches.empty();
  const SyntaxNode* root = source->unit->tree.root();
  if (root == nullptr) return;
  for (const SyntaxNode* node = root->first_child; node != nullptr; node = node->next) {
    const bool definition = node->Is("function_definition");
    if (!definition && !node->Is("declaration")) continue;
    if (StartsWith(node->text, "PYBIND11_MODULE")) {
      ReadBinding(node, source);
      continue;
    }
    CppFunction function;
    if (ReadFunction(node, &function)) source->functions.push_back(std::move(function));
  }
}

class BuildReader {
 public:
  BuildReader(const Scopes& scopes, const SyntaxTree& syntax, const std::vector<CudaUnit>& units)
      : scopes_(scopes), units_(units) {
    const SyntaxNode* root = syntax.root();
    for (const SyntaxNode* node = root; node != nullptr; node = NextInDocument(node, root))
      if (node->Is("string")) strings_[node->start] = node;
  }

  ExtensionBuild Read(const PyNode* call) {
    ExtensionBuild build;
    build.call = call;
    build.runs = scopes_.Runs(call);
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (i > 2 || call->args[i]->Is(PyKind::kStarred)) build.known = false;
      if (i == 1) build.cpp.argument = call->args[i];
      if (i == 2) build.cuda.argument = call->args[i];
    }
    for (const PyNode* keyword : call->keywords) {
      if (keyword->name.empty() || keyword->name == "no_implicit_headers" ||
          keyword->name == "sycl_sources" || keyword->name == "with_pytorch_error_handling")
        build.known = false;
      if (keyword->name == "cpp_sources") build.cpp.argument = keyword->value;
      if (keyword->name == "cuda_sources") build.cuda.argument = keyword->value;
      if (keyword->name == "functions") build.functions = keyword->value;
      if (keyword->name == "is_python_module") build.makes_module = keyword->value->Is(PyKind::kTrue);
    }
    ReadSources(&build.cpp);
    ReadSources(&build.cuda);
    if (build.functions != nullptr && build.functions->Is(PyKind::kNone)) build.functions = nullptr;
    ReadNames(&build);
    for (const PyNode* other : scopes_.calls()) {
      const PyNode* callee = other->value;
      if (callee != nullptr && callee->Is(PyKind::kAttribute) && IsModule(callee->value, call, 0))
        build.called.push_back({std::string(callee->name), other});
    }
    return build;
  }

 private:
  // The value of a name that is bound once.
  const PyNode* Behind(const PyNode* expression) const {
    for (int hop = 0; hop < kMostHops && expression != nullptr && expression->Is(PyKind::kName); ++hop) {
      const std::vector<Binding>* bindings = scopes_.Find(expression->name, expression);
      if (bindings == nullptr || bindings->size() != 1) return nullptr;
      expression = bindings->front().value;
    }
    return expression;
  }

  bool AddText(const PyNode* string, ExtensionSources* out) {
    const auto found = strings_.find(string->start);
    if (found == strings_.end() || found->second->end != string->end) return false;
    const SyntaxNode* node = found->second;
    ExtensionSource source;
    source.string = string;
    const SyntaxNode* open = node->first_child;
    const SyntaxNode* close = open;
    while (close != nullptr && close->next != nullptr) close = close->next;
    if (open == nullptr || close == open) return false;
    source.start = open->end;
    source.end = close->start;
    source.triple = close->text.size() == 3;
    source.raw = open->text.find_first_of("rR") != std::string_view::npos;
    // A declaration on one line contains line breaks as escapes, which only Python interprets.
    const bool escaped =
        !source.raw && !source.triple && Contains(node->text.substr(source.start - node->start), "\\n");
    for (const CudaUnit& unit : units_)
      if (!escaped && unit.offset == source.start && unit.text->size() == source.end - source.start)
        source.unit = &unit;
    if (source.unit == nullptr) {
      const std::string_view text = node->text.substr(source.start - node->start, source.end - source.start);
      source.own = std::make_shared<CudaUnit>(
          ReadCuda(escaped ? ReplaceAll(std::string(text), "\\n", " \n") : std::string(text), source.start));
      source.unit = source.own.get();
    }
    ReadSource(&source);
    out->texts.push_back(std::move(source));
    return true;
  }

  void ReadSources(ExtensionSources* out) {
    const PyNode* value = Behind(out->argument);
    if (out->argument == nullptr) return;
    if (value != nullptr && value->Is(PyKind::kNone)) return;
    std::vector<const PyNode*> parts;
    if (value != nullptr && (value->Is(PyKind::kList) || value->Is(PyKind::kTuple)))
      parts.assign(value->args.begin(), value->args.end());
    else
      parts.push_back(value);
    for (const PyNode* part : parts) {
      const PyNode* text = Behind(part);
      if (text == nullptr || !text->Is(PyKind::kString) || !AddText(text, out)) out->known = false;
    }
  }

  void ReadNames(ExtensionBuild* build) {
    const PyNode* value = Behind(build->functions);
    if (value == nullptr) return;
    std::vector<const PyNode*> parts;
    if (value->Is(PyKind::kString)) parts.push_back(value);
    if (value->Is(PyKind::kList)) parts.assign(value->args.begin(), value->args.end());
    if (value->Is(PyKind::kDict)) parts.assign(value->keys.begin(), value->keys.end());
    if (parts.empty()) return;
    for (const PyNode* part : parts) {
      if (part == nullptr || !part->Is(PyKind::kString)) return;
      build->names.push_back({part->string, part});
    }
    build->names_at = value;
  }

  // Whether the expression is the module that `call` returns.
  bool IsModule(const PyNode* expression, const PyNode* call, int hop) const {
    if (expression == nullptr || hop > kMostHops) return false;
    if (expression == call) return true;
    // None means "not built yet".
    const auto all = [&](const std::vector<Binding>& bindings) {
      bool any = false;
      for (const Binding& one : bindings) {
        if (one.node->Is(PyKind::kGlobal) || (one.value != nullptr && one.value->Is(PyKind::kNone))) continue;
        if (one.value == nullptr || !IsModule(one.value, call, hop + 1)) return false;
        any = true;
      }
      return any;
    };
    if (expression->Is(PyKind::kName)) {
      const std::vector<Binding>* bindings = scopes_.Find(expression->name, expression);
      return bindings != nullptr && all(*bindings);
    }
    if (expression->Is(PyKind::kAttribute) && expression->value->IsName("self")) {
      const PyNode* owner = EnclosingClass(expression);
      return owner != nullptr && all(scopes_.AttributeBindings(owner, expression->name));
    }
    if (expression->Is(PyKind::kCall) && expression->value->Is(PyKind::kName)) {
      const std::vector<const PyNode*> functions = scopes_.FunctionsNamed(expression->value->name);
      if (functions.size() != 1) return false;
      bool found = false;
      WalkPython(functions[0], [&](const PyNode* node) {
        if (node->Is(PyKind::kReturn) && EnclosingFunction(node) == functions[0])
          found = IsModule(node->value, call, hop + 1);
        return true;
      });
      return found;
    }
    return false;
  }

  const Scopes& scopes_;
  const std::vector<CudaUnit>& units_;
  std::map<uint32_t, const SyntaxNode*> strings_;
};

const CppFunction* OnlyOne(const ExtensionSources& sources, std::string_view name, bool defined) {
  const CppFunction* found = nullptr;
  for (const ExtensionSource& source : sources.texts)
    for (const CppFunction& function : source.functions) {
      if (function.name != name || (defined && !function.defined)) continue;
      if (found != nullptr && defined) return nullptr;
      found = &function;
    }
  return found;
}

}  // namespace

bool ExtensionBuild::Binds(std::string_view name) const {
  return std::any_of(names.begin(), names.end(), [&](const ExtensionName& one) { return one.name == name; });
}

const CppFunction* ExtensionBuild::Definition(std::string_view name, bool device) const {
  return OnlyOne(device ? cuda : cpp, name, true);
}

const CppFunction* ExtensionBuild::Declaration(std::string_view name) const {
  return OnlyOne(cpp, name, false);
}

const ExtensionSource* ExtensionBuild::BindingSource() const {
  for (const ExtensionSources* sources : {&cpp, &cuda})
    for (const ExtensionSource& source : sources->texts)
      if (source.binding != nullptr) return &source;
  return nullptr;
}

std::vector<ExtensionBuild> FindExtensionBuilds(const Scopes& scopes, const SyntaxTree& syntax,
                                                const std::vector<CudaUnit>& units) {
  std::vector<ExtensionBuild> builds;
  std::vector<const PyNode*> loads;
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    if (dotted == "torch.utils.cpp_extension.load_inline" || dotted == "load_inline") loads.push_back(call);
  }
  if (loads.empty()) return builds;
  BuildReader reader(scopes, syntax, units);
  for (const PyNode* call : loads) builds.push_back(reader.Read(call));
  return builds;
}

}  // namespace hone
