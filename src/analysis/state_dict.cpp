#include "analysis/state_dict.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/inheritance.h"
#include "base/text.h"

namespace hone {

namespace {

constexpr int64_t kAny = -1;

bool HasNoState(std::string_view module) {
  static const std::set<std::string_view> kNames = {"ReLU",
                                                    "ReLU6",
                                                    "Tanh",
                                                    "Sigmoid",
                                                    "GELU",
                                                    "SiLU",
                                                    "Softmax",
                                                    "LogSoftmax",
                                                    "Dropout",
                                                    "MaxPool1d",
                                                    "MaxPool2d",
                                                    "MaxPool3d",
                                                    "AvgPool1d",
                                                    "AvgPool2d",
                                                    "AvgPool3d",
                                                    "Identity",
                                                    "Flatten",
                                                    "LeakyReLU",
                                                    "Hardtanh",
                                                    "Softplus",
                                                    "Mish",
                                                    "ELU",
                                                    "SELU",
                                                    "CELU",
                                                    "Hardswish",
                                                    "Softsign",
                                                    "Hardsigmoid",
                                                    "Dropout2d",
                                                    "Unflatten",
                                                    "Upsample",
                                                    "ZeroPad2d",
                                                    "MSELoss",
                                                    "L1Loss",
                                                    "BCELoss",
                                                    "NLLLoss",
                                                    "KLDivLoss",
                                                    "AdaptiveAvgPool1d",
                                                    "AdaptiveAvgPool2d",
                                                    "AdaptiveAvgPool3d",
                                                    "AdaptiveMaxPool2d",
                                                    "CrossEntropyLoss",
                                                    "SmoothL1Loss",
                                                    "HingeEmbeddingLoss",
                                                    "TripletMarginLoss",
                                                    "CosineSimilarity",
                                                    "PixelShuffle"};
  return kNames.count(module) != 0;
}

int64_t Times(int64_t a, int64_t b) {
  int64_t out = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &out) ? kAny : out;
}

// The arguments of one module's constructor, by position or keyword.
class Arguments {
 public:
  Arguments(const PythonUnit& unit, const PyNode* call) : unit_(unit), call_(call) {
    for (const PyNode* argument : call->args) hidden_ = hidden_ || argument->Is(PyKind::kStarred);
    for (const PyNode* keyword : call->keywords) hidden_ = hidden_ || keyword->name.empty();
  }

  bool hidden() const { return hidden_; }
  const PyNode* Node(size_t index, std::string_view keyword) const {
    if (const PyNode* given = call_->Keyword(keyword)) return given;
    return index < call_->args.size() ? call_->args[index] : nullptr;
  }
  Constant Value(size_t index, std::string_view keyword, const Constant& fallback) const {
    const PyNode* given = Node(index, keyword);
    return given != nullptr ? unit_.values->Eval(given) : fallback;
  }
  int64_t Number(size_t index, std::string_view keyword, int64_t fallback = kAny) const {
    const Constant value = Value(index, keyword, fallback == kAny ? Constant() : Constant::Int(fallback));
    return value.is_int() && value.integer >= 0 ? value.integer : kAny;
  }
  // An unknown flag makes the names unknown.
  bool Flag(size_t index, std::string_view keyword, bool fallback, bool* known) const {
    const Constant value = Value(index, keyword, Constant::Bool(fallback));
    *known = *known && value.known();
    return value.known() && value.truthy();
  }
  // A number repeated `count` times, or a sequence of them.
  std::vector<int64_t> Extents(size_t index, std::string_view keyword, size_t count) const {
    const Constant value = Value(index, keyword, Constant());
    std::vector<int64_t> out(count, kAny);
    if (value.is_int()) std::fill(out.begin(), out.end(), value.integer);
    if (value.kind == Constant::Kind::kSequence && value.items.size() == count)
      for (size_t i = 0; i < count; ++i) out[i] = value.items[i].is_int() ? value.items[i].integer : kAny;
    return out;
  }

 private:
  const PythonUnit& unit_;
  const PyNode* call_;
  bool hidden_ = false;
};

class Reader {
 public:
  Reader(const PythonUnit& unit, StateDict* out) : unit_(unit), out_(out) {}

  void Read(std::string_view attribute, const std::string& made, const PyNode* statement) {
    attribute_ = attribute;
    statement_ = statement;
    const std::string module = made.substr(made.rfind('.') + 1);
    if (HasNoState(module)) return;
    const Arguments arguments(unit_, statement->value);
    const size_t before = out_->entries.size();
    bool known = !arguments.hidden();
    if (known) known = Expand(module, arguments);
    if (known) return;
    out_->entries.resize(before);
    out_->opaque.emplace_back(attribute, statement);
  }

