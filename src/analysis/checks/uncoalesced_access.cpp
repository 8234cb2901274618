// uncoalesced-access: neighbouring lanes read addresses that are far apart.
//
// An address is a sum. Lanes enter it through tl.arange (or threadIdx.x). If one of these terms has no
// factor, lanes can be contiguous along it. A factor from x.stride(...) may be 1 and is not reported.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/check.h"
#include "analysis/checks/checks.h"
#include "base/text.h"

namespace hone {

namespace {

using Names = std::set<std::string_view>;

bool ContainsArange(const PyNode* expression) {
  bool found = false;
  WalkPython(expression, [&](const PyNode* part) {
    found = found || (part->Is(PyKind::kAttribute) && part->name == "arange");
    return !found;
  });
  return found;
}

// Names that increase by one from lane to lane: x = ... + tl.arange(...), and sums with such a name.
Names LaneNames(const PyNode* function) {
  Names lanes;
  for (int round = 0; round < 3; ++round)
    WalkPython(function, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign) || node->args.size() != 1 || !node->args[0]->Is(PyKind::kName))
        return true;
      const PyNode* value = node->value;
      while (value != nullptr && value->Is(PyKind::kBinOp) && value->op == "+")
        value = ContainsArange(value->right) ||
                        (value->right->Is(PyKind::kName) && lanes.count(value->right->name) != 0)
                    ? value->right
                    : value->left;
      if (value == nullptr) return true;
      if (value->Is(PyKind::kSubscript)) value = value->value;
      const bool arange = value->Is(PyKind::kCall) && value->value != nullptr &&
                          value->value->Is(PyKind::kAttribute) && value->value->name == "arange";
      if (arange || (value->Is(PyKind::kName) && lanes.count(value->name) != 0))
        lanes.insert(node->args[0]->name);
      return true;
    });
  return lanes;
}

// Names that differ between lanes in any way.
Names VaryingNames(const PyNode* function) {
  Names varying;
  for (int round = 0; round < 3; ++round)
    WalkPython(function, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign) || node->value == nullptr) return true;
      bool varies = ContainsArange(node->value);
      WalkPython(node->value, [&](const PyNode* part) {
        varies = varies || (part->Is(PyKind::kName) && varying.count(part->name) != 0);
        return !varies;
      });
      for (const PyNode* target : node->args)
        WalkPython(target, [&](const PyNode* part) {
          if (varies && part->Is(PyKind::kName)) varying.insert(part->name);
          return true;
        });
      return true;
    });
  return varying;
}

class AddressReader {
 public:
  AddressReader(const Candidate& candidate, const KernelTrace& trace, const Names& lanes,
                const Names& varying)
      : candidate_(candidate), trace_(trace), lanes_(lanes), varying_(varying) {}

  // Whether every lane-dependent term of the sum has a factor other than 1.
  bool IsStrided(const PyNode* address) {
    Sum(address, 0);
    return strided_ && !contiguous_ && !unclear_;
  }

 private:
  bool IsLane(const PyNode* node) const {
    if (node == nullptr) return false;
    if (node->Is(PyKind::kSubscript)) return IsLane(node->value);
    if (node->Is(PyKind::kName)) return lanes_.count(node->name) != 0;
    if (node->Is(PyKind::kBinOp) && (node->op == "+" || node->op == "-"))
      return IsLane(node->left) || IsLane(node->right);
    return node->Is(PyKind::kCall) && ContainsArange(node) && node->value != nullptr &&
           node->value->Is(PyKind::kAttribute) && node->value->name == "arange";
  }

  bool DependsOnLane(const PyNode* node) const {
    bool found = false;
    WalkPython(node, [&](const PyNode* part) {
      found = found || (part->Is(PyKind::kName) && varying_.count(part->name) != 0) ||
              (part->Is(PyKind::kAttribute) && part->name == "arange");
      return !found;
    });
    return found;
  }

