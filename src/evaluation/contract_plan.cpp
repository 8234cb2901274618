#include "evaluation/contract_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

namespace {

// A dozen calls of each side must not become the longest part of a verdict.
constexpr double kLongCallSeconds = 0.25;
// What torch.save writes and gradients bring goes through the host.
constexpr double kMostHostBytes = 2e9;
// Gradients are compared on a part of the batch where there is more data than this.
constexpr double kTrainingBytes = 256e6;
// What a module keeps between its operators is not known; half of the memory is left to that.
constexpr double kShareOfFree = 0.5;

bool IsAboutWeights(const std::string& entry) {
  return entry == "weights_through_data" || entry == "weights_in_place" || entry == "load_state_dict";
}

// Beside the modules: two sets of inputs, which every entry finds there, and what it adds.
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
  // These make one or two calls; the others make more.
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
