// Renames operations that kernels call by their name in PyTorch, NumPy, Python or an older Triton: tl.tanh,
// x.astype(t), torch.exp(x), math.tanh(x), abs(x). It lists only names with a single meaning; tl.round is
// left out, because rounding of halves is ambiguous.
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

// Functions of triton.language that compute the same as PyTorch's, NumPy's and math's functions of that name,
// from the same arguments.
constexpr std::string_view kLanguage[] = {"exp",     "exp2",    "log",   "log2", "sqrt",    "rsqrt",
                                          "sin",     "cos",     "abs",   "erf",  "sigmoid", "floor",
                                          "maximum", "minimum", "where", "ceil", "fma"};

struct Namesake {
  std::string_view name;
  std::string_view device;  // libdevice's name
};
constexpr Namesake kLibdevice[] = {
    {"tanh", "tanh"},   {"sinh", "sinh"},   {"cosh", "cosh"},         {"tan", "tan"},
    {"asin", "asin"},   {"acos", "acos"},   {"atan", "atan"},         {"atan2", "atan2"},
    {"asinh", "asinh"}, {"acosh", "acosh"}, {"atanh", "atanh"},       {"log1p", "log1p"},
    {"expm1", "expm1"}, {"pow", "pow"},     {"power", "pow"},         {"erfinv", "erfinv"},
    {"erfc", "erfc"},   {"cbrt", "cbrt"},   {"hypot", "hypot"},       {"fmod", "fmod"},
    {"trunc", "trunc"}, {"log10", "log10"}, {"copysign", "copysign"}, {"lgamma", "lgamma"}};

// {l} is triton.language, {0}, {1}, ... are arguments as operands, {*} is the text after the first argument.
struct CallTemplate {
  std::string_view name;
  int arguments;  // -1: one, and any that name the axis
  std::string_view text;
  bool twice = false;  // the first argument appears twice
};
constexpr CallTemplate kTemplates[] = {
    {"relu", 1, "{l}.maximum({0}, 0.0)"},
    {"clip", 3, "{l}.clamp({0}, {1}, {2})"},
    {"clamp", 3, "{l}.clamp({0}, {1}, {2})"},
    {"ln", 1, "{l}.log({0})"},
    {"square", 1, "{0} * {0}", true},
    {"astype", 2, "{0}.to({1})"},
    {"any", -1, "{l}.max({0}.to({l}.int32){rest}) > 0"},
    {"all", -1, "{l}.min({0}.to({l}.int32){rest}) > 0"},
    {"count_nonzero", -1, "{l}.sum(({0} != 0).to({l}.int32){rest})"},
    {"mod", 2, "{0} % {1}"},
    {"logical_and", 2, "({0} != 0) & ({1} != 0)"},
    {"logical_or", 2, "({0} != 0) | ({1} != 0)"},
    {"logical_not", 1, "{0} == 0"},
    {"matmul", 2, "{l}.dot({0}, {1})"},
    {"full_like", 2, "{l}.full({0}.shape, {1}, {0}.dtype)", true},
    {"ones_like", 1, "{l}.full({0}.shape, 1, {0}.dtype)", true},
    {"unsqueeze", 2, "{l}.expand_dims({0}, {1})"},
    {"isnan", 1, "{0} != {0}", true},
    {"isinf", 1, "{l}.abs({0}) == float(\"inf\")"},
    {"silu", 1, "{0} * {l}.sigmoid({0})", true},
    {"swish", 1, "{0} * {l}.sigmoid({0})", true},
    {"syncthreads", 0, "{l}.debug_barrier()"},
    {"half", 1, "{0}.to({l}.float16)"},
    {"bfloat16", 1, "{0}.to({l}.bfloat16)"},
    {"float", 1, "{0}.to({l}.float32)"},
    {"double", 1, "{0}.to({l}.float64)"},
    {"int", 1, "{0}.to({l}.int32)"},
    {"long", 1, "{0}.to({l}.int64)"},
    {"t", 1, "{l}.trans({0})"},
};