  void Sum(const PyNode* node, int depth) {
    if (node == nullptr || depth > 32) return;
    if (node->Is(PyKind::kBinOp) && (node->op == "+" || node->op == "-")) {
      Sum(node->left, depth + 1);
      Sum(node->right, depth + 1);
      return;
    }
    const bool pointer = node->Is(PyKind::kName) && trace_.kernel->Param(node->name) == nullptr;
    // A pointer computed earlier includes the lanes of its own sum.
    if (pointer && lanes_.count(node->name) == 0) {
      Pointer(node, depth);
      return;
    }
    if (!DependsOnLane(node)) return;
    if (IsLane(node)) {
      contiguous_ = true;
      return;
    }
    // In rows * N * 4, one factor varies by lane and the others are the stride.
    std::vector<const PyNode*> factors = {node};
    for (size_t i = 0; i < factors.size();) {
      const PyNode* part = factors[i];
      const bool product = part->Is(PyKind::kBinOp) && part->op == "*" && part->left != nullptr &&
                           part->right != nullptr && factors.size() < 16;
      if (!product) {
        ++i;
        continue;
      }
      factors[i] = part->left;
      factors.push_back(part->right);
    }
    bool stride = false;
    int lanes = 0;
    for (const PyNode* factor : factors) {
      if (IsLane(factor))
        ++lanes;
      else if (DependsOnLane(factor))
        unclear_ = true;
      else
        stride = stride || !MayBeOne(factor);
    }
    if (lanes != 1 || !stride)
      unclear_ = true;
    else
      strided_ = true;
  }

  void Pointer(const PyNode* name, int depth) {
    const ScopeNames& names = candidate_.python->scopes->NamesIn(trace_.kernel->function);
    const auto it = names.find(name->name);
    if (it == names.end()) return;
    if (it->second.size() == 1 && it->second.front().value != nullptr)
      Sum(it->second.front().value, depth + 1);
    else if (varying_.count(name->name) != 0)
      unclear_ = true;
  }

  bool MayBeOne(const PyNode* factor) const {
    bool may = factor->Is(PyKind::kInt) && factor->integer == 1;
    WalkPython(factor, [&](const PyNode* part) {
      if (!part->Is(PyKind::kName)) return true;
      if (Contains(part->name, "stride")) may = may || !LaunchedWithNumber(part->name);
      if (trace_.kernel->Param(part->name) == nullptr) return true;
      for (const auto& launch : candidate_.python->kernels->launches()) {
        if (launch->kernel != trace_.kernel) continue;
        const PyNode* argument = launch->Argument(part->name);
        may = may || argument == nullptr || Contains(TextOf(candidate_, argument), "stride") ||
              candidate_.python->values->Eval(argument) == Constant::Int(1);
      }
      return true;
    });
    return may;
  }

  bool LaunchedWithNumber(std::string_view param) const {
    for (const auto& launch : candidate_.python->kernels->launches())
      if (launch->kernel == trace_.kernel && launch->Argument(param) != nullptr)
        return candidate_.python->values->Eval(launch->Argument(param)).is_int();
    return false;
  }

  const Candidate& candidate_;
  const KernelTrace& trace_;
  const Names& lanes_;
  const Names& varying_;
  bool strided_ = false;
  bool contiguous_ = false;
  bool unclear_ = false;
};

bool Mentions(const SyntaxNode* expression, const Names& lanes) {
  for (const SyntaxNode* node = expression; node != nullptr; node = NextInDocument(node, expression))
    if (node->text == "threadIdx.x" || (node->Is("identifier") && lanes.count(node->text) != 0)) return true;
  return false;
}

const SyntaxNode* Unwrap(const SyntaxNode* node) {
  while (node != nullptr && node->Is("parenthesized_expression")) node = node->FirstNamed();
  return node;
}

// threadIdx.x, a name that holds it, or a sum with one of these.
bool IsThread(const SyntaxNode* node, const Names& lanes) {
  node = Unwrap(node);
  if (node == nullptr) return false;
  if (node->text == "threadIdx.x" || (node->Is("identifier") && lanes.count(node->text) != 0)) return true;
  if (!node->Is("binary_expression") || node->Field("operator") == nullptr) return false;
  const std::string_view op = node->Field("operator")->text;
  return (op == "+" || op == "-") &&
         (IsThread(node->Field("left"), lanes) || IsThread(node->Field("right"), lanes));
}

