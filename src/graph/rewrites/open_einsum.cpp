// Opens einsums of three or more operands, and einsums that sum over several letters, into products of pairs
// in the cheapest order. Hone has kernels for the products, and elementwise parts join other kernels. An
// einsum of two operands that sums over one letter stays: it is one product already
// (codegen/fused/product.cpp).
//
// The letters of a pair are batch (in both, kept), summed (in both), and own letters of each side, which are
// rows and columns. Without summed letters the pair is an elementwise product. Without own letters it is an
// elementwise product and a sum.
#include <algorithm>
#include <numeric>

#include "graph/einsum.h"
#include "graph/rewrites/builder.h"
#include "graph/rewrites/rewrite.h"

namespace hone::graph {

namespace {

struct EinsumTerm {
  ValueId value{-1};
  std::string letters;
};

class Opener {
 public:
  Opener(Graph& graph, NodeId id, const Einsum& einsum) : build_(graph, id), einsum_(einsum) {}

  // The result with its axes in the order of the equation.
  EinsumTerm Open(const ValueList& tensors) {
    std::vector<EinsumTerm> terms;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string needed = NeededLetters(einsum_, i, i);
      terms.push_back(Summed({*tensors[i], einsum_.operands[i]}, needed));
    }
    Einsum rest = einsum_;
    for (size_t i = 0; i < terms.size(); ++i) rest.operands[i] = terms[i].letters;
    for (const EinsumPair pair : CheapestPairs(rest)) {
      const std::string needed =
          NeededLetters(rest, pair.left, pair.right) + NeededLetters(rest, pair.right, pair.left);
      const EinsumTerm made = Contract(terms[pair.left], terms[pair.right], needed);
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(pair.right));
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(pair.left));
      terms.push_back(made);
      rest = Contracted(rest, pair, made.letters);
    }
    return Ordered(terms.front(), einsum_.out);
  }

 private:
  EinsumTerm Summed(const EinsumTerm& term, const std::string& needed) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < term.letters.size(); ++i)
      if (!HasLetter(needed, term.letters[i])) axes.push_back(static_cast<int64_t>(i));
    return axes.empty() ? term : EinsumTerm{build_.Sum(term.value, axes, false), needed};
  }

  // `letters` are those of the term in another order.
  EinsumTerm Ordered(const EinsumTerm& term, const std::string& letters) {
    std::vector<int64_t> order;
    for (const char letter : letters) order.push_back(static_cast<int64_t>(term.letters.find(letter)));
    return {build_.Permute(term.value, order), letters};
  }

  // The term with axes for all of `letters`, of length 1 where it has none.
  ValueId Along(const EinsumTerm& term, const std::string& letters) {
    std::string own;
    Shape shape;
    for (const char letter : letters) {
      if (HasLetter(term.letters, letter)) own += letter;
      shape.push_back(HasLetter(term.letters, letter) ? einsum_.sizes.at(letter) : 1);
    }
    return build_.Reshape(Ordered(term, own).value, shape);
  }

  // Sorts letters by their place in the result of the equation, so that it needs no permutation.
  std::string AsInResult(std::string letters) const {
    std::stable_sort(letters.begin(), letters.end(),
                     [&](char a, char b) { return einsum_.out.find(a) < einsum_.out.find(b); });
    return letters;
  }

  int64_t Size(const std::string& letters) const { return static_cast<int64_t>(einsum_.Size(letters)); }

  EinsumTerm Contract(EinsumTerm a, EinsumTerm b, const std::string& needed) {
    std::string batch, summed, own[2];
    for (const char letter : a.letters)
      (!HasLetter(b.letters, letter) ? own[0] : HasLetter(needed, letter) ? batch : summed) += letter;
    for (const char letter : b.letters)
      if (!HasLetter(a.letters, letter)) own[1] += letter;
    if (summed.empty() || (own[0].empty() && own[1].empty())) {
      std::string letters = own[1].empty() ? a.letters : own[0].empty() ? b.letters : batch + own[0] + own[1];
      return Summed({build_.Mul(Along(a, letters), Along(b, letters)), letters}, Kept(letters, summed));
    }
    batch = AsInResult(batch);
    own[0] = AsInResult(own[0]);
    own[1] = AsInResult(own[1]);
    if (!own[0].empty() && !own[1].empty() && einsum_.out.find(own[1][0]) < einsum_.out.find(own[0][0])) {
      std::swap(a, b);
      std::swap(own[0], own[1]);
    }
    // The order of the summed letters in the larger operand, which then need not be copied.
    const std::string& larger = Size(a.letters) < Size(b.letters) ? b.letters : a.letters;
    std::sort(summed.begin(), summed.end(),
              [&](char one, char other) { return larger.find(one) < larger.find(other); });
    Shape left, right, made, shape;
    for (const char letter : batch) shape.push_back(einsum_.sizes.at(letter));
    left = right = made = shape;
    left.insert(left.end(), {Size(own[0]), Size(summed)});
    right.insert(right.end(), {Size(summed), Size(own[1])});
    made.insert(made.end(), {Size(own[0]), Size(own[1])});
    for (const char letter : own[0] + own[1]) shape.push_back(einsum_.sizes.at(letter));
    const ValueId rows = build_.Reshape(Ordered(a, batch + own[0] + summed).value, left);
    const ValueId columns = build_.Reshape(Ordered(b, batch + summed + own[1]).value, right);
    return {build_.Reshape(build_.Matmul(rows, columns, made), shape), batch + own[0] + own[1]};
  }

  static std::string Kept(const std::string& letters, const std::string& summed) {
    std::string kept;
    for (const char letter : letters)
      if (!HasLetter(summed, letter)) kept += letter;
    return kept;
  }

  Builder build_;
  const Einsum& einsum_;
};