// Names that are used without a call.
struct NamedConstant {
  std::string_view name;
  std::string_view text;
};
constexpr NamedConstant kConstants[] = {
    {"inf", "float(\"inf\")"}, {"nan", "float(\"nan\")"}, {"pi", "3.141592653589793"},
    {"half", "{l}.float16"},   {"float", "{l}.float32"},  {"double", "{l}.float64"},
    {"int", "{l}.int32"},      {"long", "{l}.int64"},     {"bool", "{l}.int1"}};

class Renamer {
 public:
  Renamer(const Candidate& candidate, const PyNode* callee) : candidate_(candidate), callee_(callee) {
    const PyNode* parent = callee->parent;
    if (parent != nullptr && parent->Is(PyKind::kCall) && parent->value == callee) call_ = parent;
  }

  // `receiver` is the object of a method call, which becomes the first argument.
  FixEdits Make(std::string_view name, const PyNode* receiver) {
    if (call_ == nullptr) return receiver == nullptr ? MakeConstant(name) : FixEdits();
    for (const PyNode* argument : call_->args)
      if (argument->Is(PyKind::kStarred)) return {};
    for (const PyNode* keyword : call_->keywords)
      if (keyword->name.empty()) return {};
    if (receiver == nullptr && call_->keywords.empty() && !call_->args.empty()) {
      if (FixEdits edits = RenameCallee(name); !edits.empty()) return edits;
    }
    return Rewrite(name, receiver);
  }

 private:
  bool Everywhere(std::string_view scope, std::string_view name) const {
    const uint32_t wanted = candidate_.options.triton_versions;
    return (TritonReleasesWith(scope, name) & wanted) == wanted;
  }

  FixEdits RenameCallee(std::string_view name) {
    FixEdits edits;
    const std::string dotted = candidate_.python->scopes->Resolve(callee_);
    const bool own = StartsWith(dotted, "triton.language.math.") || StartsWith(dotted, "triton.language.lib");
    const bool known =
        own || std::find(std::begin(kLanguage), std::end(kLanguage), name) != std::end(kLanguage);
    if (known && dotted != "triton.language." + std::string(name) && Everywhere("triton.language", name)) {
      const std::string language = EnsureLanguage(candidate_, &edits);
      if (language.empty()) return {};
      edits.push_back({callee_->start, callee_->end, fmt::format("{}.{}", language, name)});
      return edits;
    }
    for (const Namesake& row : kLibdevice) {
      if (row.name != name || !Everywhere("libdevice", row.device)) continue;
      const std::string device = EnsureLibdevice(candidate_, &edits);
      if (device.empty()) return {};
      edits.push_back({callee_->start, callee_->end, fmt::format("{}.{}", device, row.device)});
      return edits;
    }
    return {};
  }

  FixEdits Rewrite(std::string_view name, const PyNode* receiver) {
    std::vector<const PyNode*> arguments;
    if (receiver != nullptr) arguments.push_back(receiver);
    arguments.insert(arguments.end(), call_->args.begin(), call_->args.end());
    FixEdits edits;
    // A method of a block that corresponds to a libdevice function: x.tanh().
    if (receiver != nullptr && call_->args.empty() && call_->keywords.empty())
      for (const Namesake& row : kLibdevice) {
        if (row.name != name || !Everywhere("libdevice", row.device)) continue;
        const std::string device = EnsureLibdevice(candidate_, &edits);
        if (device.empty()) return {};
        edits.push_back({call_->start, call_->end,
                         fmt::format("{}.{}({})", device, row.device, Code(candidate_, receiver))});
        return edits;
      }
    for (const CallTemplate& row : kTemplates) {
      if (row.name != name) continue;
      const bool axis = row.arguments < 0;
      if (axis ? arguments.empty() : arguments.size() != static_cast<size_t>(row.arguments)) continue;
      if (!axis && !call_->keywords.empty()) continue;
      if (row.twice && !IsPure(arguments[0])) continue;
      const std::string language = EnsureLanguage(candidate_, &edits);
      if (language.empty()) return {};
      std::string rest;
      for (size_t i = 1; axis && i < arguments.size(); ++i) rest += ", " + Code(candidate_, arguments[i]);
      for (const PyNode* keyword : call_->keywords) {
        if (axis && keyword->name != "axis" && keyword->name != "dim") return {};
        rest += ", axis=" + Code(candidate_, keyword->value);
      }
      if (axis && arguments.size() + call_->keywords.size() > 2) return {};
      std::string text = ReplaceAll(std::string(row.text), "{l}", language);
      text = ReplaceAll(std::move(text), "{rest}", rest);
      for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string hole = fmt::format("{{{}}}", i);
        text = ReplaceAll(std::move(text), hole, Operand(candidate_, arguments[i]));
      }
      edits.push_back(ReplaceExpression(candidate_, call_, text));
      return edits;
    }
    return {};
  }

  FixEdits MakeConstant(std::string_view name) {
    FixEdits edits;
    for (const NamedConstant& row : kConstants) {
      if (row.name != name) continue;
      std::string text(row.text);
      if (Contains(text, "{l}")) {
        const std::string language = EnsureLanguage(candidate_, &edits);
        if (language.empty()) return {};
        text = ReplaceAll(std::move(text), "{l}", language);
      }
      edits.push_back({callee_->start, callee_->end, text});
      return edits;
    }
    return {};
  }

  const Candidate& candidate_;
  const PyNode* callee_;
  const PyNode* call_ = nullptr;
};