void SumThreads(const SyntaxNode* node, const Names& lanes, const Names& varying, bool* strided,
                bool* other) {
  node = Unwrap(node);
  if (node == nullptr || !Mentions(node, varying)) return;
  const SyntaxNode* op = node->Is("binary_expression") ? node->Field("operator") : nullptr;
  if (op != nullptr && (op->text == "+" || op->text == "-")) {
    SumThreads(node->Field("left"), lanes, varying, strided, other);
    SumThreads(node->Field("right"), lanes, varying, strided, other);
    return;
  }
  if (op != nullptr && op->text == "*") {
    const SyntaxNode* left = node->Field("left");
    const SyntaxNode* right = node->Field("right");
    // (row * N + t) * M is a sum inside a product; the stride is M in either case.
    const SyntaxNode* factor = IsThread(left, lanes) ? right : IsThread(right, lanes) ? left : nullptr;
    if (factor != nullptr && factor->text != "1" && !Mentions(factor, varying)) {
      *strided = true;
      return;
    }
  }
  *other = true;
}

void CheckCudaAccesses(const Candidate& candidate, FindingSink* sink) {
  for (const CudaUnit& unit : candidate.cuda) {
    for (const CudaKernel& kernel : unit.kernels) {
      Names lanes;
      Names varying;
      for (const SyntaxNode* node = kernel.body; node != nullptr; node = NextInDocument(node, kernel.body)) {
        const bool named = node->Is("init_declarator") && node->Field("declarator") != nullptr;
        if (!named) continue;
        if (IsThread(node->Field("value"), lanes)) lanes.insert(node->Field("declarator")->text);
        if (Mentions(node->Field("value"), varying)) varying.insert(node->Field("declarator")->text);
      }
      for (const CudaAccess& access : kernel.flow.accesses) {
        const auto& params = kernel.flow.params;
        const SyntaxNode* index = access.node->Is("subscript_expression")
                                      ? access.node->ChildOfType("subscript_argument_list")
                                      : nullptr;
        if (index == nullptr) index = access.node->Field("index");
        if (index != nullptr && index->Is("subscript_argument_list")) index = index->FirstNamed();
        if (index == nullptr || std::find(params.begin(), params.end(), access.base) == params.end())
          continue;
        bool strided = false;
        bool other = false;
        SumThreads(index, lanes, varying, &strided, &other);
        if (!strided || other) continue;
        sink->AddAt(unit.OuterStart(access.node), unit.OuterEnd(access.node), Severity::kWarning,
                    fmt::format("{} accesses {} with a stride between neighbouring threads: `{}`",
                                kernel.name, access.base, access.node->text),
                    "Let threadIdx.x run along the contiguous dimension, or stage the tile through shared "
                    "memory.");
        break;
      }
    }
  }
}

}  // namespace

void CheckUncoalescedAccess(const Candidate& candidate, FindingSink* sink) {
  CheckCudaAccesses(candidate, sink);
  if (candidate.python == nullptr) return;
  for (const KernelTrace& trace : candidate.python->traces) {
    if (!trace.kernel->launched) continue;
    const Names lanes = LaneNames(trace.kernel->function);
    const Names varying = VaryingNames(trace.kernel->function);
    for (const MemoryAccess& access : trace.accesses) {
      if (!access.is_block || access.node->args.empty()) continue;
      if (!AddressReader(candidate, trace, lanes, varying).IsStrided(access.node->args[0])) continue;
      sink->Add(
          access.node, Severity::kWarning,
          fmt::format("{} accesses {} with a stride between neighbouring lanes", trace.kernel->name,
                      access.base.empty() ? "memory" : access.base),
          "Let the lanes run along the contiguous dimension, or transpose the tensor once on the host.");
      break;
    }
  }
}

}  // namespace hone
