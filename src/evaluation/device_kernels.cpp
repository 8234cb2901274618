#include "evaluation/device_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/embedded.h"
#include "evaluation/kernels/host_twin.h"

namespace hone {

std::span<const EmbeddedFile> EmbeddedFiles_hone_device_ptx();

namespace {

using kernels::ComparePartial;
using kernels::DigestPartial;

// The layout of the scratch buffer: one partial result per block, the total, and the largest |truth|.
constexpr size_t kPartialBytes = std::max(sizeof(ComparePartial), sizeof(DigestPartial));
constexpr size_t kWholeAt = kPartialBytes * kernels::kMaxBlocks;
constexpr size_t kLargestAt = kWholeAt + kPartialBytes;
constexpr size_t kScratchBytes = kLargestAt + 64;

constexpr size_t kAlignment = 16;

kernels::CompareArgs ArgsFor(Dtype dtype, const void* got, size_t bytes, Dtype truth_dtype,
                             const void* truth) {
  kernels::CompareArgs args = {};
  args.got = got;
  args.truth = truth;
  args.got_number = NumberOf(dtype);
  args.truth_number = NumberOf(truth_dtype);
  args.numbers = bytes / kernels::NumberSize(args.got_number);
  // In a small integer type, 127 is a common value.
  const bool counts_poison = IsFloating(dtype) || DtypeSize(dtype) >= 4;
  args.poison_numbers = !counts_poison ? 0 : IsComplex(dtype) ? 2 : 1;
  args.atol = -1;
  return args;
}

// Adds the arguments for comparisons beyond norms. Pointers are null if a view has no such groups.
template <class Scales>
Status AddBeyond(const BeyondNorms<Scales>& beyond, const double* typical, const double* rows,
                 const double* channels, kernels::CompareArgs* args) {
  args->atol = beyond.atol;
  args->rtol = beyond.rtol;
  if (beyond.scales == nullptr) return Ok();
  const ShapeView& view = beyond.scales->view;
  if (view.numbers != args->numbers) return Error{ErrorKind::kInternal, "scales of another tensor"};
  args->typical = typical;
  args->row_scales = rows;
  args->channel_scales = channels;
  args->row_length = kernels::MakeDivisor(view.row_length);
  args->inner = kernels::MakeDivisor(view.inner);
  args->channels = kernels::MakeDivisor(view.channels);
  return Ok();
}

const double* DoublesAt(cuda::Address address) {
  return reinterpret_cast<const double*>(static_cast<uintptr_t>(address));
}

const char* DigestKernel(Dtype dtype) {
  switch (NumberOf(dtype)) {
    case kernels::kF16:
      return "hone_digest_f16";
    case kernels::kBf16:
      return "hone_digest_bf16";
    case kernels::kF32:
      return "hone_digest_f32";
    case kernels::kF64:
      return "hone_digest_f64";
    default:
      return "hone_digest_bytes";
  }
}

const void* Pointer(cuda::Address address) {
  return reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
}

Status RequireAligned(DeviceSpan span) {
  if (span.address % kAlignment == 0) return Ok();
  return Error{ErrorKind::kInternal, fmt::format("device memory at {:#x} is not aligned", span.address)};
}

}  // namespace

ComparedSums Join(const ComparedSums& first, const ComparedSums& second) {
  ComparedSums joined;
  joined.largest = std::max(first.largest, second.largest);
  joined.numbers = first.numbers + second.numbers;
  ComparePartial parts[2] = {first.partial, second.partial};
  const double largest[2] = {first.largest, second.largest};
  for (int i = 0; i < 2; ++i) {
    // If the largest value of a piece is 0, its sums are in units of 1.
    const double unit = largest[i] > 0 ? largest[i] : 1;
    const double factor = joined.largest > 0 ? unit / joined.largest : 1;
    for (double* sum : {&parts[i].difference_squared, &parts[i].truth_squared})
      if (*sum > 0) *sum *= factor * factor;  // 0 stays 0 even if the factor overflows
  }
  if (parts[1].worst_at != UINT64_MAX) parts[1].worst_at += first.numbers;
  if (parts[1].scaled_at != UINT64_MAX) parts[1].scaled_at += first.numbers;
  if (parts[1].first_non_finite != UINT64_MAX) parts[1].first_non_finite += first.numbers;
  joined.partial = Merge(parts[0], parts[1]);
  return joined;
}

Distance DistanceOf(Dtype dtype, const ComparedSums& sums) {
  const ComparePartial& partial = sums.partial;
  const uint64_t per_element = IsComplex(dtype) ? 2 : 1;
  Distance distance;
  distance.elements = sums.numbers / per_element;
  distance.poisoned = partial.poisoned;
  distance.non_finite = partial.non_finite;
  const uint64_t at = partial.non_finite > 0 ? partial.first_non_finite : partial.worst_at;
  distance.worst_at = at == UINT64_MAX ? 0 : at / per_element;
  if (sums.numbers == 0) return distance;
  const double numbers = static_cast<double>(sums.numbers);
  if (!IsFloating(dtype)) {
    distance.relative = static_cast<double>(partial.differing) / numbers;
    distance.worst = partial.worst;
    return distance;
  }
  const double worst = partial.worst * kernels::ScaleFor(sums.largest);
  const double norm = std::sqrt(partial.truth_squared);
  const double rms = norm / std::sqrt(numbers);
  const double difference = std::sqrt(partial.difference_squared);
  distance.relative = norm > 0 ? difference / norm : difference;
  distance.worst = rms > 0 ? worst / rms : worst;
  distance.typical = rms * (sums.largest > 0 ? sums.largest : 1);
  distance.largest = sums.largest;
  distance.scaled = partial.scaled;
  distance.scaled_at = partial.scaled_at == UINT64_MAX ? 0 : partial.scaled_at / per_element;
  distance.truth_non_finite = partial.truth_non_finite;
  return distance;
}

ComparedSums CompareOnHost(Dtype dtype, std::span<const std::byte> got, Dtype truth_dtype,
                           std::span<const std::byte> truth, const BeyondNorms<HostScales>& beyond) {
  kernels::CompareArgs args = ArgsFor(dtype, got.data(), got.size(), truth_dtype, truth.data());
  const HostScales* const scales = beyond.scales;
  const auto data = [](const std::vector<double>& values) {
    return values.empty() ? nullptr : values.data();
  };
  const Status fits =
      AddBeyond(beyond, scales ? &scales->typical : nullptr, scales ? data(scales->rows) : nullptr,
                scales ? data(scales->channels) : nullptr, &args);
  if (!fits.ok()) return {};
  const uint64_t tiles = kernels::CompareTiles(args.numbers);
  ComparedSums sums;
  sums.numbers = args.numbers;
  sums.largest = kernels::RunOnHost<double>(
      tiles,
      [&](uint64_t tile, unsigned thread, double* largest) { AddLargest(args, tile, thread, largest); },
      kernels::MergeLargest);
  const double scale = kernels::ScaleFor(sums.largest), typical = scales ? scales->typical : 0;
  sums.partial = kernels::RunOnHost<ComparePartial>(
      tiles,
      [&](uint64_t tile, unsigned thread, ComparePartial* partial) {
        AddCompared(args, scale, typical, tile, thread, partial);
      },
      [](const ComparePartial& a, const ComparePartial& b) { return Merge(a, b); });
  return sums;
}

Result<std::unique_ptr<DeviceKernels>> DeviceKernels::Load(std::shared_ptr<DeviceContext> context,
                                                           const std::string& ptx) {
  std::string image = ptx;  // with a terminating zero, which the driver requires
  for (const EmbeddedFile& file : EmbeddedFiles_hone_device_ptx())
    if (image.empty() && file.name == "compare.ptx") image = file.content;
  if (image.empty()) return Error{ErrorKind::kInternal, "this binary carries no kernels"};
  std::unique_ptr<DeviceKernels> made(new DeviceKernels(context));
  HONE_ASSIGN_OR_RETURN(made->scratch_, DeviceBuffer::Allocate(context, kScratchBytes, false));
  const DeviceContext::Scope scope(*context);
  HONE_RETURN_IF_ERROR(scope.status());
  HONE_RETURN_IF_ERROR(context->driver().Check(
      context->driver().ModuleLoadData(&made->module_, image.c_str()), "load Hone's kernels"));
  return made;
}

DeviceKernels::~DeviceKernels() {
  if (module_ == nullptr) return;
  const DeviceContext::Scope scope(*context_);
  context_->driver().ModuleUnload(module_);
}

Status DeviceKernels::Launch(const char* name, unsigned blocks, void** arguments) {
  const Driver& driver = context_->driver();
  cuda::Function function = nullptr;
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.ModuleGetFunction(&function, module_, name), fmt::format("find kernel {}", name)));
  return driver.Check(
      driver.LaunchKernel(function, blocks, 1, 1, kernels::kThreads, 1, 1, 0, nullptr, arguments, nullptr),
      fmt::format("start kernel {}", name));
}

