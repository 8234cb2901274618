#include "evaluation/contract_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

// Above this time per call, a dozen calls of each side would dominate the time to a verdict.
constexpr double kLongCallSeconds = 0.25;
// The output of torch.save and the gradients go through the host.
constexpr double kMostHostBytes = 2e9;
// With more data than this, gradients are compared on a part of the batch.
constexpr double kTrainingBytes = 256e6;
// The memory that a module needs for intermediate results is unknown, so half of the free memory is left for
// it.
constexpr double kShareOfFree = 0.5;

bool IsAboutWeights(const std::string& entry) {
  return entry == "weights_through_data" || entry == "weights_in_place" || entry == "load_state_dict";
}

// Memory besides the modules: two sets of inputs for every entry, and what the entry adds.
double BytesFor(const std::string& entry, const ContractSizes& sizes) {
  const double data = sizes.data_bytes(), weights = sizes.weight_bytes, inputs = 2 * sizes.input_bytes;
  if (IsAboutWeights(entry)) return inputs + weights + sizes.output_bytes;
  if (entry == "deepcopy") return inputs + 2 * weights + sizes.output_bytes;
  if (entry == "pickle") return inputs + 3 * weights + sizes.output_bytes;
  if (entry == "train_and_gradients") return inputs + 2 * weights + 4 * std::min(data, kTrainingBytes);
  return inputs + sizes.output_bytes;
}

}  // namespace

std::string WhyNotTried(const std::string& entry, const ContractSizes& sizes) {
  // These entries make one or two calls; the others make more.
  const bool few_calls = IsAboutWeights(entry) || entry == "global_state";
  if (sizes.call_s > kLongCallSeconds && !few_calls)
    return fmt::format("not tried: a call takes {}", HumanSeconds(sizes.call_s));
  const bool through_host = entry == "pickle" || entry == "train_and_gradients";
  if (through_host && sizes.weight_bytes > kMostHostBytes)
    return fmt::format("not tried: {} of weights would go through the host", HumanBytes(sizes.weight_bytes));
  const double needed = BytesFor(entry, sizes);
  if (needed > kShareOfFree * sizes.free_bytes)
    return fmt::format("not tried: it takes about {} of memory beside the modules, and {} is free",
                       HumanBytes(needed), HumanBytes(sizes.free_bytes));
  return "";
}

int64_t TrainingBatch(int64_t full, const ContractSizes& sizes) {
  if (sizes.data_bytes() <= kTrainingBytes) return full;
  return std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(full) * kTrainingBytes / sizes.data_bytes()));
}

}  // namespace hone
