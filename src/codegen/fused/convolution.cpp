#include "codegen/fused/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone::fused {

namespace {

using graph::Op;
using graph::Shape;
using graph::ValueId;

constexpr double kMostPixels = 2147483647.0;  // the kernels count pixels in 31 bits
constexpr int64_t kMostSteps = 4096;          // steps of one output's sum; their table is in shared memory
constexpr int64_t kPlaneValues = 8;           // fp16 values of a plane at one pixel

// Returns one number for each axis. A single number applies to all axes.
std::optional<std::vector<int64_t>> OfAxes(const graph::Node& node, std::string_view name, size_t axes) {
  std::optional<std::vector<int64_t>> values = node.IntsArg(name);
  if (values && values->size() == 1) values->resize(axes, values->front());
  return values && values->size() == axes ? values : std::nullopt;
}

int64_t RoundedUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

double ProductOf(const std::vector<int64_t>& values) {
  double product = 1;
  for (const int64_t value : values) product *= static_cast<double>(value);
  return product;
}

}  // namespace

std::string Convolution::About() const {
  const auto sizes = [](const std::vector<int64_t>& values) {
    std::vector<std::string> parts;
    for (const int64_t value : values) parts.push_back(std::to_string(value));
    return Join(parts, " x ");
  };
  return fmt::format("{} by {} {}kernels of {}", sizes(in), out[1],
                     transposed  ? "transposed "
                     : depthwise ? "depthwise "
                                 : "",
                     sizes(kernel));
}

std::optional<Convolution> ConvolutionOfNode(const graph::Graph& graph, const graph::Node& node) {
  if (node.op != Op::kConv && node.op != Op::kConvTranspose) return std::nullopt;
  const std::optional<ValueId> input = node.ValueArg("input"), weight = node.ValueArg("weight");
  if (!input || !weight || graph.type(*weight).rank() < 3) return std::nullopt;
  Convolution made;
  made.transposed = node.op == Op::kConvTranspose;
  made.x = *input;
  made.w = *weight;
  made.bias = node.ValueArg("bias");
  made.in = graph.type(*input).shape;
  made.out = graph.type(node.result()).shape;
  const Shape& kernels = graph.type(*weight).shape;
  const size_t axes = kernels.size() - 2;
  if (axes > 3 || made.in.size() != axes + 2 || made.out.size() != axes + 2) return std::nullopt;
  const auto stride = OfAxes(node, "stride", axes), padding = OfAxes(node, "padding", axes),
             dilation = OfAxes(node, "dilation", axes);
  const std::optional<int64_t> groups = node.IntArg("groups");
  if (!stride || !padding || !dilation || !groups) return std::nullopt;
  made.kernel.assign(kernels.begin() + 2, kernels.end());
  made.stride = *stride;
  made.padding = *padding;
  made.dilation = *dilation;
  made.groups = *groups;
  for (const Shape& shape : {made.in, made.out, kernels})
    if (graph::ElementsOf(shape) < 1) return std::nullopt;
  std::vector<ValueId> tensors = {made.x, made.w, node.result()};
  if (made.bias) tensors.push_back(*made.bias);
  for (const ValueId tensor : tensors)
    if (graph.type(tensor).dtype != graph::DType::kFloat32) return std::nullopt;
  if (!graph.type(node.result()).is_contiguous()) return std::nullopt;
  made.depthwise = !made.transposed && axes == 2 && made.groups > 1 && made.groups == made.in[1];
  // The depthwise kernel holds all taps in registers.
  if (made.depthwise &&
      (ProductOf(made.kernel) > 64 || ProductOf(made.stride) > 4 || ProductOf(made.dilation) > 9))
    return std::nullopt;
  return made;
}

