#include "codegen/fused/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "codegen/fused/triton_functions.h"
#include "graph/memory.h"

namespace hone::fused {

namespace {

std::string PythonNumber(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string PythonTuple(const std::vector<std::string>& parts) {
  return "(" + Join(parts, ", ") + (parts.size() == 1 ? ",)" : ")");
}

std::string PythonShape(const std::vector<int64_t>& values) {
  std::vector<std::string> parts;
  for (const int64_t value : values) parts.push_back(std::to_string(value));
  return PythonTuple(parts);
}

std::string PythonString(const std::string& text) {
  return DumpJson(Json(text));
}

// The elements of a constant for _Constant in templates/part_fused_graph.py: numbers if they are few, else
// the bytes of float32 if it holds them, or of float64.
constexpr size_t kMostNumbers = 16;
template <class Number>
std::string Packed(const std::vector<double>& data) {
  std::vector<Number> numbers(data.begin(), data.end());
  return Base64({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}
std::string ConstantText(const std::vector<double>& data) {
  if (data.size() > kMostNumbers) {
    const bool single = std::all_of(data.begin(), data.end(), [](double item) {
      return std::isnan(item) || static_cast<double>(static_cast<float>(item)) == item;
    });
    return single ? fmt::format("\"{}\", torch.float32", Packed<float>(data))
                  : fmt::format("\"{}\", torch.float64", Packed<double>(data));
  }
  std::vector<std::string> numbers;
  for (const double item : data) numbers.push_back(PythonNumber(item));
  return "[" + Join(numbers, ", ") + "]";
}

// An epilogue has few threads, so functions of tens of instructions are faster in a separate kernel.
constexpr size_t kMostInEpilogue = 1;
size_t ElementaryFunctions(const std::string& text) {
  size_t count = 0;
  for (const char* name :
       {"Exp", "Log", "Tanh", "Erf", "Gelu", "Sigmoid", "Mish", "Silu", "Softplus", "Pow", "Sin", "Cos"})
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++count;
  return count;
}

// What a product's kernel computes in addition, as further arguments of its object.
std::string AroundText(const Product& product) {
  if (product.softmax)
    return fmt::format(", softmax={}", PythonNumber(*product.softmax)) +
           (product.order.empty() ? "" : ", order=" + PythonShape(product.order));
  if (product.kept == Kept::kAll) return "";
  return fmt::format(", kept=({}, {})", product.kept == Kept::kUpper ? 1 : 2, product.diagonal);
}

// The function for an operator: ATen's, or one of templates/half_network.py ("hone.half_pool.default").
std::string FunctionText(const std::string& target) {
  // If the memory order of the argument differs from the captured one, a view would fail.
  if (target == "aten.view.default") return FunctionText("aten.reshape.default");
  if (!StartsWith(target, "hone.")) return fmt::format("_AtenCall({})", PythonString(target));
  return fmt::format("_HoneCall(_{})", Split(target, '.')[1]);
}

class Writer {
 public:
  Writer(const graph::Graph& graph, const Plan& plan, Language language, const EmitterDevice& device,
         const std::map<graph::NodeId, Product>& products,
         const std::map<graph::NodeId, Convolution>& convolutions, std::vector<ValueId> memory)
      : graph_(graph),
        plan_(plan),
        language_(language),
        device_(device),
        products_(products),
        convolutions_(convolutions),
        memory_(std::move(memory)),
        fixed_values_(graph::FixedValues(graph)) {
    if (memory_.empty()) memory_ = graph::MemoryOfOutputs(graph);
  }

  Result<GraphText> Run() {
    HONE_RETURN_IF_ERROR(WriteKernels());
    if (!out_.uncovered.empty()) return std::move(out_);
    HONE_RETURN_IF_ERROR(WriteSteps());
    HONE_RETURN_IF_ERROR(WriteOpening());
    return std::move(out_);
  }

 private:
  const Program& program() const { return plan_.lowered.program; }

  Status WriteKernels() {
    std::map<std::string, std::string> names;
    std::string source;
    Json kernels = Json::array();
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      Result<KernelText> emitted = EmitKernel(language_, program(), plan_.kernels[k], device_);
      if (!emitted.ok()) {
        out_.uncovered = NodesOf(plan_, plan_.kernels[k].items);
        if (const auto& before = plan_.kernels[k].before) out_.uncovered.merge(NodesOf(plan_, before->items));
        out_.why_uncovered = emitted.error().message;
        return Ok();
      }
      const KernelText text = std::move(*emitted);
      chains_[k] = {text.chain, text.operands};
      const auto [found, is_new] = names.try_emplace(text.source, fmt::format("fused{}", names.size()));
      if (is_new && language_ == Language::kTriton) {
        source += "\n\n" + ReplaceAll(text.source, kKernelName, found->second);
      } else if (is_new) {
        std::set<std::string> macros;
        for (const std::string& line : Lines(text.source))
          if (StartsWith(line, "#define ")) macros.insert(line.substr(8, line.find_first_of(" (", 8) - 8));
        source += fmt::format("namespace in_{} {{\n{}}}\n", found->second,
                              ReplaceAll(text.source, kKernelName, found->second));
        for (const std::string& macro : macros) source += "#undef " + macro + "\n";
        source += "\n";
      }
      std::vector<std::string> inputs, outputs, scratch, launches;
      std::vector<std::string> order(text.operands.size());
      size_t counts[3] = {0, 0, 0};
      std::vector<ItemId> read;
      for (const KernelOperand& operand : text.operands) counts[static_cast<size_t>(operand.role)] += 1;
      size_t at[3] = {0, counts[0], counts[0] + counts[1]};
      for (size_t i = 0; i < text.operands.size(); ++i) {
        const KernelOperand& operand = text.operands[i];
        order[i] = std::to_string(at[static_cast<size_t>(operand.role)]++);
        if (operand.role == KernelOperand::Role::kScratch) {
          scratch.push_back(std::to_string(std::max<int64_t>(operand.bytes, 16)));
          continue;
        }
        const Item& item = program().at(operand.item);
        if (operand.role == KernelOperand::Role::kOutput) {
          outputs.push_back(
              fmt::format("({}, torch.{})", PythonShape(item.shape), graph::NameOf(item.dtype)));
          written_[k].push_back(operand.item);
          continue;
        }
        read_[k].push_back(operand.item);
        // A view of a value is passed in the value's own memory order.
        const bool tensor = item.kind == ItemKind::kTensor;
        const Shape& shape = tensor ? graph_.type(item.value).shape : item.shape;
        const Strides strides =
            tensor ? graph_.type(item.value).strides : graph::ContiguousStrides(item.shape);
        inputs.push_back(
            fmt::format("({}, {}, {})", PythonShape(shape), PythonShape(strides), operand.align));
      }
      for (const Launch& launch : text.launches) {
        const std::string name = ReplaceAll(launch.entry, kKernelName, found->second);
        const std::string entry = PythonString(name);
        if (language_ == Language::kTriton)
          launches.push_back(fmt::format("lambda *given: {}[({},)](*given, num_warps={}, **_OPTIONS)", name,
                                         launch.blocks, launch.threads / 32));
        else
          launches.push_back(language_ == Language::kCpp
                                 ? entry
                                 : fmt::format("({}, {}, {}, {}, {}, {})", entry, launch.blocks,
                                               launch.threads, launch.cluster, launch.shared_bytes,
                                               launch.resident ? "True" : "False"));
      }
      kernels.push_back({{"number", k},
                         {"about", text.about},
                         {"inputs", Join(inputs, ", ")},
                         {"outputs", Join(outputs, ", ")},
                         {"scratch", Join(scratch, ", ")},
                         {"order", Join(order, ", ")},
                         {"launches", Join(launches, ", ")}});
      out_.launches += static_cast<int>(text.launches.size());
      out_.kernel_bytes += text.bytes;
      // The last launch reads divided rows again, unless it only merges the parts.
      const bool again = text.launches.size() > 1 && text.launches.back().blocks > 1;
      const bool resident = !text.launches.empty() && text.launches[0].resident;
      out_.bytes_by_layout[resident ? "resident" : again ? "split" : text.layout] += text.bytes;
      out_.about.push_back(text.layout + ": " + text.about);
    }
    out_.kernels = static_cast<int>(names.size());
    if (language_ == Language::kTriton) {
      HONE_ASSIGN_OR_RETURN(const std::string functions, TritonFunctions(source));
      source = functions + std::string(Trim(source));
    }
    out_.values["kernels_text"] = source;
    out_.values["in_python"] = language_ == Language::kTriton;
    out_.values["kernels"] = kernels;
    return Ok();
  }

  // The variable that holds a value of the graph.
  std::string Variable(ValueId value) {
    const auto found = plan_.lowered.item_of.find(value);
    if (found != plan_.lowered.item_of.end() && program().at(found->second).computes()) {
      const ItemId base = WithoutReshapes(program(), found->second);
      const std::string name = fmt::format("t{}", base);
      Use(name);
      if (program().at(base).shape == graph_.type(value).shape) return name;
      return fmt::format("{}.view({})", name, PythonShape(graph_.type(value).shape));
    }
    if (const ValueId base = TensorBehind(value); base != value) return Variable(base);
    const graph::Value& known = graph_.value(value);
    const std::string name = fmt::format("v{}", static_cast<int>(value));
    if (known.kind != graph::ValueKind::kResult) outside_.insert(value);
    if (collect_ != nullptr) {
      if (known.kind != graph::ValueKind::kResult) collect_->insert(name);
      return name;
    }
    Use(name);
    return name;
  }
  void Use(const std::string& name) { last_use_[name] = steps_.size(); }

  // Whether a fused kernel computes the value in every call.
  bool IsComputed(ValueId value) const {
    const auto found = plan_.lowered.item_of.find(value);
    return found != plan_.lowered.item_of.end() && program().at(found->second).computes();
  }

  // The call of Hone's kernel for a product. `call` is PyTorch's alternative. An operand that depends only on
  // weights is packed together with the other such values.
  std::string ProductLine(const Product& product, ValueId result, const std::string& call) {
    const size_t number = product_values_.size();
    std::string packed = "None", of = product.of;
    const ValueId weight = of == "x" ? product.x : product.w;
    if (IsComputed(weight)) of = "";
    if (!of.empty()) {
      packed = fmt::format("p{}", number);
      collect_ = &fixed_reads_;
      fixed_lines_.push_back(
          fmt::format("{} = _product{}.pack(device, {})", packed, number, Variable(weight)));
      collect_ = nullptr;
      packed_.push_back(packed);
    }
    product_values_.push_back(
        {{"number", number},
         {"about", product.About()},
         {"x", product.x_view},
         {"w", product.w_view},
         {"sizes", PythonShape({product.rows, product.units, product.width, product.batches})},
         {"batch", product.batch ? PythonShape(*product.batch) : "None"},
         {"shape", PythonShape(graph_.type(result).shape)},
         {"of", of.empty() ? "None" : PythonString(of)},
         {"around", AroundText(product)}});
    out_.products += 1;
    out_.products_us += product.us;
    out_.replaced_us += product.pytorch_us;
    out_.about.push_back("product: " + product.About());
    return fmt::format("_product{}(device, stream, {}, {}, {}, {}, lambda: {})", number, Variable(product.x),
                       Variable(product.w), product.bias ? Variable(*product.bias) : "None", packed, call);
  }

  // The same for a convolution. `chain` is the kernel that runs in its epilogue, or -1. With a chain, `call`
  // runs both.
  std::string ConvolutionLine(const Convolution& made, const std::string& call, int chain = -1) {
    const size_t number = convolution_values_.size();
    std::string sizes =
        fmt::format("x={}, out={}, kernel={}, stride={}, padding={}, dilation={}", PythonShape(made.in),
                    PythonShape(made.out), PythonShape(made.kernel), PythonShape(made.stride),
                    PythonShape(made.padding), PythonShape(made.dilation));
    if (!made.depthwise)
      sizes += fmt::format(", groups={}, transposed={}", made.groups, made.transposed ? "True" : "False");
    std::string behind;
    if (chain >= 0) {
      const auto& [text, operands] = chains_[static_cast<size_t>(chain)];
      std::string reads, expected;
      std::vector<std::string> given;
      for (size_t i = 0; i < operands.size(); ++i) {
        const Item& item = program().at(operands[i].item);
        const bool result = item.kind == ItemKind::kTensor && item.value == chained_.at(chain).value;
        reads += fmt::format("#define HONE_READ_p{}(x) {}\n", i, result ? "v" : "(x)");
        if (operands[i].role == KernelOperand::Role::kOutput)
          sizes += fmt::format(", made={}", PythonShape(item.shape));
        if (result || operands[i].role != KernelOperand::Role::kInput) {
          expected += "None, ";
          continue;
        }
        const bool tensor = item.kind == ItemKind::kTensor;
        const Shape& shape = tensor ? graph_.type(item.value).shape : item.shape;
        const Strides strides =
            tensor ? graph_.type(item.value).strides : graph::ContiguousStrides(item.shape);
        expected +=
            fmt::format("({}, {}, {}), ", PythonShape(shape), PythonShape(strides), operands[i].align);
        given.push_back(tensor ? Variable(item.value) : fmt::format("t{}", operands[i].item));
      }
      sizes += fmt::format(", operands=({})", expected);
      behind = ", " + PythonTuple(given);
      convolution_values_.push_back({{"chain", reads + text}});
    } else {
      convolution_values_.push_back({{"chain", ""}});
    }
    convolution_values_.back().update({{"number", number},
                                       {"about", made.About()},
                                       {"kind", made.depthwise ? "_Depthwise" : "_Convolution"},
                                       {"sizes", sizes}});
    std::string packed;
    if (!made.depthwise) {
      collect_ = &fixed_reads_;
      fixed_lines_.push_back(fmt::format("c{} = _conv{}.pack(device, {})", number, number, Variable(made.w)));
      collect_ = nullptr;
      packed_.push_back(fmt::format("c{}", number));
      packed = packed_.back() + ", ";
    }
    out_.convolutions += 1;
    out_.products_us += made.us;
    out_.replaced_us += made.pytorch_us;
    out_.about.push_back("convolution: " + made.About());
    return fmt::format("_conv{}(device, stream, {}, {}, {}, {}lambda: {})", number, Variable(made.x),
                       Variable(made.w), made.bias ? Variable(*made.bias) : "None", packed, call + behind);
  }

  // The tensor that is read for a value: itself, or the value that it is a view of.
  ValueId TensorBehind(ValueId value) const {
    const auto found = plan_.lowered.item_of.find(value);
    const bool tensor =
        found != plan_.lowered.item_of.end() && program().at(found->second).kind == ItemKind::kTensor;
    return tensor ? program().at(found->second).value : value;
  }

  // Moves a map into the epilogue of a convolution if only the map reads the convolution's result.
  void ChainConvolutions() {
    std::map<ValueId, int> reads;  // -1: several kernels or a call
    const auto add = [&](ValueId value, int reader) {
      const auto [found, is_new] = reads.try_emplace(TensorBehind(value), reader);
      if (!is_new) found->second = -1;
    };
    for (const ValueId value : graph_.outputs().Leaves()) add(value, -1);
    for (const Step& step : plan_.steps) {
      if (!step.is_call) {
        for (const ItemId item : read_[static_cast<size_t>(step.kernel)])
          if (program().at(item).kind == ItemKind::kTensor) add(program().at(item).value, step.kernel);
        continue;
      }
      for (const graph::Argument& argument : graph_.node(step.node).arguments) {
        if (const auto* id = std::get_if<ValueId>(&argument.value)) add(*id, -1);
        if (const auto* list = std::get_if<graph::ValueList>(&argument.value))
          for (const std::optional<ValueId>& item : *list)
            if (item) add(*item, -1);
      }
    }
    for (const auto& [node, made] : convolutions_) {
      const ValueId result = graph_.node(node).result();
      const auto reader = reads.find(result);
      if (made.depthwise || IsComputed(made.w) || reader == reads.end() || reader->second < 0) continue;
      const auto k = static_cast<size_t>(reader->second);
      const auto& [text, operands] = chains_[k];
      if (text.empty() || chained_.count(reader->second) != 0 ||
          graph::ElementsOf(plan_.kernels[k].domain) != graph_.type(result).elements())
        continue;
      if (ElementaryFunctions(text) > kMostInEpilogue) continue;
      bool whole = true;
      for (size_t i = 0; i < operands.size(); ++i) {
        const Item& item = program().at(operands[i].item);
        if (item.kind == ItemKind::kTensor && item.value == result)
          whole = whole && !Contains(text, fmt::format("a.p{} + (", i));
      }
      if (!whole) continue;
      chained_[reader->second] = {node, result, ""};
      out_.launches -= 1;
      out_.kernel_bytes -= 8 * static_cast<double>(graph_.type(result).elements());
    }
  }

  Result<std::string> PythonArgument(const graph::ArgumentValue& value) {
    if (std::holds_alternative<graph::None>(value)) return std::string("None");
    if (const auto* id = std::get_if<ValueId>(&value)) return Variable(*id);
    if (const auto* truth = std::get_if<bool>(&value)) return std::string(*truth ? "True" : "False");
    if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return PythonNumber(*number);
    if (const auto* dtype = std::get_if<DType>(&value)) return std::string("torch.") + graph::NameOf(*dtype);
    if (const auto* text = std::get_if<std::string>(&value)) return PythonString(*text);
    if (const auto* symbol = std::get_if<graph::Symbol>(&value)) {
      if (symbol->kind == "device")
        return std::string(StartsWith(symbol->name, "cuda") ? "torch.device(\"cuda\", device)"
                                                            : "torch.device(\"cpu\")");
      if (symbol->kind == "memory_format" || symbol->kind == "layout") return "torch." + symbol->name;
      return Error{ErrorKind::kInvalid, "an operator takes a " + symbol->kind};
    }
    std::vector<std::string> parts;
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
      for (const int64_t item : *list) parts.push_back(std::to_string(item));
    if (const auto* list = std::get_if<std::vector<double>>(&value))
      for (const double item : *list) parts.push_back(PythonNumber(item));
    if (const auto* list = std::get_if<std::vector<bool>>(&value))
      for (const bool item : *list) parts.emplace_back(item ? "True" : "False");
    if (const auto* list = std::get_if<graph::ValueList>(&value))
      for (const std::optional<ValueId>& item : *list) parts.push_back(item ? Variable(*item) : "None");
    return "[" + Join(parts, ", ") + "]";
  }

  Status WriteSteps() {
    ChainConvolutions();
    Json operators = Json::array();
    std::map<std::string, size_t> numbers;
    for (const Step& step : plan_.steps) {
      if (!step.is_call) {
        const size_t k = static_cast<size_t>(step.kernel);
        std::vector<std::string> results, arguments = {"device", "stream"};
        const auto chain = chained_.find(step.kernel);
        for (const ItemId item : read_[k]) {
          const Item& it = program().at(item);
          if (chain != chained_.end() && it.kind == ItemKind::kTensor && it.value == chain->second.value) {
            arguments.push_back(chain->second.call);
          } else if (it.kind == ItemKind::kTensor) {
            arguments.push_back(Variable(it.value));
          } else {
            arguments.push_back(fmt::format("t{}", item));
            Use(arguments.back());
          }
        }
        for (const ItemId item : written_[k]) {
          results.push_back(fmt::format("t{}", item));
          Use(results.back());
        }
        if (chain != chained_.end()) {
          for (const graph::Argument& argument : graph_.node(chain->second.node).arguments)
            HONE_RETURN_IF_ERROR(
                PythonArgument(argument.value));  // a call reads the packed arguments at this point
          const std::string both = fmt::format("_kernel{}({})[0]", k, Join(arguments, ", "));
          steps_.push_back(
              fmt::format("{} = {}", results[0],
                          ConvolutionLine(convolutions_.at(chain->second.node), both, step.kernel)));
          continue;
        }
        steps_.push_back(fmt::format("{} = _kernel{}({})",
                                     Join(results, ", ") + (results.size() == 1 ? "," : ""), k,
                                     Join(arguments, ", ")));
        continue;
      }
      const graph::Node& node = graph_.node(step.node);
      const auto [found, is_new] = numbers.try_emplace(node.target, numbers.size());
      if (is_new) operators.push_back({{"number", found->second}, {"function", FunctionText(node.target)}});
      std::vector<std::string> arguments, results;
      const bool once = fixed_values_[static_cast<size_t>(node.result())];
      collect_ = once ? &fixed_reads_ : nullptr;
      for (const graph::Argument& argument : node.arguments) {
        HONE_ASSIGN_OR_RETURN(std::string text, PythonArgument(argument.value));
        arguments.push_back(std::move(text));
      }
      collect_ = nullptr;
      const auto chain = std::find_if(chained_.begin(), chained_.end(),
                                      [&](const auto& one) { return one.second.node == step.node; });
      if (chain != chained_.end()) {
        chain->second.call = fmt::format("_aten{}.one({})", found->second, Join(arguments, ", "));
        continue;
      }
      for (const ValueId result : node.results) {
        results.push_back(fmt::format("v{}", static_cast<int>(result)));
        if (once)
          fixed_.push_back(result);
        else
          Use(results.back());
      }
      std::string call = fmt::format("_aten{}{}({})", found->second, results.size() == 1 ? ".one" : "",
                                     Join(arguments, ", "));
      const auto product = products_.find(step.node);
      if (product != products_.end()) call = ProductLine(product->second, node.result(), call);
      const auto convolution = convolutions_.find(step.node);
      const bool convolved = convolution != convolutions_.end() && !IsComputed(convolution->second.w);
      if (convolved) call = ConvolutionLine(convolution->second, call);
      const std::string line = Join(results, ", ") + " = " + call;
      if (once) {
        fixed_lines_.push_back(line);
        continue;
      }
      const graph::OpClass kind = graph::ClassOf(node.op);
      if (kind != graph::OpClass::kView && kind != graph::OpClass::kCreate && product == products_.end() &&
          !convolved)
        out_.calls += 1;
      steps_.push_back(line);
    }
    HONE_ASSIGN_OR_RETURN(const std::string result, Tree(graph_.outputs()));
    // Deletes a tensor after its last use.
    std::vector<std::vector<std::string>> dead(steps_.size() + 1);
    for (const auto& [name, step] : last_use_) dead[step].push_back(name);
    std::vector<std::string> kept;  // values that are computed once and read by the steps
    for (const ValueId value : fixed_)
      if (last_use_.count(fmt::format("v{}", static_cast<int>(value))) != 0)
        kept.push_back(fmt::format("v{}", static_cast<int>(value)));
    kept.insert(kept.end(), packed_.begin(), packed_.end());
    out_.values["fixed"] =
        kept.empty()
            ? Json(false)
            : Json{{"lines", fixed_lines_},
                   {"reads",
                    fixed_reads_.empty() ? "" : Join({fixed_reads_.begin(), fixed_reads_.end()}, ", ") + ","},
                   {"makes", Join(kept, ", ") + ","}};
    fixed_names_ = kept;
    Json lines = Json::array();
    for (size_t i = 0; i < steps_.size(); ++i) {
      lines.push_back(steps_[i]);
      if (!dead[i].empty() && i + 1 < steps_.size()) lines.push_back("del " + Join(dead[i], ", "));
    }
    out_.values["steps"] = lines;
    out_.values["operators"] = operators;
    out_.values["products"] = product_values_;
    out_.values["convolutions"] = convolution_values_;
    out_.values["result"] = result;
    return Ok();
  }

  // The memory that a written value uses: an item that a kernel writes, or a value of the graph.
  struct Memory {
    ItemId item = -1;
    ValueId value{-1};
    bool operator==(const Memory&) const = default;
  };
  Memory WrittenMemory(ValueId value) const {
    while (true) {
      const auto found = plan_.lowered.item_of.find(value);
      if (found != plan_.lowered.item_of.end() && program().at(found->second).computes())
        return {WithoutReshapes(program(), found->second), ValueId{-1}};
      if (const ValueId base = TensorBehind(value); base != value) {
        value = base;
        continue;
      }
      const graph::Node* node = graph_.Definition(value);
      const std::optional<ValueId> operand =
          node == nullptr ? std::nullopt : graph::SharedOperand(graph_, *node);
      if (!operand) return {-1, value};
      value = *operand;
    }
  }

  // The next leaf of the outputs. The caller may write into it. It therefore shares memory with inputs,
  // weights and other outputs only where it does in PyTorch, and never with values that are kept for later
  // calls.
  std::string Returned(ValueId leaf) {
    const ValueId asked = memory_[returned_.size()];
    const Memory memory = WrittenMemory(leaf);
    bool copies = false;
    std::string text = Variable(leaf);
    if (memory.item < 0 &&
        (graph_.Definition(memory.value) == nullptr || fixed_values_[static_cast<size_t>(memory.value)])) {
      copies = asked != memory.value || !graph::OutlivesCall(graph_, memory.value) ||
               graph_.value(memory.value).has_data;
      // A view of a weight that is kept for later calls: the caller gets a tensor of its own.
      if (!copies && std::find(fixed_.begin(), fixed_.end(), leaf) != fixed_.end()) text += ".detach()";
    }
    for (size_t i = 0; i < returned_.size(); ++i)
      copies = copies || (returned_[i] == memory && memory_[i] != asked);
    returned_.push_back(copies ? Memory{} : memory);
    return text + (copies ? ".clone()" : "");
  }

  Result<std::string> Tree(const graph::ValueTree& tree) {
    if (tree.kind == graph::ValueTree::Kind::kValue) return Returned(tree.value);
    if (tree.kind == graph::ValueTree::Kind::kLiteral) return PythonArgument(tree.literal);
    std::vector<std::string> parts;
    for (size_t i = 0; i < tree.children.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(std::string part, Tree(tree.children[i]));
      if (tree.kind == graph::ValueTree::Kind::kDict) part = PythonString(tree.keys[i]) + ": " + part;
      parts.push_back(std::move(part));
    }
    if (tree.kind == graph::ValueTree::Kind::kTuple) return PythonTuple(parts);
    if (tree.kind == graph::ValueTree::Kind::kDict) return "{" + Join(parts, ", ") + "}";
    return "[" + Join(parts, ", ") + "]";
  }

  Status Bind(const graph::ValueTree& tree, const std::string& from, Json* opening) {
    if (tree.kind == graph::ValueTree::Kind::kLiteral) {
      HONE_ASSIGN_OR_RETURN(const std::string literal, PythonArgument(tree.literal));
      opening->push_back(fmt::format("if {} != {}:", from, literal));
      opening->push_back("    raise _Unsupported(\"an argument that is no tensor differs from the task's\")");
      return Ok();
    }
    if (tree.kind == graph::ValueTree::Kind::kValue) {
      const graph::TensorType& type = graph_.type(tree.value);
      const std::string name = fmt::format("v{}", static_cast<int>(tree.value));
      opening->push_back(fmt::format("{} = _check_input({}, {}, torch.{})", name, from,
                                     PythonShape(type.shape), graph::NameOf(type.dtype)));
      bound_.insert(tree.value);
      return Ok();
    }
    for (size_t i = 0; i < tree.children.size(); ++i) {
      const std::string key =
          tree.kind == graph::ValueTree::Kind::kDict ? PythonString(tree.keys[i]) : std::to_string(i);
      HONE_RETURN_IF_ERROR(Bind(tree.children[i], fmt::format("{}[{}]", from, key), opening));
    }
    return Ok();
  }

  Status WriteOpening() {
    Json opening = Json::array(), weights = Json::array(), constants = Json::array();
    const size_t count = graph_.inputs().size();
    opening.push_back(fmt::format("if len(inputs) != {}:", count));
    opening.push_back("    raise _Unsupported(\"the number of arguments differs from the task's\")");
    for (size_t i = 0; i < count; ++i)
      HONE_RETURN_IF_ERROR(Bind(graph_.inputs()[i], fmt::format("inputs[{}]", i), &opening));
    std::vector<std::string> names, checked;
    for (const ValueId value : bound_) checked.push_back(fmt::format("v{}", static_cast<int>(value)));
    if (checked.empty()) return Error{ErrorKind::kInvalid, "forward takes no tensor"};
    names = checked;
    for (const ValueId value : outside_) {
      if (bound_.count(value) != 0) continue;
      const graph::Value& known = graph_.value(value);
      const std::string name = fmt::format("v{}", static_cast<int>(value));
      names.push_back(name);
      if (known.kind == graph::ValueKind::kInput)
        return Error{ErrorKind::kInvalid, "an input is not among the arguments"};
      if (known.kind == graph::ValueKind::kConstant && known.has_data) {
        constants.push_back({{"number", static_cast<int>(value)},
                             {"shape", PythonShape(known.type.shape)},
                             {"dtype", graph::NameOf(known.type.dtype)},
                             {"data", ConstantText(known.data)}});
        opening.push_back(
            fmt::format("{} = _constant{}({}.device)", name, static_cast<int>(value), checked[0]));
        continue;
      }
      if (known.name.empty()) return Error{ErrorKind::kInvalid, "a large constant is made in forward"};
      weights.push_back({{"number", static_cast<int>(value)}, {"name", known.name}});
      opening.push_back(fmt::format("{} = _weight{}(model)", name, static_cast<int>(value)));
      checked.push_back(name);
    }
    names.insert(names.end(), fixed_names_.begin(), fixed_names_.end());
    out_.values["opening"] = opening;
    out_.values["weights"] = weights;
    out_.values["constants"] = constants;
    out_.values["checked"] = Join(checked, ", ") + ",";
    out_.values["names"] = Join(names, ", ");
    return Ok();
  }

  const graph::Graph& graph_;
  const Plan& plan_;
  const Language language_;
  const EmitterDevice& device_;
  const std::map<graph::NodeId, Product>& products_;
  const std::map<graph::NodeId, Convolution>& convolutions_;
  std::vector<ValueId> memory_;  // graph::MemoryOfOutputs of the module as it is written
  const std::vector<bool> fixed_values_;
  std::vector<Memory> returned_;  // of each leaf; empty for a copy
  GraphText out_;
  Json product_values_ = Json::array(), convolution_values_ = Json::array();
  std::map<size_t, std::vector<ItemId>> read_, written_;
  std::map<size_t, std::pair<std::string, std::vector<KernelOperand>>> chains_;  // for kernels that are maps
  struct Chained {
    graph::NodeId node{-1};
    ValueId value{-1};  // the result of the node
    std::string call;   // PyTorch's alternative
  };
  std::map<int, Chained> chained_;  // by kernel: the convolution whose epilogue it is
  std::vector<std::string> steps_;
  std::map<std::string, size_t> last_use_;
  std::set<ValueId> outside_, bound_;
  // Calls that depend only on weights: what they read from outside, and what they compute.
  std::vector<std::string> fixed_lines_, fixed_names_, packed_;
  std::vector<ValueId> fixed_;
  std::set<std::string> fixed_reads_;
  std::set<std::string>* collect_ = nullptr;
};

}  // namespace

Result<GraphText> WriteGraph(const graph::Graph& graph, const Plan& plan, Language language,
                             const EmitterDevice& device, const std::map<graph::NodeId, Product>& products,
                             const std::map<graph::NodeId, Convolution>& convolutions,
                             std::vector<ValueId> memory) {
  return Writer(graph, plan, language, device, products, convolutions, std::move(memory)).Run();
}

}  // namespace hone::fused