// tl.libdevice.tanh(x) comes from Triton 2; the module has moved.
FixEdits MoveLibdevice(const Candidate& candidate, const PyNode* module) {
  FixEdits edits;
  const std::string device = EnsureLibdevice(candidate, &edits);
  if (device.empty()) return {};
  edits.push_back({module->start, module->end, device});
  return edits;
}

// The callee of a call that runs on the host, unless the file defines it.
const PyNode* HostCallee(const Candidate& candidate, const PyNode* call) {
  const PyNode* callee = call->Is(PyKind::kCall) ? call->value : nullptr;
  if (callee == nullptr) return nullptr;
  const std::string dotted = candidate.python->scopes->Resolve(callee);
  for (std::string_view module : {"torch.", "math.", "numpy."})
    if (StartsWith(dotted, module)) return callee;
  return nullptr;
}

}  // namespace

FixEdits FixRenamedOp(const FixRequest& request) {
  const PyNode* node = request.node;
  const Candidate& candidate = request.candidate;
  if (node == nullptr || request.problem == nullptr) return {};
  const Scopes& scopes = *candidate.python->scopes;
  if (request.problem->kind == ProblemKind::kUnknownOp) {
    if (!node->Is(PyKind::kAttribute)) return {};
    if (request.problem->subject[0] == '.') return Renamer(candidate, node).Make(node->name, node->value);
    const std::string module = scopes.Resolve(node->value);
    if (node->name == "libdevice" && module == "triton.language") return MoveLibdevice(candidate, node);
    if (!StartsWith(module, "triton.language")) return {};
    return Renamer(candidate, node).Make(node->name, nullptr);
  }
  if (request.problem->kind == ProblemKind::kHostCall) {
    const std::string dotted = node->Is(PyKind::kCall) ? scopes.Resolve(node->value) : "";
    if (dotted == "triton.cdiv") {
      FixEdits edits;
      const std::string language = EnsureLanguage(candidate, &edits);
      if (language.empty()) return {};
      edits.push_back({node->value->start, node->value->end, language + ".cdiv"});
      return edits;
    }
    const PyNode* callee = HostCallee(candidate, node);
    if (callee == nullptr || request.problem->refused_by != 0) return {};
    const size_t dot = dotted.rfind('.');
    return Renamer(candidate, callee).Make(std::string_view(dotted).substr(dot + 1), nullptr);
  }
  // abs(x), exp(x): an undefined name that is called like a function of the language.
  if (request.problem->kind != ProblemKind::kUndefinedName || !node->Is(PyKind::kName)) return {};
  const bool defined = scopes.Find(node->name, node) != nullptr;
  const bool called =
      node->parent != nullptr && node->parent->Is(PyKind::kCall) && node->parent->value == node;
  if (defined || !called) return {};
  return Renamer(candidate, node).Make(node->name, nullptr);
}

}  // namespace hone
