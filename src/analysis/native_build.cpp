#include "analysis/native_build.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace hone {

namespace {

constexpr int kMaxDepth = 4;

// The strings of an expression, also through names bound to lists or strings.
void CollectStrings(const Scopes& scopes, const PyNode* expression, int depth,
                    std::vector<std::string>* out) {
  if (expression == nullptr || depth > kMaxDepth) return;
  WalkPython(expression, [&](const PyNode* node) {
    if (node->Is(PyKind::kString)) out->push_back(node->string);
    if (!node->Is(PyKind::kName)) return true;
    if (const std::vector<Binding>* bindings = scopes.Find(node->name, node))
      for (const Binding& binding : *bindings)
        if (binding.value != nullptr && !IsInside(node, binding.value))
          CollectStrings(scopes, binding.value, depth + 1, out);
    return true;
  });
}

bool StartsProcess(const std::string& dotted) {
  return dotted == "subprocess.run" || dotted == "subprocess.check_call" ||
         dotted == "subprocess.check_output" || dotted == "subprocess.call" || dotted == "subprocess.Popen";
}

// A list (no shell) that names an output and a kind of code to make is a compiler command.
bool IsCompilerCommand(const Scopes& scopes, const PyNode* call) {
  const PyNode* shell = call->Keyword("shell");
  if (call->args.empty() || (shell != nullptr && !shell->Is(PyKind::kFalse))) return false;
  const PyNode* command = call->args[0];
  if (command->Is(PyKind::kName)) {
    const std::vector<Binding>* bindings = scopes.Find(command->name, command);
    command = bindings != nullptr && bindings->size() == 1 ? bindings->front().value : nullptr;
  }
  if (command == nullptr || !command->Is(PyKind::kList)) return false;
  std::vector<std::string> words;
  CollectStrings(scopes, command, 0, &words);
  const auto has = [&](auto&& matches) { return std::any_of(words.begin(), words.end(), matches); };
  const bool output = has([](const std::string& word) { return word == "-o"; });
  const bool code = has([](const std::string& word) {
    return word == "-shared" || word == "-cubin" || word == "--cubin" || word == "-ptx" || word == "--ptx" ||
           word == "-fatbin" || word == "--shared" || word == "-c";
  });
  return output && code;
}

bool IsExtensionLoader(const std::string& dotted) {
  return EndsWith(dotted, "load_inline") || dotted == "torch.utils.cpp_extension.load" ||
         dotted == "torch.cuda._compile_kernel";
}

}  // namespace

NativeBuild FindNativeBuild(const Scopes& scopes, const std::vector<CudaUnit>& sources) {
  NativeBuild build;
  build.has_source = !sources.empty();
  for (const PyNode* call : scopes.calls()) {
    const std::string dotted = scopes.Resolve(call->value);
    if (StartsProcess(dotted) && IsCompilerCommand(scopes, call)) build.compiles.insert(call);
    if (call->value->Is(PyKind::kAttribute) && call->value->name == "nvrtcCompileProgram")
      build.uses_nvrtc = true;
    if (IsExtensionLoader(dotted)) build.uses_loader = true;
  }
  return build;
}

}  // namespace hone