 private:
  void Add(std::string_view part, std::vector<int64_t> shape, bool known = true) {
    StateEntry entry;
    entry.name = part.empty() ? std::string(attribute_) : fmt::format("{}.{}", attribute_, part);
    entry.attribute = attribute_;
    entry.shape = std::move(shape);
    entry.shape_known = known;
    entry.node = statement_;
    out_->entries.push_back(std::move(entry));
  }

  // Adds the entries of one module. Returns false if its names are unknown.
  bool Expand(const std::string& module, const Arguments& arguments) {
    bool known = true;
    if (module == "Parameter") {
      AddParameter(arguments);
    } else if (module == "Linear") {
      Add("weight", {arguments.Number(1, "out_features"), arguments.Number(0, "in_features")});
      if (arguments.Flag(2, "bias", true, &known)) Add("bias", {arguments.Number(1, "out_features")});
    } else if (module == "Embedding") {
      Add("weight", {arguments.Number(0, "num_embeddings"), arguments.Number(1, "embedding_dim")});
    } else if (StartsWith(module, "Conv") && EndsWith(module, "d")) {
      AddConvolution(module, arguments, &known);
    } else if (module == "RNN" || module == "GRU" || module == "LSTM") {
      AddRecurrent(module, arguments, &known);
    } else if (module == "RNNCell" || module == "GRUCell" || module == "LSTMCell") {
      const int64_t gates = module == "GRUCell" ? 3 : module == "LSTMCell" ? 4 : 1;
      const int64_t hidden = arguments.Number(1, "hidden_size");
      Add("weight_ih", {Times(gates, hidden), arguments.Number(0, "input_size")});
      Add("weight_hh", {Times(gates, hidden), hidden});
      if (arguments.Flag(2, "bias", true, &known))
        for (std::string_view part : {"bias_ih", "bias_hh"}) Add(part, {Times(gates, hidden)});
    } else if (StartsWith(module, "BatchNorm")) {
      const int64_t features = arguments.Number(0, "num_features");
      if (arguments.Flag(3, "affine", true, &known))
        for (std::string_view part : {"weight", "bias"}) Add(part, {features});
      if (arguments.Flag(4, "track_running_stats", true, &known)) {
        for (std::string_view part : {"running_mean", "running_var"}) Add(part, {features});
        Add("num_batches_tracked", {});
      }
    } else if (StartsWith(module, "InstanceNorm")) {
      if (arguments.Flag(3, "affine", false, &known))
        for (std::string_view part : {"weight", "bias"}) Add(part, {arguments.Number(0, "num_features")});
      if (arguments.Flag(4, "track_running_stats", false, &known)) return false;
    } else if (module == "GroupNorm") {
      if (arguments.Flag(3, "affine", true, &known))
        for (std::string_view part : {"weight", "bias"}) Add(part, {arguments.Number(1, "num_channels")});
    } else if (module == "LayerNorm") {
      AddLayerNorm(arguments, &known);
    } else {
      return false;
    }
    return known;
  }

  void AddParameter(const Arguments& arguments) {
    const PyNode* made = arguments.Node(0, "data");
    std::vector<int64_t> shape;
    bool known = false;
    if (made != nullptr && made->Is(PyKind::kCall)) {
      static const std::set<std::string> kMakers = {"torch.randn", "torch.rand",  "torch.zeros",
                                                    "torch.ones",  "torch.empty", "torch.full"};
      const std::string maker = unit_.scopes->Resolve(made->value);
      known = kMakers.count(maker) != 0 && !made->args.empty();
      const bool sequence = known && (made->args[0]->Is(PyKind::kTuple) || made->args[0]->Is(PyKind::kList) ||
                                      maker == "torch.full");
      if (known && sequence) {
        const Constant value = unit_.values->Eval(made->args[0]);
        known = value.kind == Constant::Kind::kSequence;
        for (const Constant& item : value.items) shape.push_back(item.is_int() ? item.integer : kAny);
      } else if (known) {
        for (const PyNode* argument : made->args) {
          const Constant value = unit_.values->Eval(argument);
          // One name may stand for a whole shape.
          if (!value.is_int() && (argument->Is(PyKind::kStarred) || made->args.size() == 1)) known = false;
          shape.push_back(value.is_int() ? value.integer : kAny);
        }
      }
    }
    if (!known) shape.clear();
    Add("", std::move(shape), known);
  }