// Whether it is more than one product of two operands.
bool Opens(const Einsum& einsum) {
  if (einsum.operands.size() != 2) return einsum.operands.size() > 2;
  size_t summed = 0;
  for (const auto& [letter, size] : einsum.sizes) summed += HasLetter(einsum.out, letter) ? 0 : 1;
  return summed > 1;
}

// The value with the strides of `type`: elements are copied where PyTorch's einsum has them in another order.
// No value if the strides are those of no permutation.
std::optional<ValueId> WithStrides(Builder& build, ValueId value, const TensorType& type) {
  if (build.type(value) == type) return value;
  std::vector<int64_t> order(type.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return type.strides[static_cast<size_t>(a)] > type.strides[static_cast<size_t>(b)];
  });
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  ValueId made = build.Permute(value, order);
  if (!build.type(made).is_contiguous())
    made = build.Insert("aten.contiguous.default",
                        {{"self", made}, {"memory_format", Symbol{"memory_format", "contiguous_format"}}},
                        ContiguousType(type.dtype, build.type(made).shape));
  made = build.Permute(made, back);
  return build.type(made) == type ? std::optional(made) : std::nullopt;
}

}  // namespace

int OpenEinsum(Graph& graph) {
  return ForEachNode(graph, [&](NodeId id, const Node& node) {
    const std::optional<Einsum> einsum = EinsumOf(graph, node);
    if (!einsum || !Opens(*einsum) || CheapestPairs(*einsum).empty()) return false;
    const TensorType type = graph.type(node.result());
    if (!CanFoldWeights(type.dtype) || type.elements() == 0) return false;
    const ValueList tensors = std::get<ValueList>(node.Arg("tensors"));
    for (const std::optional<ValueId>& tensor : tensors)
      if (graph.type(*tensor).dtype != type.dtype || graph.type(*tensor).elements() == 0) return false;
    const EinsumTerm made = Opener(graph, id, *einsum).Open(tensors);
    Builder build(graph, id);
    const std::optional<ValueId> result = WithStrides(build, made.value, type);
    if (!result) return false;
    graph.ReplaceUses(node.result(), *result);
    return true;
  });
}

}  // namespace hone::graph
