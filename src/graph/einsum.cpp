#include "graph/einsum.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/text.h"

namespace hone::graph {

namespace {

constexpr size_t kMostOperands = 5;  // 180 orders

std::string Union(const std::string& a, const std::string& b) {
  std::string both = a;
  for (const char letter : b)
    if (!HasLetter(a, letter)) both += letter;
  return both;
}

bool RepeatsNoLetter(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) == letters.end();
}

// Letters that appear once in all operands, in alphabetical order: the result of an equation without an
// arrow.
std::string ImplicitResult(const std::vector<std::string>& operands) {
  std::map<char, int> counts;
  for (const std::string& operand : operands)
    for (const char letter : operand) counts[letter] += 1;
  std::string out;
  for (const auto& [letter, count] : counts)
    if (count == 1) out += letter;
  return out;
}

struct Order {
  double cost = std::numeric_limits<double>::infinity();
  std::vector<EinsumPair> pairs;
};

Order Cheapest(const Einsum& einsum) {
  if (einsum.operands.size() < 2) return {0, {}};
  Order best;
  for (size_t i = 0; i < einsum.operands.size(); ++i)
    for (size_t j = i + 1; j < einsum.operands.size(); ++j) {
      const std::string letters = Union(NeededLetters(einsum, i, j), NeededLetters(einsum, j, i));
      Order order = Cheapest(Contracted(einsum, {i, j}, letters));
      order.cost += einsum.Size(Union(einsum.operands[i], einsum.operands[j]));
      if (order.cost >= best.cost) continue;
      order.pairs.insert(order.pairs.begin(), {i, j});
      best = std::move(order);
    }
  return best;
}

}  // namespace

double Einsum::Size(const std::string& letters) const {
  double size = 1;
  for (const char letter : letters) size *= static_cast<double>(sizes.at(letter));
  return size;
}

std::optional<Einsum> EinsumOf(const Graph& graph, const Node& node) {
  const auto* equation = std::get_if<std::string>(&node.Arg("equation"));
  const auto* tensors = std::get_if<ValueList>(&node.Arg("tensors"));
  if (node.op != Op::kEinsum || equation == nullptr || tensors == nullptr) return std::nullopt;
  const std::string text = ReplaceAll(*equation, " ", "");
  const size_t arrow = text.find("->");
  Einsum einsum;
  einsum.operands = Split(text.substr(0, arrow), ',');
  if (einsum.operands.size() != tensors->size()) return std::nullopt;
  for (size_t i = 0; i < tensors->size(); ++i) {
    const std::string& letters = einsum.operands[i];
    const bool plain =
        std::all_of(letters.begin(), letters.end(), [](unsigned char one) { return std::isalpha(one) != 0; });
    if (!(*tensors)[i] || !plain || !RepeatsNoLetter(letters)) return std::nullopt;
    const Shape& shape = graph.type(*(*tensors)[i]).shape;
    if (shape.size() != letters.size()) return std::nullopt;
    for (size_t axis = 0; axis < letters.size(); ++axis)
      if (einsum.sizes.try_emplace(letters[axis], shape[axis]).first->second != shape[axis])
        return std::nullopt;
  }
  einsum.out = arrow == std::string::npos ? ImplicitResult(einsum.operands) : text.substr(arrow + 2);
  if (!RepeatsNoLetter(einsum.out)) return std::nullopt;
  for (const char letter : einsum.out)
    if (einsum.sizes.count(letter) == 0) return std::nullopt;
  return einsum;
}

std::string NeededLetters(const Einsum& einsum, size_t of, size_t with) {
  std::string needed;
  for (const char letter : einsum.operands[of]) {
    bool used = HasLetter(einsum.out, letter);
    for (size_t i = 0; i < einsum.operands.size(); ++i)
      used = used || (i != of && i != with && HasLetter(einsum.operands[i], letter));
    if (used) needed += letter;
  }
  return needed;
}

std::vector<EinsumPair> CheapestPairs(const Einsum& einsum) {
  if (einsum.operands.size() > kMostOperands) return {};
  return Cheapest(einsum).pairs;
}

Einsum Contracted(const Einsum& einsum, EinsumPair pair, const std::string& letters) {
  Einsum rest = einsum;
  rest.operands.erase(rest.operands.begin() + static_cast<std::ptrdiff_t>(pair.right));
  rest.operands.erase(rest.operands.begin() + static_cast<std::ptrdiff_t>(pair.left));
  rest.operands.push_back(letters);
  return rest;
}

double CheapestFlops(const Einsum& einsum) {
  Einsum rest = einsum;
  for (size_t i = 0; i < rest.operands.size(); ++i)  // what no other operand has is summed first
    rest.operands[i] = NeededLetters(einsum, i, i);
  double flops = 0;
  for (const EinsumPair pair : CheapestPairs(rest)) {
    const std::string all = Union(rest.operands[pair.left], rest.operands[pair.right]);
    const std::string letters =
        Union(NeededLetters(rest, pair.left, pair.right), NeededLetters(rest, pair.right, pair.left));
    if (letters.size() < all.size()) flops += 2 * rest.Size(all);
    rest = Contracted(rest, pair, letters);
  }
  return flops;
}

}  // namespace hone::graph