  void AddConvolution(const std::string& module, const Arguments& arguments, bool* known) {
    const bool transposed = StartsWith(module, "ConvTranspose");
    const auto rank = static_cast<size_t>(module[module.size() - 2] - '0');
    const int64_t in = arguments.Number(0, "in_channels");
    const int64_t out = arguments.Number(1, "out_channels");
    // Transposed convolutions have output_padding where the others have dilation. The other positions are
    // equal.
    const int64_t groups = arguments.Number(6, "groups", 1);
    const auto per_group = [&](int64_t channels) {
      return channels < 0 || groups <= 0 ? kAny : channels / groups;
    };
    std::vector<int64_t> shape =
        transposed ? std::vector<int64_t>{in, per_group(out)} : std::vector<int64_t>{out, per_group(in)};
    for (int64_t extent : arguments.Extents(2, "kernel_size", rank)) shape.push_back(extent);
    Add("weight", std::move(shape));
    if (arguments.Flag(7, "bias", true, known)) Add("bias", {out});
  }

  void AddRecurrent(const std::string& module, const Arguments& arguments, bool* known) {
    const int64_t gates = module == "GRU" ? 3 : module == "LSTM" ? 4 : 1;
    const int64_t hidden = arguments.Number(1, "hidden_size");
    const int64_t layers = arguments.Number(2, "num_layers", 1);
    // For RNN, the nonlinearity comes before bias.
    const size_t bias_at = module == "RNN" ? 4 : 3;
    const bool bias = arguments.Flag(bias_at, "bias", true, known);
    const bool both = arguments.Flag(bias_at + 3, "bidirectional", false, known);
    const Constant projection = arguments.Value(99, "proj_size", Constant::Int(0));
    if (layers <= 0 || layers > 64 || !(projection == Constant::Int(0))) *known = false;
    if (!*known) return;
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (int direction = 0; direction < (both ? 2 : 1); ++direction) {
        const std::string suffix = fmt::format("_l{}{}", layer, direction == 1 ? "_reverse" : "");
        const int64_t in = layer == 0 ? arguments.Number(0, "input_size") : Times(hidden, both ? 2 : 1);
        Add("weight_ih" + suffix, {Times(gates, hidden), in});
        Add("weight_hh" + suffix, {Times(gates, hidden), hidden});
        if (!bias) continue;
        Add("bias_ih" + suffix, {Times(gates, hidden)});
        Add("bias_hh" + suffix, {Times(gates, hidden)});
      }
    }
  }

  void AddLayerNorm(const Arguments& arguments, bool* known) {
    const Constant value = arguments.Value(0, "normalized_shape", Constant());
    std::vector<int64_t> shape;
    if (value.is_int()) shape.push_back(value.integer);
    for (const Constant& item : value.items) shape.push_back(item.is_int() ? item.integer : kAny);
    if (!arguments.Flag(2, "elementwise_affine", true, known)) return;
    Add("weight", shape, value.known());
    if (arguments.Flag(3, "bias", true, known)) Add("bias", shape, value.known());
  }

  const PythonUnit& unit_;
  StateDict* out_;
  std::string_view attribute_;
  const PyNode* statement_ = nullptr;
};

}  // namespace

bool StateDict::Has(std::string_view attribute) const {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const StateEntry& entry) { return entry.attribute == attribute; }) ||
         std::any_of(opaque.begin(), opaque.end(), [&](const auto& pair) { return pair.first == attribute; });
}

const StateEntry* StateDict::Find(std::string_view name) const {
  for (const StateEntry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

StateDict ReadStateDict(const PythonUnit& unit, std::string_view class_name) {
  StateDict out;
  const PyNode* model = unit.scopes->ClassNamed(class_name);
  if (model == nullptr) return out;
  Reader reader(unit, &out);
  const Lineage lineage = LineageOf(*unit.scopes, model);
  out.complete = lineage.complete;
  for (const PyNode* owner : lineage.classes) {
    StateDict nearer = out;  // an attribute of a derived class replaces its base's
    WalkPython(owner, [&](const PyNode* node) {
      if (!node->Is(PyKind::kAssign) || node->args.size() != 1 || node->value == nullptr ||
          !node->value->Is(PyKind::kCall))
        return true;
      const PyNode* target = node->args[0];
      if (!target->Is(PyKind::kAttribute) || target->value == nullptr || !target->value->IsName("self") ||
          (owner != model && nearer.Has(target->name)))
        return true;
      const std::string made = unit.scopes->Resolve(node->value->value);
      if (StartsWith(made, "torch.nn.") && !StartsWith(made, "torch.nn.functional"))
        reader.Read(target->name, made, node);
      return true;
    });
    if (!CallsBaseConstructor(owner)) break;
  }
  return out;
}

std::string ExtentsText(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t extent : shape)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", extent < 0 ? "?" : std::to_string(extent));
  return "[" + out + "]";
}

}  // namespace hone
