// Walks a kernel as Triton's own front end does (compiler/code_generator.py), with abstract values instead of
// IR: constants from the launch or the autotuner, block shapes, and "unknown" otherwise. It reports only
// certain problems: operations on unknown values pass.
//
// The rules were verified with the real front end, release 3.6. If releases differ, the problem lists those
// that reject the code. Scoping is Triton's, not Python's: a name first assigned inside a loop or in one
// branch of a run-time `if` does not exist after it, and assigning a constexpr to a name makes it a run-time
// value.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/kernel_trace.h"
#include "analysis/kernel_value.h"
#include "analysis/kernels.h"

namespace hone {

class KernelInterpreter {
 public:
  KernelInterpreter(const Scopes& scopes, const Kernels& kernels, const HostValues& values,
                    KernelTrace* trace)
      : scopes_(scopes), kernels_(kernels), values_(values), trace_(trace) {}

  // Interprets the kernel as compiled for one launch and one autotuning config; both may be null. `steps` is
  // the file's remaining budget.
  void Run(const Kernel& kernel, const Launch* launch, const TuneConfig* config, int* steps);

 private:
  using Kind = KernelValue::Kind;
  using Environment = std::unordered_map<std::string_view, KernelValue>;
  static constexpr int kMaxSteps = 60'000;
  static constexpr int kMaxCallDepth = 5;

  struct Frame {
    const Kernel* kernel = nullptr;
    Environment names;
    KernelValue returned;
    bool has_returned = false;
  };

  // kernel_statements.cpp
  void Block(const std::vector<PyNode*>& statements);
  void Statement(const PyNode* node);
  void Assign(const PyNode* target, KernelValue value, const PyNode* statement);
  void AugAssign(const PyNode* node);
  void If(const PyNode* node);
  void MergeBranches(const PyNode* node, const Environment& before, const Environment& then, bool certain);
  void Unsupported(const PyNode* node, const std::string& what, const std::string& fix,
                   uint32_t refused_by = 0);

  // kernel_loops.cpp
  void For(const PyNode* node);
  void StaticFor(const PyNode* node, const std::vector<KernelValue>& bounds);
  void LoopBody(const PyNode* node, const std::string& trip);

  // kernel_expressions.cpp
  KernelValue Eval(const PyNode* node);
  KernelValue EvalBinary(const PyNode* node, std::string_view op, const KernelValue& left,
                         const KernelValue& right);
  KernelValue EvalCompare(const PyNode* node);
  KernelValue EvalBoolOp(const PyNode* node);
  KernelValue EvalSubscript(const PyNode* node);
  KernelValue EvalIfExp(const PyNode* node);
  bool ComputesWith(const PyNode* name);
  KernelValue Broadcast(const PyNode* node, const KernelValue& a, const KernelValue& b,
                        std::string_view what);

  // kernel_names.cpp
  KernelValue EvalName(const PyNode* node);
  KernelValue GlobalName(const PyNode* node);
  KernelValue ClosureValue(const PyNode* node, const Binding& binding);
  KernelValue GlobalValue(const PyNode* node, const Binding& binding);
  KernelValue EvalAttribute(const PyNode* node);
  KernelValue ModuleMember(const PyNode* node, const std::string& module);

  // kernel_calls.cpp
  KernelValue EvalCall(const PyNode* node);
  KernelValue CallJit(const PyNode* node, const Kernel& callee, const std::vector<KernelValue>& args);
  KernelValue CallPython(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args);
  KernelValue CallTriton(const PyNode* node, const std::string& name, std::vector<KernelValue> args);
  // The argument called `name`, or the positional one at `index`; null if there is none.
  const KernelValue* Argument(const PyNode* call, const std::vector<KernelValue>& args, size_t index,
                              std::string_view name);

  // kernel_arguments.cpp
  void CheckArguments(const PyNode* node, std::string_view scope, const std::string& name, bool is_method);

  // kernel_ops.cpp
  void CheckType(const PyNode* node, const KernelValue* type);
  KernelValue Arange(const PyNode* node, const std::vector<KernelValue>& args);
  KernelValue Shaped(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args);
  KernelValue Access(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args);
  KernelValue Dot(const PyNode* node, const std::vector<KernelValue>& args);
  KernelValue Reduce(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args);
  KernelValue Reshape(const PyNode* node, const std::string& name, const std::vector<KernelValue>& args);
  std::vector<int64_t> ShapeFrom(const PyNode* node, const KernelValue& value, bool report, bool* known);
  void Report(ProblemKind kind, const PyNode* node, std::string subject, std::string detail, std::string fix,
              uint32_t refused_by = 0, std::vector<KernelValue> sides = {});
  bool Recording() const { return recording_; }
  // True in a real loop of the interpreted function. An unrolled loop is straight-line code for Triton.
  bool InOwnLoop() const { return loop_stack_.size() > loop_base_ && loop_stack_.back() != nullptr; }
  const PyNode* InnermostLoop() const {
    for (auto it = loop_stack_.rbegin(); it != loop_stack_.rend(); ++it)
      if (*it != nullptr) return *it;
    return nullptr;
  }
  Frame& frame() { return *frame_; }
  std::string Text(const PyNode* node) const;

  const Scopes& scopes_;
  const Kernels& kernels_;
  const HostValues& values_;
  KernelTrace* trace_;
  const Launch* launch_ = nullptr;
  const TuneConfig* config_ = nullptr;
  Frame* frame_ = nullptr;
  std::vector<const PyNode*> loop_stack_;
  std::unordered_map<const PyNode*, KernelValue> keyword_values_;
  const PyNode* unknown_keyword_ = nullptr;  // the last call with a keyword that its function does not have
  std::map<std::pair<int, const PyNode*>, size_t> reported_;
  int steps_left_ = 0;
  int call_depth_ = 0;
  int global_depth_ = 0;
  size_t loop_base_ = 0;  // loops below this index belong to callers
  int loop_count_ = 0;
  int uncertain_ = 0;  // number of enclosing branches that may not be compiled
  bool recording_ = false;
  bool recorded_ = false;
};

// The element type of a combination of two, "" if it is uncertain.
std::string PromoteElements(const KernelValue& a, const KernelValue& b);

}  // namespace hone