Status DeviceKernels::SumScales(kernels::GroupArgs args, cuda::Address typical, cuda::Address scales) {
  const kernels::GroupPlan plan = PlanGroups(args);
  uint64_t groups = args.groups, chunks = plan.chunks;
  HONE_ASSIGN_OR_RETURN(
      const DeviceBuffer items,
      DeviceBuffer::Allocate(context_, groups * chunks * sizeof(kernels::GroupPartial), false));
  const auto blocks = [](uint64_t threads) {
    return kernels::BlocksFor((threads + kernels::kThreads - 1) / kernels::kThreads);
  };
  cuda::Address at = items.span().address;
  void* sum[] = {&args, &at};
  HONE_RETURN_IF_ERROR(Launch("hone_group_sums", blocks(groups * chunks * plan.lanes), sum));
  void* scale[] = {&at, &groups, &chunks, &typical, &scales};
  const unsigned lanes = chunks >= kernels::kLanes ? kernels::kLanes : 1;
  HONE_RETURN_IF_ERROR(Launch("hone_group_scales", blocks(groups * lanes), scale));
  // Waits, because the items are freed on return.
  return context_->driver().Check(context_->driver().CtxSynchronize(), "compute scales on the GPU");
}

Result<TruthScales> DeviceKernels::PrepareScales(Dtype dtype, Dtype truth_dtype, DeviceSpan truth,
                                                 const std::vector<int64_t>& shape) {
  HONE_RETURN_IF_ERROR(RequireAligned(truth));
  if (!IsFloating(truth_dtype)) return Error{ErrorKind::kInternal, "scales are for floating truths"};
  kernels::CompareArgs args = {};
  args.truth = Pointer(truth.address);
  args.truth_number = NumberOf(truth_dtype);
  args.numbers = truth.bytes / kernels::NumberSize(args.truth_number);
  TruthScales made;
  made.view = ViewOf(dtype, args.numbers, shape);
  if (args.numbers == 0) return made;
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  const uint64_t rows = made.view.row_length > 0 ? args.numbers / made.view.row_length : 0;
  HONE_ASSIGN_OR_RETURN(made.memory,
                        DeviceBuffer::Allocate(context_, 8 * (8 + rows + made.view.channels), false));
  made.typical = made.memory.span().address;
  if (rows > 0) made.rows = made.typical + 64;
  if (made.view.channels > 0) made.channels = made.typical + 64 + 8 * rows;

  std::vector<uint64_t> counts(kernels::kExponents);
  cuda::Address counted = scratch_.span().address;
  HONE_RETURN_IF_ERROR(driver.Check(driver.MemsetD32(counted, 0, 2 * kernels::kExponents), "prepare scales"));
  void* count[] = {&args, &counted};
  HONE_RETURN_IF_ERROR(
      Launch("hone_exponents", kernels::BlocksFor(kernels::CompareTiles(args.numbers)), count));
  HONE_RETURN_IF_ERROR(driver.Check(driver.CtxSynchronize(), "count exponents on the GPU"));
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyDtoH(counts.data(), counted, 8 * kernels::kExponents), "read exponents"));
  made.giant = GiantsFrom(counts);

  const int number = args.truth_number;
  HONE_RETURN_IF_ERROR(SumScales(WholeOf(made.view, number, args.truth, made.giant), 0, made.typical));
  if (rows > 0)
    HONE_RETURN_IF_ERROR(
        SumScales(RowsOf(made.view, number, args.truth, made.giant), made.typical, made.rows));
  if (made.view.channels > 0)
    HONE_RETURN_IF_ERROR(
        SumScales(ChannelsOf(made.view, number, args.truth, made.giant), made.typical, made.channels));
  return made;
}

