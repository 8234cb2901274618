#include "graph/op.h"

#include <array>
#include <iterator>
#include <string>
#include <unordered_map>

namespace hone::graph {

namespace {

constexpr OpRow kOps[] = {
    {Op::kAbs, "abs", OpClass::kPointwise},
    {Op::kNeg, "neg", OpClass::kPointwise},
    {Op::kExp, "exp", OpClass::kPointwise},
    {Op::kExp2, "exp2", OpClass::kPointwise},
    {Op::kExpm1, "expm1", OpClass::kPointwise},
    {Op::kLog, "log", OpClass::kPointwise},
    {Op::kLog2, "log2", OpClass::kPointwise},
    {Op::kLog10, "log10", OpClass::kPointwise},
    {Op::kLog1p, "log1p", OpClass::kPointwise},
    {Op::kSqrt, "sqrt", OpClass::kPointwise},
    {Op::kRsqrt, "rsqrt", OpClass::kPointwise},
    {Op::kReciprocal, "reciprocal", OpClass::kPointwise},
    {Op::kSquare, "square", OpClass::kPointwise},
    {Op::kSin, "sin", OpClass::kPointwise},
    {Op::kCos, "cos", OpClass::kPointwise},
    {Op::kTan, "tan", OpClass::kPointwise},
    {Op::kSinh, "sinh", OpClass::kPointwise},
    {Op::kCosh, "cosh", OpClass::kPointwise},
    {Op::kTanh, "tanh", OpClass::kPointwise},
    {Op::kAsin, "asin", OpClass::kPointwise},
    {Op::kAcos, "acos", OpClass::kPointwise},
    {Op::kAtan, "atan", OpClass::kPointwise},
    {Op::kErf, "erf", OpClass::kPointwise},
    {Op::kErfc, "erfc", OpClass::kPointwise},
    {Op::kSign, "sign", OpClass::kPointwise},
    {Op::kFloor, "floor", OpClass::kPointwise},
    {Op::kCeil, "ceil", OpClass::kPointwise},
    {Op::kRound, "round", OpClass::kPointwise},
    {Op::kTrunc, "trunc", OpClass::kPointwise},
    {Op::kSigmoid, "sigmoid", OpClass::kPointwise},
    {Op::kLogSigmoid, "log_sigmoid", OpClass::kPointwise},
    {Op::kRelu, "relu", OpClass::kPointwise},
    {Op::kRelu6, "relu6", OpClass::kPointwise},
    {Op::kLeakyRelu, "leaky_relu", OpClass::kPointwise},
    {Op::kElu, "elu", OpClass::kPointwise},
    {Op::kSelu, "selu", OpClass::kPointwise},
    {Op::kCelu, "celu", OpClass::kPointwise},
    {Op::kGelu, "gelu", OpClass::kPointwise},
    {Op::kSilu, "silu", OpClass::kPointwise},
    {Op::kMish, "mish", OpClass::kPointwise},
    {Op::kSoftplus, "softplus", OpClass::kPointwise},
    {Op::kHardtanh, "hardtanh", OpClass::kPointwise},
    {Op::kHardsigmoid, "hardsigmoid", OpClass::kPointwise},
    {Op::kHardswish, "hardswish", OpClass::kPointwise},
    {Op::kHardshrink, "hardshrink", OpClass::kPointwise},
    {Op::kSoftshrink, "softshrink", OpClass::kPointwise},
    {Op::kThreshold, "threshold", OpClass::kPointwise},
    {Op::kClamp, "clamp", OpClass::kPointwise},
    {Op::kClamp, "clamp_min", OpClass::kPointwise},
    {Op::kClamp, "clamp_max", OpClass::kPointwise},
    {Op::kClamp, "clip", OpClass::kPointwise},
    {Op::kIsNan, "isnan", OpClass::kPointwise},
    {Op::kIsInf, "isinf", OpClass::kPointwise},
    {Op::kLogicalNot, "logical_not", OpClass::kPointwise},
    {Op::kBitwiseNot, "bitwise_not", OpClass::kPointwise},
    {Op::kNanToNum, "nan_to_num", OpClass::kPointwise},
    {Op::kDropout, "dropout", OpClass::kPointwise},
    {Op::kDropout, "feature_dropout", OpClass::kPointwise},
    {Op::kDropout, "alpha_dropout", OpClass::kPointwise},
    {Op::kDropout, "feature_alpha_dropout", OpClass::kPointwise},
    {Op::kDropout, "native_dropout", OpClass::kPointwise},
    {Op::kToDtype, "to", OpClass::kPointwise},
    {Op::kToDtype, "_to_copy", OpClass::kPointwise},
    {Op::kToDtype, "type_as", OpClass::kPointwise},
    {Op::kAdd, "add", OpClass::kPointwise},
    {Op::kSub, "sub", OpClass::kPointwise},
    {Op::kRsub, "rsub", OpClass::kPointwise},
    {Op::kMul, "mul", OpClass::kPointwise},
    {Op::kMul, "multiply", OpClass::kPointwise},
    {Op::kSub, "subtract", OpClass::kPointwise},
    {Op::kDiv, "div", OpClass::kPointwise},
    {Op::kDiv, "divide", OpClass::kPointwise},
    {Op::kDiv, "true_divide", OpClass::kPointwise},
    {Op::kPow, "pow", OpClass::kPointwise},
    {Op::kFmod, "fmod", OpClass::kPointwise},
    {Op::kRemainder, "remainder", OpClass::kPointwise},
    {Op::kMaximum, "maximum", OpClass::kPointwise},
    {Op::kMinimum, "minimum", OpClass::kPointwise},
    {Op::kAtan2, "atan2", OpClass::kPointwise},
    {Op::kEq, "eq", OpClass::kPointwise},
    {Op::kNe, "ne", OpClass::kPointwise},
    {Op::kLt, "lt", OpClass::kPointwise},
    {Op::kLe, "le", OpClass::kPointwise},
    {Op::kGt, "gt", OpClass::kPointwise},
    {Op::kGe, "ge", OpClass::kPointwise},
    {Op::kLogicalAnd, "logical_and", OpClass::kPointwise},
    {Op::kLogicalOr, "logical_or", OpClass::kPointwise},
    {Op::kLogicalXor, "logical_xor", OpClass::kPointwise},
    {Op::kBitwiseAnd, "bitwise_and", OpClass::kPointwise},
    {Op::kBitwiseOr, "bitwise_or", OpClass::kPointwise},
    {Op::kBitwiseXor, "bitwise_xor", OpClass::kPointwise},
    {Op::kBitwiseAnd, "__and__", OpClass::kPointwise},
    {Op::kBitwiseOr, "__or__", OpClass::kPointwise},
    {Op::kBitwiseXor, "__xor__", OpClass::kPointwise},
    {Op::kWhere, "where", OpClass::kPointwise},
    {Op::kMaskedFill, "masked_fill", OpClass::kPointwise},
    {Op::kAddcmul, "addcmul", OpClass::kPointwise},
    {Op::kAddcdiv, "addcdiv", OpClass::kPointwise},
    {Op::kLerp, "lerp", OpClass::kPointwise},
    {Op::kPrelu, "prelu", OpClass::kPointwise},
    {Op::kTril, "tril", OpClass::kPointwise},
    {Op::kTriu, "triu", OpClass::kPointwise},
    {Op::kView, "view", OpClass::kView},
    {Op::kView, "_unsafe_view", OpClass::kView},
    {Op::kReshape, "reshape", OpClass::kView},
    {Op::kReshape, "view_as", OpClass::kView},
    {Op::kReshape, "reshape_as", OpClass::kView},
    {Op::kFlatten, "flatten", OpClass::kView},
    {Op::kUnflatten, "unflatten", OpClass::kView},
    {Op::kPermute, "permute", OpClass::kView},
    {Op::kTranspose, "transpose", OpClass::kView},
    {Op::kT, "t", OpClass::kView},
    {Op::kNumpyT, "numpy_T", OpClass::kView},
    {Op::kSqueeze, "squeeze", OpClass::kView},
    {Op::kUnsqueeze, "unsqueeze", OpClass::kView},
    {Op::kExpand, "expand", OpClass::kView},
    {Op::kExpand, "expand_as", OpClass::kView},
    {Op::kSlice, "slice", OpClass::kView},
    {Op::kSelect, "select", OpClass::kView},
    {Op::kNarrow, "narrow", OpClass::kView},
    {Op::kSplit, "split", OpClass::kView},
    {Op::kSplit, "split_with_sizes", OpClass::kView},
    {Op::kChunk, "chunk", OpClass::kView},
    {Op::kChunk, "unsafe_chunk", OpClass::kView},
    {Op::kSplit, "unsafe_split", OpClass::kView},
    {Op::kUnbind, "unbind", OpClass::kView},
    {Op::kUnfold, "unfold", OpClass::kView},
    {Op::kDiagonal, "diagonal", OpClass::kView},
    {Op::kDetach, "detach", OpClass::kView},
    {Op::kAlias, "alias", OpClass::kView},
    {Op::kContiguous, "contiguous", OpClass::kCopy},
    {Op::kClone, "clone", OpClass::kCopy},
    {Op::kLift, "lift_fresh_copy", OpClass::kCopy},
    {Op::kLift, "lift_fresh", OpClass::kCopy},
    {Op::kCat, "cat", OpClass::kCopy},
    {Op::kCat, "concat", OpClass::kCopy},
    {Op::kCat, "concatenate", OpClass::kCopy},
    {Op::kStack, "stack", OpClass::kCopy},
    {Op::kFlip, "flip", OpClass::kCopy},
    {Op::kRoll, "roll", OpClass::kCopy},
    {Op::kRepeat, "repeat", OpClass::kCopy},
    {Op::kPad, "pad", OpClass::kCopy},
    {Op::kPad, "constant_pad_nd", OpClass::kCopy},
    {Op::kPixelShuffle, "pixel_shuffle", OpClass::kCopy},
    {Op::kZeros, "zeros", OpClass::kCreate},
    {Op::kOnes, "ones", OpClass::kCreate},
    {Op::kFull, "full", OpClass::kCreate},
    {Op::kEmpty, "empty", OpClass::kCreate},
    {Op::kZerosLike, "zeros_like", OpClass::kCreate},
    {Op::kOnesLike, "ones_like", OpClass::kCreate},
    {Op::kFullLike, "full_like", OpClass::kCreate},
    {Op::kEmptyLike, "empty_like", OpClass::kCreate},
    {Op::kZeros, "new_zeros", OpClass::kCreate},
    {Op::kOnes, "new_ones", OpClass::kCreate},
    {Op::kFull, "new_full", OpClass::kCreate},
    {Op::kEmpty, "new_empty", OpClass::kCreate},
    {Op::kArange, "arange", OpClass::kCreate},
    {Op::kEye, "eye", OpClass::kCreate},
    {Op::kScalarTensor, "scalar_tensor", OpClass::kCreate},
    {Op::kSum, "sum", OpClass::kReduction},
    {Op::kMean, "mean", OpClass::kReduction},
    {Op::kProd, "prod", OpClass::kReduction},
    {Op::kMax, "max", OpClass::kReduction},
    {Op::kMin, "min", OpClass::kReduction},
    {Op::kAmax, "amax", OpClass::kReduction},
    {Op::kAmin, "amin", OpClass::kReduction},
    {Op::kArgmax, "argmax", OpClass::kReduction},
    {Op::kArgmin, "argmin", OpClass::kReduction},
    {Op::kAny, "any", OpClass::kReduction},
    {Op::kAll, "all", OpClass::kReduction},
    {Op::kVar, "var", OpClass::kReduction},
    {Op::kStd, "std", OpClass::kReduction},
    {Op::kVarMean, "var_mean", OpClass::kReduction},
    {Op::kNorm, "norm", OpClass::kReduction},
    {Op::kNorm, "linalg_vector_norm", OpClass::kReduction},
    {Op::kNorm, "linalg_norm", OpClass::kReduction},
    {Op::kNorm, "frobenius_norm", OpClass::kReduction},
    {Op::kLogsumexp, "logsumexp", OpClass::kReduction},
    {Op::kTopk, "topk", OpClass::kReduction},
    {Op::kBatchNorm, "batch_norm", OpClass::kNorm},
    {Op::kLayerNorm, "layer_norm", OpClass::kNorm},
    {Op::kGroupNorm, "group_norm", OpClass::kNorm},
    {Op::kInstanceNorm, "instance_norm", OpClass::kNorm},
    {Op::kRmsNorm, "rms_norm", OpClass::kNorm},
    {Op::kSoftmax, "softmax", OpClass::kSoftmax},
    {Op::kSoftmax, "_softmax", OpClass::kSoftmax},
    {Op::kLogSoftmax, "log_softmax", OpClass::kSoftmax},
    {Op::kLogSoftmax, "_log_softmax", OpClass::kSoftmax},
    {Op::kCumsum, "cumsum", OpClass::kScan},
    {Op::kCumprod, "cumprod", OpClass::kScan},
    {Op::kCrossEntropy, "cross_entropy_loss", OpClass::kLoss},
    {Op::kNllLoss, "nll_loss", OpClass::kLoss},
    {Op::kNllLoss, "nll_loss_nd", OpClass::kLoss},
    {Op::kMseLoss, "mse_loss", OpClass::kLoss},
    {Op::kL1Loss, "l1_loss", OpClass::kLoss},
    {Op::kSmoothL1Loss, "smooth_l1_loss", OpClass::kLoss},
    {Op::kHuberLoss, "huber_loss", OpClass::kLoss},
    {Op::kKlDiv, "kl_div", OpClass::kLoss},
    {Op::kBinaryCrossEntropy, "binary_cross_entropy", OpClass::kLoss},
    {Op::kBinaryCrossEntropyLogits, "binary_cross_entropy_with_logits", OpClass::kLoss},
    {Op::kHingeEmbeddingLoss, "hinge_embedding_loss", OpClass::kLoss},
    {Op::kTripletMarginLoss, "triplet_margin_loss", OpClass::kLoss},
    {Op::kCosineSimilarity, "cosine_similarity", OpClass::kLoss},
    {Op::kMaxPool, "max_pool1d", OpClass::kPooling},
    {Op::kMaxPool, "max_pool2d", OpClass::kPooling},
    {Op::kMaxPool, "max_pool3d", OpClass::kPooling},
    {Op::kAvgPool, "avg_pool1d", OpClass::kPooling},
    {Op::kAvgPool, "avg_pool2d", OpClass::kPooling},
    {Op::kAvgPool, "avg_pool3d", OpClass::kPooling},
    {Op::kAdaptiveAvgPool, "adaptive_avg_pool1d", OpClass::kPooling},
    {Op::kAdaptiveAvgPool, "adaptive_avg_pool2d", OpClass::kPooling},
    {Op::kAdaptiveAvgPool, "adaptive_avg_pool3d", OpClass::kPooling},
    {Op::kAdaptiveMaxPool, "adaptive_max_pool1d", OpClass::kPooling},
    {Op::kAdaptiveMaxPool, "adaptive_max_pool2d", OpClass::kPooling},
    {Op::kAdaptiveMaxPool, "adaptive_max_pool3d", OpClass::kPooling},
    {Op::kEmbedding, "embedding", OpClass::kGather},
    {Op::kGather, "gather", OpClass::kGather},
    {Op::kIndex, "index", OpClass::kGather},
    {Op::kIndexSelect, "index_select", OpClass::kGather},
    {Op::kScatter, "scatter", OpClass::kGather},
    {Op::kScatter, "scatter_add", OpClass::kGather},
    {Op::kLinear, "linear", OpClass::kProduct},
    {Op::kMatmul, "matmul", OpClass::kProduct},
    {Op::kMm, "mm", OpClass::kProduct},
    {Op::kBmm, "bmm", OpClass::kProduct},
    {Op::kAddmm, "addmm", OpClass::kProduct},
    {Op::kBaddbmm, "baddbmm", OpClass::kProduct},
    {Op::kMv, "mv", OpClass::kProduct},
    {Op::kDot, "dot", OpClass::kProduct},
    {Op::kEinsum, "einsum", OpClass::kProduct},
    {Op::kDiag, "diag", OpClass::kOther},
    {Op::kDiag, "diag_embed", OpClass::kOther},
    {Op::kConv, "conv1d", OpClass::kConvolution},
    {Op::kConv, "conv2d", OpClass::kConvolution},
    {Op::kConv, "conv3d", OpClass::kConvolution},
    {Op::kConvTranspose, "conv_transpose1d", OpClass::kConvolution},
    {Op::kConvTranspose, "conv_transpose2d", OpClass::kConvolution},
    {Op::kConvTranspose, "conv_transpose3d", OpClass::kConvolution},
    {Op::kAttention, "scaled_dot_product_attention", OpClass::kAttention},
    {Op::kGru, "gru", OpClass::kRecurrent},
    {Op::kLstm, "lstm", OpClass::kRecurrent},
    {Op::kRnnTanh, "rnn_tanh", OpClass::kRecurrent},
    {Op::kRnnRelu, "rnn_relu", OpClass::kRecurrent},
    {Op::kGruCell, "gru_cell", OpClass::kRecurrent},
    {Op::kLstmCell, "lstm_cell", OpClass::kRecurrent},
    {Op::kRnnCell, "rnn_tanh_cell", OpClass::kRecurrent},
    {Op::kRnnCell, "rnn_relu_cell", OpClass::kRecurrent},
    {Op::kRandom, "rand", OpClass::kRandom},
    {Op::kRandom, "randn", OpClass::kRandom},
    {Op::kRandom, "rand_like", OpClass::kRandom},
    {Op::kRandom, "randn_like", OpClass::kRandom},
    {Op::kRandom, "randint", OpClass::kRandom},
    {Op::kRandom, "randint_like", OpClass::kRandom},
    {Op::kRandom, "randperm", OpClass::kRandom},
    {Op::kRandom, "bernoulli", OpClass::kRandom},
    {Op::kRandom, "normal", OpClass::kRandom},
    {Op::kRandom, "uniform", OpClass::kRandom},
    {Op::kRandom, "multinomial", OpClass::kRandom},
};

constexpr const char* kClassNames[] = {
    "other", "pointwise", "view",   "copy",    "create",      "reduction", "norm",      "softmax", "scan",
    "loss",  "pooling",   "gather", "product", "convolution", "attention", "recurrent", "random"};
static_assert(std::size(kClassNames) == static_cast<size_t>(OpClass::kRandom) + 1);

constexpr size_t kOpCount = static_cast<size_t>(Op::kRandom) + 1;

// Returns the first row of each operator, indexed by Op.
const std::array<const OpRow*, kOpCount>& FirstRows() {
  static const std::array<const OpRow*, kOpCount> rows = [] {
    std::array<const OpRow*, kOpCount> first{};
    for (const OpRow& row : kOps) {
      const OpRow*& slot = first[static_cast<size_t>(row.op)];
      if (slot == nullptr) slot = &row;
    }
    return first;
  }();
  return rows;
}

}  // namespace

std::string_view BaseName(std::string_view target) {
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return target;
  target.remove_prefix(first + 1);
  return target.substr(0, target.find('.'));
}

Op OpFromTarget(std::string_view target) {
  static const std::unordered_map<std::string_view, Op> by_name = [] {
    std::unordered_map<std::string_view, Op> names;
    for (const OpRow& row : kOps) names.emplace(row.name, row.op);
    return names;
  }();
  if (!target.starts_with("aten.")) return Op::kOther;
  const auto found = by_name.find(BaseName(target));
  return found == by_name.end() ? Op::kOther : found->second;
}

const char* NameOf(Op op) {
  const OpRow* row = FirstRows()[static_cast<size_t>(op)];
  return row == nullptr ? "" : row->name;
}

OpClass ClassOf(Op op) {
  const OpRow* row = FirstRows()[static_cast<size_t>(op)];
  return row == nullptr ? OpClass::kOther : row->op_class;
}

const char* NameOf(OpClass op_class) {
  return kClassNames[static_cast<size_t>(op_class)];
}

}  // namespace hone::graph
