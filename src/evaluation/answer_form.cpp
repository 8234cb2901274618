#include "evaluation/answer_form.h"

namespace hone {

namespace {

constexpr size_t kMostAnswerBytes = size_t{1} << 40;

// Lists addresses in the order of ParseLayout, which has validated the description.
void AddAddresses(const Json& node, std::vector<uint64_t>* addresses) {
  if (GetString(node, "kind") == "tensor") {
    addresses->push_back(static_cast<uint64_t>(GetInt(node, "address", 0)));
    return;
  }
  const Json& items = GetMember(node, "items");
  if (!items.is_array()) return;
  for (const Json& item : items) AddAddresses(item, addresses);
}

}  // namespace

std::vector<AnswerForm> ReadForms(const Json& numbers, const Json& odd, int calls) {
  std::vector<AnswerForm> forms(static_cast<size_t>(calls));
  for (size_t call = 0; call < forms.size() && numbers.is_array() && call < numbers.size(); ++call) {
    if (!numbers[call].is_array()) continue;
    for (const Json& number : numbers[call])
      if (number.is_number()) forms[call].numbers.push_back(number.get<double>());
  }
  if (!odd.is_array()) return forms;
  for (const Json& entry : odd) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_integer()) continue;
    const int64_t call = entry[0].get<int64_t>();
    if (call < 0 || call >= calls) continue;
    AnswerForm& form = forms[static_cast<size_t>(call)];
    Result<TensorTree> tree = ParseLayout(entry[1], kMostAnswerBytes, 1, "output");
    form.lost = !tree.ok();
    if (!tree.ok()) continue;
    AddAddresses(entry[1], &form.addresses);
    form.other = std::make_shared<const TensorTree>(std::move(*tree));
  }
  return forms;
}

}  // namespace hone