Result<ComparedSums> DeviceKernels::Compare(Dtype dtype, DeviceSpan got, Dtype truth_dtype, DeviceSpan truth,
                                            const BeyondNorms<TruthScales>& beyond) {
  HONE_RETURN_IF_ERROR(RequireAligned(got));
  HONE_RETURN_IF_ERROR(RequireAligned(truth));
  kernels::CompareArgs args =
      ArgsFor(dtype, Pointer(got.address), got.bytes, truth_dtype, Pointer(truth.address));
  if (truth.bytes / kernels::NumberSize(args.truth_number) != args.numbers ||
      IsComplex(dtype) != IsComplex(truth_dtype))
    return Error{ErrorKind::kInternal,
                 fmt::format("{} bytes of {} cannot be compared with {} bytes of {}", got.bytes,
                             DtypeName(dtype), truth.bytes, DtypeName(truth_dtype))};
  const TruthScales* const scales = beyond.scales;
  HONE_RETURN_IF_ERROR(AddBeyond(beyond, scales ? DoublesAt(scales->typical) : nullptr,
                                 scales ? DoublesAt(scales->rows) : nullptr,
                                 scales ? DoublesAt(scales->channels) : nullptr, &args));
  ComparedSums sums;
  sums.numbers = args.numbers;
  if (args.numbers == 0) return sums;
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  cuda::Address partials = scratch_.span().address;
  cuda::Address whole = partials + kWholeAt, largest = partials + kLargestAt;
  unsigned blocks = kernels::BlocksFor(kernels::CompareTiles(args.numbers));
  void* first_pass[] = {&args, &partials};
  HONE_RETURN_IF_ERROR(Launch("hone_largest", blocks, first_pass));
  void* merge_first[] = {&partials, &blocks, &largest};
  HONE_RETURN_IF_ERROR(Launch("hone_merge_largest", 1, merge_first));
  void* second_pass[] = {&args, &largest, &partials};
  HONE_RETURN_IF_ERROR(Launch("hone_compare", blocks, second_pass));
  void* merge_second[] = {&partials, &blocks, &whole};
  HONE_RETURN_IF_ERROR(Launch("hone_merge_compare", 1, merge_second));
  HONE_RETURN_IF_ERROR(driver.Check(driver.CtxSynchronize(), "compare on the GPU"));
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyDtoH(&sums.partial, whole, sizeof sums.partial), "read a comparison"));
  HONE_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyDtoH(&sums.largest, largest, sizeof sums.largest), "read a comparison"));
  return sums;
}

