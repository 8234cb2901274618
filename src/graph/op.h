// The operators that rewrites and emitters know, without overloads: aten.add.Tensor and aten.add.Scalar are
// both kAdd, and the node's arguments tell them apart. An unlisted operator is kOther. It keeps its name in
// the graph and runs as its ATen call.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone::graph {

// How an operator uses the elements of its tensors.
enum class OpClass {
  kOther,
  kPointwise,  // each element from elements at the same index, with broadcasting
  kView,       // the same elements in another shape; may share memory with its input
  kCopy,       // the same elements, moved: cat, flip, contiguous
  kCreate,     // from numbers alone: zeros, arange
  kReduction,  // reduces some axes
  kNorm,       // computes statistics over some axes, then works pointwise
  kSoftmax,    // softmax and log_softmax
  kScan,       // cumsum and its siblings
  kLoss,
  kPooling,
  kGather,   // elements chosen by an index
  kProduct,  // matrix products
  kConvolution,
  kAttention,
  kRecurrent,
  kRandom,
};

// clang-format off
enum class Op : uint16_t {
  kOther,
  // Pointwise, one tensor.
  kAbs, kNeg, kExp, kExp2, kExpm1, kLog, kLog2, kLog10, kLog1p, kSqrt, kRsqrt, kReciprocal, kSquare, kSin, kCos, kTan, kSinh, kCosh, kTanh,
  kAsin, kAcos, kAtan, kErf, kErfc, kSign, kFloor, kCeil, kRound, kTrunc, kSigmoid, kLogSigmoid, kRelu, kRelu6, kLeakyRelu, kElu, kSelu, kCelu,
  kGelu, kSilu, kMish, kSoftplus, kHardtanh, kHardsigmoid, kHardswish, kHardshrink, kSoftshrink, kThreshold, kClamp, kIsNan, kIsInf,
  kLogicalNot, kBitwiseNot, kNanToNum, kDropout, kToDtype,
  // Pointwise, several tensors.
  kAdd, kSub, kRsub, kMul, kDiv, kPow, kFmod, kRemainder, kMaximum, kMinimum, kAtan2, kEq, kNe, kLt, kLe, kGt, kGe,
  kLogicalAnd, kLogicalOr, kLogicalXor, kBitwiseAnd, kBitwiseOr, kBitwiseXor, kWhere, kMaskedFill, kAddcmul, kAddcdiv, kLerp, kPrelu,
  kTril, kTriu,
  // Views and copies.
  kView, kReshape, kFlatten, kUnflatten, kPermute, kTranspose, kT, kNumpyT, kSqueeze, kUnsqueeze, kExpand, kSlice, kSelect, kNarrow, kSplit,
  kChunk, kUnbind, kUnfold, kDiagonal, kDetach, kAlias, kContiguous, kClone, kLift, kCat, kStack, kFlip, kRoll, kRepeat, kPad, kPixelShuffle,
  // From numbers alone.
  kZeros, kOnes, kFull, kEmpty, kZerosLike, kOnesLike, kFullLike, kEmptyLike, kArange, kEye, kScalarTensor,
  // Reductions.
  kSum, kMean, kProd, kMax, kMin, kAmax, kAmin, kArgmax, kArgmin, kAny, kAll, kVar, kStd, kVarMean, kNorm, kLogsumexp, kTopk,
  // Norms, softmax, scans, losses.
  kBatchNorm, kLayerNorm, kGroupNorm, kInstanceNorm, kRmsNorm, kSoftmax, kLogSoftmax, kCumsum, kCumprod, kCrossEntropy, kNllLoss, kMseLoss,
  kL1Loss, kSmoothL1Loss, kHuberLoss, kKlDiv, kBinaryCrossEntropy, kBinaryCrossEntropyLogits, kHingeEmbeddingLoss, kTripletMarginLoss,
  kCosineSimilarity,
  // Pooling, gathering.
  kMaxPool, kAvgPool, kAdaptiveAvgPool, kAdaptiveMaxPool, kEmbedding, kGather, kIndex, kIndexSelect, kScatter,
  // Products, convolutions, attention, recurrence, random draws.
  kLinear, kMatmul, kMm, kBmm, kAddmm, kBaddbmm, kMv, kDot, kEinsum, kDiag, kConv, kConvTranspose, kAttention, kGru, kLstm, kRnnTanh, kRnnRelu,
  kGruCell, kLstmCell, kRnnCell, kRandom,
};
// clang-format on

struct OpRow {
  Op op;
  const char* name;  // "add"; a family of operators such as convolutions has one row for each
  OpClass op_class;
};

// Maps a node's target to an operator: "aten.add.Tensor" and "aten.add" are kAdd.
Op OpFromTarget(std::string_view target);
// Returns the operator's first name, "" for kOther.
const char* NameOf(Op op);
OpClass ClassOf(Op op);
const char* NameOf(OpClass op_class);
// Returns "relu" for "aten.relu.default".
std::string_view BaseName(std::string_view target);

}  // namespace hone::graph
