#include "analysis/host_flow.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace hone {

namespace {

bool IsUninitialised(const std::string& name) {
  return name == "torch.empty" || name == "torch.empty_like" || name == "torch.empty_strided" ||
         EndsWith(name, ".new_empty");
}

const std::set<std::string_view>& HeavyFunctions() {
  static const std::set<std::string_view> kNames = {"matmul",
                                                    "mm",
                                                    "bmm",
                                                    "addmm",
                                                    "baddbmm",
                                                    "einsum",
                                                    "linear",
                                                    "bilinear",
                                                    "conv1d",
                                                    "conv2d",
                                                    "conv3d",
                                                    "conv_transpose1d",
                                                    "conv_transpose2d",
                                                    "conv_transpose3d",
                                                    "scaled_dot_product_attention",
                                                    "softmax",
                                                    "log_softmax",
                                                    "layer_norm",
                                                    "batch_norm",
                                                    "group_norm",
                                                    "instance_norm",
                                                    "max_pool1d",
                                                    "max_pool2d",
                                                    "max_pool3d",
                                                    "avg_pool1d",
                                                    "avg_pool2d",
                                                    "avg_pool3d",
                                                    "adaptive_avg_pool1d",
                                                    "adaptive_avg_pool2d",
                                                    "adaptive_avg_pool3d",
                                                    "gelu",
                                                    "relu",
                                                    "tanh",
                                                    "sigmoid",
                                                    "silu",
                                                    "leaky_relu",
                                                    "elu",
                                                    "selu",
                                                    "hardswish",
                                                    "hardtanh",
                                                    "mish",
                                                    "softplus",
                                                    "cross_entropy",
                                                    "mse_loss",
                                                    "cumsum",
                                                    "cumprod",
                                                    "gru",
                                                    "lstm",
                                                    "rnn_tanh",
                                                    "rnn_relu",
                                                    "logsumexp",
                                                    "sum",
                                                    "mean",
                                                    "max",
                                                    "min",
                                                    "prod",
                                                    "norm",
                                                    "embedding",
                                                    "multi_head_attention_forward",
                                                    "lstm_cell",
                                                    "gru_cell",
                                                    "matrix_exp",
                                                    "cosine_similarity",
                                                    "kl_div"};
  return kNames;
}

const std::set<std::string_view>& HeavyModules() {
  static const std::set<std::string_view> kNames = {"Linear",
                                                    "Conv1d",
                                                    "Conv2d",
                                                    "Conv3d",
                                                    "ConvTranspose1d",
                                                    "ConvTranspose2d",
                                                    "ConvTranspose3d",
                                                    "GRU",
                                                    "LSTM",
                                                    "RNN",
                                                    "GRUCell",
                                                    "LSTMCell",
                                                    "RNNCell",
                                                    "MultiheadAttention",
                                                    "TransformerEncoder",
                                                    "TransformerEncoderLayer",
                                                    "Transformer",
                                                    "TransformerDecoderLayer",
                                                    "BatchNorm1d",
                                                    "BatchNorm2d",
                                                    "BatchNorm3d",
                                                    "LayerNorm",
                                                    "GroupNorm",
                                                    "InstanceNorm2d",
                                                    "MaxPool1d",
                                                    "MaxPool2d",
                                                    "MaxPool3d",
                                                    "AvgPool1d",
                                                    "AvgPool2d",
                                                    "AvgPool3d",
                                                    "AdaptiveAvgPool2d",
                                                    "Sequential",
                                                    "Softmax",
                                                    "GELU",
                                                    "ReLU",
                                                    "Tanh",
                                                    "Sigmoid",
                                                    "Embedding",
                                                    "EmbeddingBag",
                                                    "Bilinear"};
  return kNames;
}

std::string LastPart(const std::string& dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

bool IsDtype(const std::string& dotted) {
  const std::string last = LastPart(dotted);
  return last == "dtype" || (StartsWith(dotted, "torch.") &&
                             (Contains(last, "float") || Contains(last, "int") || last == "half" ||
                              last == "bool" || last == "double" || last == "long"));
}

bool IsFunctional(const std::string& dotted) {
  return StartsWith(dotted, "torch.nn.functional.") || StartsWith(dotted, "torch.");
}

// Returns nn.GRU for a call self.gru(...) if the class assigns self.gru = nn.GRU(...).
std::string ModuleBehind(const Scopes& scopes, const PyNode* callee) {
  if (!callee->Is(PyKind::kAttribute) || callee->value == nullptr || !callee->value->IsName("self"))
    return "";
  const PyNode* owner = EnclosingClass(callee);
  if (owner == nullptr) return "";
  for (const Binding& binding : scopes.AttributeBindings(owner, callee->name)) {
    if (binding.value == nullptr || !binding.value->Is(PyKind::kCall)) continue;
    const std::string made = scopes.Resolve(binding.value->value);
    if (StartsWith(made, "torch.nn.") && HeavyModules().count(LastPart(made)) != 0) return made;
  }
  return "";
}

void CollectNames(const PyNode* node, std::set<std::string_view>* out) {
  WalkPython(node, [&](const PyNode* part) {
    if (part->Is(PyKind::kName)) out->insert(part->name);
    return true;
  });
}

class FunctionFlow {
 public:
  FunctionFlow(const Scopes& scopes, const Kernels& kernels, const std::vector<KernelTrace>& traces,
               const PyNode* function)
      : scopes_(scopes), traces_(traces), function_(function) {
    for (const auto& launch : kernels.launches())
      if (scopes.ScopeOf(launch->call) == function) launches_.push_back(launch.get());
  }

  void Run(HostFlow* flow) {
    FindLive();
    ReadLaunches(flow);
    ReadLibraryCalls(flow);
    ReadCasts(flow);
    ReadUnwritten(flow);
  }

 private:
  const KernelTrace* TraceOf(const Kernel* kernel) const {
    for (const KernelTrace& trace : traces_)
      if (trace.kernel == kernel) return &trace;
    return nullptr;
  }

  // Names that a returned value is computed from, regardless of statement order.
  void FindLive() {
    std::vector<const PyNode*> assignments;
    WalkPython(function_, [&](const PyNode* node) {
      if (node != function_ && node->Is(PyKind::kFunction)) return false;
      if (node->Is(PyKind::kReturn) && node->value != nullptr) CollectNames(node->value, &live_);
      if (node->Is(PyKind::kAssign) || node->Is(PyKind::kAugAssign) || node->Is(PyKind::kAnnAssign))
        assignments.push_back(node);
      return true;
    });
    for (bool changed = true; changed;) {
      const size_t before = live_.size();
      for (const PyNode* node : assignments) {
        std::set<std::string_view> targets;
        for (const PyNode* target : node->args) CollectNames(target, &targets);
        if (node->target != nullptr) CollectNames(node->target, &targets);
        if (std::any_of(targets.begin(), targets.end(),
                        [&](std::string_view n) { return live_.count(n) != 0; }) &&
            node->value != nullptr)
          CollectNames(node->value, &live_);
      }
      for (const Launch* launch : launches_) {
        std::set<std::string_view> names;
        CollectNames(launch->call, &names);
        if (std::any_of(names.begin(), names.end(), [&](std::string_view n) { return live_.count(n) != 0; }))
          live_.insert(names.begin(), names.end());
      }
      changed = live_.size() != before;
    }
  }

  bool Uses(const PyNode* within, std::string_view name, const PyNode* except) const {
    bool found = false;
    WalkPython(within, [&](const PyNode* node) {
      if (node == except || found) return false;
      if (node->Is(PyKind::kName) && node->name == name) {
        const PyNode* parent = node->parent;
        const bool is_target =
            parent != nullptr && parent->Is(PyKind::kAssign) &&
            std::find(parent->args.begin(), parent->args.end(), node) != parent->args.end();
        const bool only_shape =
            parent != nullptr && parent->Is(PyKind::kAttribute) &&
            (parent->name == "stride" || parent->name == "shape" || parent->name == "numel" ||
             parent->name == "dtype" || parent->name == "device" || parent->name == "size");
        found = found || (!is_target && !only_shape);
      }
      return true;
    });
    return found;
  }

  void ReadLaunches(HostFlow* flow) {
    for (const Launch* launch : launches_) {
      LaunchResult result;
      result.launch = launch;
      const KernelTrace* trace = TraceOf(launch->kernel);
      if (trace == nullptr) {
        result.stores_known = false;
        flow->launches.push_back(result);
        continue;
      }
      const std::set<std::string_view> stored = StoredParams(*trace, &result.stores_known);
      bool used = false;
      // *args may hide any argument except those that were already bound.
      for (std::string_view param : stored)
        if (!launch->complete && launch->Argument(param) == nullptr) result.stores_known = false;
      for (std::string_view param : stored) {
        const PyNode* argument = launch->Argument(param);
        if (argument == nullptr) continue;
        const std::string_view root = RootVariable(argument);
        if (root.empty()) {
          // self.buffer, a container or a call: other code may hold a reference.
          used = used || !argument->Is(PyKind::kCall);
          continue;
        }
        result.written.push_back(root);
        const std::vector<Binding>* bindings = scopes_.Find(root, launch->call);
        bool local = bindings != nullptr && !bindings->empty();
        if (local)
          for (const Binding& binding : *bindings) {
            const bool fresh = binding.value != nullptr && binding.value->Is(PyKind::kCall) &&
                               StartsWith(scopes_.Resolve(binding.value->value), "torch.");
            local = local && fresh;
          }
        used = used || !local || Uses(function_, root, launch->call);
      }
      result.used = used || stored.empty() || !result.stores_known;
      flow->launches.push_back(result);
    }
  }

  void ReadLibraryCalls(HostFlow* flow) const {
    WalkPython(function_, [&](const PyNode* node) {
      if (node != function_ && node->Is(PyKind::kFunction)) return false;
      if (!node->Is(PyKind::kCall) || node->value == nullptr) return true;
      LibraryCall call;
      call.node = node;
      const std::string dotted = scopes_.Resolve(node->value);
      const std::string module = ModuleBehind(scopes_, node->value);
      if (!module.empty()) {
        call.name = "nn." + LastPart(module);
        call.heavy = true;
      } else if (IsFunctional(dotted)) {
        call.name = dotted;
        call.heavy = HeavyFunctions().count(LastPart(dotted)) != 0;
      } else if (node->value->Is(PyKind::kAttribute) && node->args.size() <= 2 &&
                 (node->value->name == "matmul" || node->value->name == "mm" || node->value->name == "bmm") &&
                 !StartsWith(dotted, "self.")) {
        call.name = "Tensor." + std::string(node->value->name);
        call.heavy = true;
      } else {
        return true;
      }
      for (const PyNode* at = node->parent; at != nullptr && at != function_; at = at->parent) {
        call.in_loop = call.in_loop || at->Is(PyKind::kFor) || at->Is(PyKind::kWhile);
        if (at->Is(PyKind::kReturn)) call.reaches_output = true;
        std::set<std::string_view> targets;
        if (at->Is(PyKind::kAssign))
          for (const PyNode* target : at->args) CollectNames(target, &targets);
        if ((at->Is(PyKind::kAugAssign) || at->Is(PyKind::kAnnAssign)) && at->target != nullptr)
          CollectNames(at->target, &targets);
        for (std::string_view target : targets)
          call.reaches_output = call.reaches_output || live_.count(target) != 0;
      }
      flow->library_calls.push_back(std::move(call));
      return true;
    });
  }

  void ReadCasts(HostFlow* flow) const {
    static const std::map<std::string_view, std::string_view> kMethods = {{"half", "torch.float16"},
                                                                          {"bfloat16", "torch.bfloat16"},
                                                                          {"float", "torch.float32"},
                                                                          {"double", "torch.float64"}};
    WalkPython(function_, [&](const PyNode* node) {
      if (node != function_ && node->Is(PyKind::kFunction)) return false;
      if (!node->Is(PyKind::kCall) || node->value == nullptr || !node->value->Is(PyKind::kAttribute))
        return true;
      const std::string_view method = node->value->name;
      if (const auto it = kMethods.find(method); it != kMethods.end() && node->args.empty())
        flow->casts.push_back({node, std::string(it->second)});
      if (method != "to" && method != "type") return true;
      const PyNode* type = node->Keyword("dtype");
      for (const PyNode* argument : node->args)
        if (type == nullptr && (argument->Is(PyKind::kAttribute) || argument->Is(PyKind::kName)) &&
            IsDtype(scopes_.Resolve(argument)))
          type = argument;
      if (type != nullptr) flow->casts.push_back({node, scopes_.Resolve(type)});
      return true;
    });
  }

  void ReadUnwritten(HostFlow* flow) const {
    // A helper that allocates for its caller is not checked here.
    if (launches_.empty() && function_->name != "forward") return;
    std::vector<const PyNode*> returned;
    WalkPython(function_, [&](const PyNode* node) {
      if (node != function_ && node->Is(PyKind::kFunction)) return false;
      if (node->Is(PyKind::kReturn) && node->value != nullptr) {
        if (node->value->Is(PyKind::kTuple))
          returned.insert(returned.end(), node->value->args.begin(), node->value->args.end());
        else
          returned.push_back(node->value);
      }
      return true;
    });
    for (const PyNode* expression : returned) {
      const std::string_view name = RootVariable(expression);
      const std::vector<Binding>* bindings = name.empty() ? nullptr : scopes_.Find(name, expression);
      if (bindings == nullptr || bindings->size() != 1 || bindings->front().value == nullptr) continue;
      const PyNode* value = bindings->front().value;
      if (!value->Is(PyKind::kCall) || !IsUninitialised(scopes_.Resolve(value->value))) continue;
      if (scopes_.ScopeOf(value) != function_) continue;
      bool has_elements = true;
      WalkPython(value, [&](const PyNode* part) {
        has_elements = has_elements && !(part->Is(PyKind::kInt) && part->integer == 0);
        return true;
      });
      if (!has_elements) continue;
      std::string reason;
      if (NothingWrites(name, &reason)) flow->unwritten.push_back({value, expression, name, reason});
    }
  }

  bool NothingWrites(std::string_view name, std::string* reason) const {
    bool read_only_launch = false;
    for (const Launch* launch : launches_) {
      for (const LaunchArgument& argument : launch->arguments) {
        if (argument.value == nullptr || !Uses(argument.value, name, nullptr)) continue;
        const KernelTrace* trace = TraceOf(launch->kernel);
        bool complete = true;
        if (trace == nullptr || argument.param.empty() || !launch->complete) return false;
        const std::set<std::string_view> stored = StoredParams(*trace, &complete);
        if (!complete || stored.count(argument.param) != 0) return false;
        read_only_launch = true;
        *reason = std::string(launch->kernel->name) + " gets it as " + std::string(argument.param) +
                  " and never stores there";
      }
      // A launch with hidden arguments may write anything.
      if (!launch->complete) return false;
    }
    bool other_use = false;
    WalkPython(function_, [&](const PyNode* node) {
      for (const Launch* launch : launches_)
        if (node == launch->call) return false;
      if (!node->Is(PyKind::kName) || node->name != name || node->parent == nullptr) return true;
      const PyNode* parent = node->parent;
      const bool binding = parent->Is(PyKind::kAssign) && !parent->args.empty() && parent->args[0] == node;
      const bool metadata = parent->Is(PyKind::kAttribute) &&
                            (parent->name == "stride" || parent->name == "shape" || parent->name == "numel" ||
                             parent->name == "dtype" || parent->name == "device" || parent->name == "size");
      bool in_return = false;
      for (const PyNode* at = parent; at != nullptr && at != function_; at = at->parent)
        in_return = in_return || at->Is(PyKind::kReturn);
      other_use = other_use || (!binding && !metadata && !in_return);
      return true;
    });
    if (other_use) return false;
    if (!read_only_launch) *reason = "nothing writes it";
    return true;
  }

  const Scopes& scopes_;
  const std::vector<KernelTrace>& traces_;
  const PyNode* function_;
  std::vector<const Launch*> launches_;
  std::set<std::string_view> live_;
};

}  // namespace

std::string_view RootVariable(const PyNode* expression) {
  while (expression != nullptr) {
    if (expression->Is(PyKind::kName)) return expression->name;
    if (expression->Is(PyKind::kSubscript)) {
      expression = expression->value;
    } else if (expression->Is(PyKind::kCall) && expression->value != nullptr &&
               expression->value->Is(PyKind::kAttribute)) {
      static const std::set<std::string_view> kViews = {
          "view",    "reshape",  "contiguous", "transpose", "permute", "squeeze", "unsqueeze",
          "flatten", "data_ptr", "detach",     "expand",    "narrow",  "t"};
      if (kViews.count(expression->value->name) == 0) return {};
      expression = expression->value->value;
    } else {
      return {};
    }
  }
  return {};
}

std::set<std::string_view> StoredParams(const KernelTrace& trace, bool* complete) {
  std::set<std::string_view> out;
  *complete = true;
  for (const MemoryAccess& access : trace.accesses) {
    if (access.kind == MemoryAccess::Kind::kLoad) continue;
    if (access.base.empty())
      *complete = false;
    else
      out.insert(access.base);
  }
  // Inline assembly and calls that could not be followed may store anywhere.
  const auto assembly = trace.op_counts.find("inline_asm_elementwise");
  if (trace.opaque_calls || assembly != trace.op_counts.end()) *complete = false;
  return out;
}

HostFlow TraceHost(const Scopes& scopes, const Kernels& kernels, const std::vector<KernelTrace>& traces) {
  HostFlow flow;
  for (const PyNode* function : scopes.functions()) {
    if (kernels.OfFunction(function) != nullptr || !scopes.Runs(function)) continue;
    flow.host_functions.push_back(function);
    FunctionFlow(scopes, kernels, traces, function).Run(&flow);
  }
  return flow;
}

}  // namespace hone
