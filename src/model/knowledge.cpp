#include "model/knowledge.h"

#include <algorithm>
#include <initializer_list>

#include "base/json.h"
#include "base/text.h"

namespace hone {

namespace {

// The shortest chain of steps that counts as a loop over time.
constexpr int64_t kLongChain = 64;
constexpr int64_t kManyProducts = 32;
constexpr size_t kMostClasses = 3;

using Words = std::initializer_list<const char*>;

// Counts calls of operators, or modules, with one of the words in their name.
int64_t Count(const Json& names, Words words) {
  int64_t total = 0;
  if (!names.is_object()) return 0;
  for (const auto& [name, count] : names.items()) {
    const std::string lower = ToLower(name);
    if (count.is_number() &&
        std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(lower, word); }))
      total += count.get<int64_t>();
  }
  return total;
}

int64_t Named(const Json& names, Words words) {
  int64_t total = 0;
  for (const char* word : words) total += GetInt(names, word);
  return total;
}

bool Mentions(const std::string& text, Words words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return Contains(text, word); });
}

constexpr Words kProducts = {"mm", "addmm", "bmm", "baddbmm", "linear", "matmul", "mv", "addmv", "einsum"};

}  // namespace

bool HasGatedRecurrence(const Json& card) {
  return Named(GetMember(card, "modules"), {"GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"}) > 0 ||
         Count(GetMember(card, "operators"), {"rnn", "lstm", "gru"}) > 0;
}

bool IsRecurrent(const Json& card) {
  const Json& modules = GetMember(card, "modules");
  const Json& operators = GetMember(card, "operators");
  if (HasGatedRecurrence(card)) return true;
  // Networks of many layers have long chains too, but a weight for each product.
  const int64_t products = Named(operators, kProducts);
  return GetInt(card, "serial_chain") >= kLongChain && products >= kManyProducts &&
         products >= 4 * std::max<int64_t>(1, Named(modules, {"Linear"}));
}

std::vector<std::string> KnowledgeFor(const Json& card, const std::string& task_source,
                                      const std::string& target) {
  const Json& modules = GetMember(card, "modules");
  const Json& operators = GetMember(card, "operators");
  const bool unknown = modules.empty() && operators.empty();
  const auto is = [&](bool by_card, Words in_source) {
    return unknown ? Mentions(task_source, in_source) : by_card;
  };
  std::vector<std::string> pieces = {target};
  const bool recurrent = is(IsRecurrent(card), {"nn.GRU", "nn.LSTM", "nn.RNN", "RNNCell"});
  const bool conv = is(Count(operators, {"conv"}) + Count(modules, {"conv"}) > 0, {"nn.Conv", "F.conv"});
  const bool softmax = Count(operators, {"softmax"}) > 0;
  const bool attention =
      is(Count(operators, {"scaled_dot_product", "flash_attention"}) > 0 ||
             Count(modules, {"attention"}) > 0 || (softmax && Named(operators, {"bmm", "baddbmm"}) > 1),
         {"scaled_dot_product", "MultiheadAttention"});
  const bool gemm = is(Named(operators, kProducts) > 0 || Named(modules, {"Linear"}) > 0,
                       {"nn.Linear", "matmul", "bmm", "torch.mm", " @ "});
  const bool norm = is(Count(operators, {"layer_norm", "group_norm", "instance_norm", "rms_norm"}) > 0 ||
                           Count(modules, {"layernorm", "groupnorm", "instancenorm", "rmsnorm"}) > 0,
                       {"LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm"});
  const bool scan = is(Count(operators, {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"}) > 0,
                       {"cumsum", "cumprod", "cummax", "cummin"});
  const bool reduction =
      is(softmax || Count(operators, {"logsumexp"}) > 0 ||
             Named(operators, {"sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "var", "std",
                               "norm", "linalg_vector_norm", "var_mean", "prod"}) > 0,
         {"softmax", ".sum(", ".mean(", ".max(", ".norm("});
  if (recurrent) pieces.push_back("recurrent");
  if (attention) pieces.push_back("attention");
  if (conv) pieces.push_back("conv");
  // Recurrences and attention have their own pieces, which cover their products.
  if (gemm && !recurrent && !attention) pieces.push_back("gemm");
  if (scan && !recurrent) pieces.push_back("scan");
  if (norm && !recurrent) pieces.push_back("norm");
  if (reduction && !attention && !recurrent && !conv) pieces.push_back("reduction");
  if (pieces.size() == 1) pieces.push_back("elementwise");
  // For mixed networks, keeps the classes that usually dominate the time.
  if (pieces.size() > 1 + kMostClasses) pieces.resize(1 + kMostClasses);
  return pieces;
}

}  // namespace hone