void EstimateConvolution(const ConvolutionCosts& costs, Convolution* convolution) {
  const Convolution& c = *convolution;
  const auto in_bytes = 4 * ProductOf(c.in), out_bytes = 4 * ProductOf(c.out);
  const double channels = static_cast<double>(c.in[1]) / static_cast<double>(c.groups);
  const double units = static_cast<double>(c.out[1]) / static_cast<double>(c.groups);
  const double taps = ProductOf(c.kernel);
  const double swept = c.transposed ? ProductOf(c.in) : ProductOf(c.out);
  const double flops = 2 * swept * taps * (c.transposed ? units : channels);
  // cuDNN rearranges its operands, except for 1 x 1 kernels.
  convolution->pytorch_us = flops / costs.pytorch_flops_per_us + (taps > 1 ? costs.pytorch_passes : 1) *
                                                                     (in_bytes + out_bytes) /
                                                                     costs.bytes_per_us;
  if (taps == 1)
    convolution->pytorch_us =
        std::max(flops / costs.pytorch_flops_per_us, (in_bytes + out_bytes) / costs.bytes_per_us);
  const bool few_channels = channels <= kPlaneValues;
  if (few_channels) {
    // Its tiles are 64 channels wide.
    const double rate = c.transposed && c.groups > 1
                            ? costs.pytorch_groups_flops_per_us
                            : costs.pytorch_few_flops_per_us * std::clamp(units, 16.0, 64.0) / 64;
    convolution->pytorch_us = std::max(convolution->pytorch_us, flops / rate);
  }
  if (c.depthwise) {
    convolution->pytorch_us = (in_bytes + out_bytes) / costs.pytorch_depthwise_bytes_per_us +
                              flops / costs.pytorch_depthwise_flops_per_us;
    convolution->us = costs.call_us + (in_bytes + out_bytes) / costs.depthwise_bytes_per_us;
    return;
  }
  // Pixels of the grid, and phases of the input and the output (part_conv.py).
  double pixels = static_cast<double>(c.in[0]), phases = 1, out_phases = 1;
  for (size_t a = 0; a < c.kernel.size(); ++a) {
    const int64_t stride = c.stride[a], reach = (c.kernel[a] - 1) * c.dilation[a] / stride;
    const int64_t many =
        c.transposed ? RoundedUp(c.out[a + 2] + c.padding[a] % stride, stride) : c.out[a + 2];
    pixels *= static_cast<double>(many + reach);
    (c.transposed ? out_phases : phases) *=
        static_cast<double>(c.transposed ? stride : std::min(stride, c.kernel[a]));
  }
  const bool few = channels < kPlaneValues;
  const double groups = static_cast<double>(c.groups);
  const double planes = groups * (few ? std::ceil(phases * channels / kPlaneValues)
                                      : phases * std::ceil(channels / kPlaneValues));
  const double chunks = std::max(2 * out_phases, few ? costs.few_waste * taps * channels / kPlaneValues
                                                     : taps * std::ceil(channels / kPlaneValues));
  const double rows = 64 * std::ceil(units / 64);
  // Where PyTorch stays in float32, the kernels use two terms per value and three products.
  const double terms = few_channels ? 2 : 1, products = few_channels ? 3 : 1;
  const double packed_bytes = terms * 2 * kPlaneValues * planes * pixels;
  const double product_flops = products * 2 * groups * pixels * rows * kPlaneValues * chunks;
  convolution->us =
      costs.call_us + (in_bytes + packed_bytes) / costs.bytes_per_us +
      std::max(product_flops / costs.product_flops_per_us, (packed_bytes + out_bytes) / costs.bytes_per_us) +
      costs.overlap * std::min(product_flops / costs.product_flops_per_us,
                               (packed_bytes + out_bytes) / costs.bytes_per_us);
  if (pixels > kMostPixels || chunks > static_cast<double>(2 * kMostSteps))
    convolution->us = convolution->pytorch_us * 1000;
}

std::map<graph::NodeId, Convolution> ChooseConvolutions(const graph::Graph& graph, const GpuCosts& gpu) {
  std::map<graph::NodeId, Convolution> chosen;
  const std::vector<bool> fixed = graph::FixedValues(graph);
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    std::optional<Convolution> found = ConvolutionOfNode(graph, node);
    if (!found || fixed[static_cast<size_t>(node.result())] || !fixed[static_cast<size_t>(found->w)])
      continue;
    EstimateConvolution(gpu.convolution, &*found);
    if (found->us < gpu.convolution.of_pytorch * found->pytorch_us) chosen.emplace(id, std::move(*found));
  }
  return chosen;
}

}  // namespace hone::fused