Result<Digest> DeviceKernels::DigestOf(Dtype dtype, DeviceSpan data, uint64_t key) {
  HONE_RETURN_IF_ERROR(RequireAligned(data));
  DigestPartial sums;
  if (data.bytes == 0) return FinishDigest(sums, dtype, 0);
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  kernels::DigestArgs args = {Pointer(data.address), data.bytes, key};
  cuda::Address partials = scratch_.span().address;
  cuda::Address whole = partials + kWholeAt;
  unsigned blocks = kernels::BlocksFor(kernels::DigestTiles(data.bytes));
  void* pass[] = {&args, &partials};
  HONE_RETURN_IF_ERROR(Launch(DigestKernel(dtype), blocks, pass));
  void* merge[] = {&partials, &blocks, &whole};
  HONE_RETURN_IF_ERROR(Launch("hone_merge_digest", 1, merge));
  HONE_RETURN_IF_ERROR(driver.Check(driver.CtxSynchronize(), "digest on the GPU"));
  HONE_RETURN_IF_ERROR(driver.Check(driver.MemcpyDtoH(&sums, whole, sizeof sums), "read a digest"));
  return FinishDigest(sums, dtype, data.bytes);
}

Result<bool> DeviceKernels::Equal(DeviceSpan a, DeviceSpan b) {
  if (a.bytes != b.bytes) return false;
  if (a.bytes == 0) return true;
  HONE_RETURN_IF_ERROR(RequireAligned(a));
  HONE_RETURN_IF_ERROR(RequireAligned(b));
  const Driver& driver = context_->driver();
  const DeviceContext::Scope scope(*context_);
  HONE_RETURN_IF_ERROR(scope.status());
  cuda::Address flag = scratch_.span().address + kWholeAt;
  HONE_RETURN_IF_ERROR(driver.Check(driver.MemsetD32(flag, 0, 1), "prepare a comparison"));
  const void* left = Pointer(a.address);
  const void* right = Pointer(b.address);
  uint64_t bytes = a.bytes;
  void* arguments[] = {&left, &right, &bytes, &flag};
  HONE_RETURN_IF_ERROR(Launch("hone_differs", kernels::BlocksFor(kernels::DigestTiles(bytes)), arguments));
  HONE_RETURN_IF_ERROR(driver.Check(driver.CtxSynchronize(), "compare on the GPU"));
  unsigned differs = 1;
  HONE_RETURN_IF_ERROR(driver.Check(driver.MemcpyDtoH(&differs, flag, sizeof differs), "read a comparison"));
  return differs == 0;
}

}  // namespace hone
