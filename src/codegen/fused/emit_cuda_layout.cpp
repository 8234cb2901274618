// Chooses how threads and blocks cover a reduction. Block sizes and the memory for a row depend on the size
// of rows and the device.
#include "codegen/fused/emit_cuda.h"

namespace hone::fused {

namespace {

constexpr int64_t kBlockBytes = 4096;  // shared memory per block for states and the system's own use
constexpr int64_t kLargePart =
    160 << 10;  // if a block that is alone on its processor has this much of a row, it gets 1024 threads

}  // namespace

// Each row belongs to one cluster and stays in shared memory (fused_row_resident.cu). More rows on the device
// at once use the memory better, so it takes the number of blocks (2 to 16) that allows the most rows.
// Returns false if a row cannot be copied 16 bytes at a time, or no cluster holds it.
bool CudaEmitter::ChooseResident(int64_t held_bytes) {
  Layout& l = layout_;
  const int64_t vectors = length_ / l.vec, per_vector = std::max<int64_t>(1, l.vec * held_bytes);
  if (per_vector % 16 != 0) return false;
  for (size_t i = 0; i < kernel_.instructions.size(); ++i)
    if (Streams(static_cast<int>(i)) && (l.vec * graph::BytesOf(item(static_cast<int>(i)).dtype) % 16 != 0 ||
                                         !SideBySide(loads_[i], sizes_.size() - 1, l.vec)))
      return false;
  int64_t most = 0;
  for (size_t n = 0; n < device_.cluster_processors.size(); ++n) {
    const int64_t parts = int64_t{2} << n, part = Up(vectors, parts) * per_vector;
    const int64_t blocks = std::min<int64_t>(3, (device_.shared_bytes + kBlockBytes) / (part + kBlockBytes));
    if (blocks == 0) continue;
    const int64_t threads = blocks >= 3 ? 256 : blocks == 2 || part < kLargePart ? 512 : 1024;
    const int64_t per = Up(Up(vectors, parts), threads);
    if (per * threads * per_vector > device_.shared_bytes - kBlockBytes) continue;
    const int64_t clusters = device_.cluster_processors[n] * blocks / parts;
    if (clusters <= most) continue;
    most = clusters;
    l.parts = parts, l.threads = l.lanes = threads, l.per = per, l.blocks = blocks;
  }
  if (most == 0) return false;
  l.cluster = true;
  l.cache = "shared";
  return true;
}

// Keeps a row in registers, in shared memory, or in the caches. Divides rows into parts if there are few.
void CudaEmitter::ChooseRow(bool streams_once, int64_t held_bytes, size_t) {
  Layout& l = layout_;
  const int64_t vectors = length_ / l.vec, row_bytes = std::max<int64_t>(1, length_ * held_bytes);
  const int64_t per_vector = std::max<int64_t>(1, l.vec * held_bytes);
  l.group = l.vec == 1 ? 4 : 1;
  const auto registers = [&](int64_t chunk_vectors, int64_t most_threads) {
    l.cache = "registers";
    l.threads = l.lanes =
        std::clamp<int64_t>(PowerAtLeast(Up(chunk_vectors * per_vector, kRegisterBytes)), 64, most_threads);
    l.per = Up(chunk_vectors, l.threads);
  };
  const int64_t fills = 2 * device_.processors;  // enough blocks to use the whole device
  const bool large = row_bytes * rows_ > (int64_t{1} << 20);
  if (row_bytes <= 4096 && rows_ > 1) {
    l.lanes = std::min<int64_t>(32, PowerAtLeast(vectors));
    l.threads = 128;
    l.per = Up(vectors, l.lanes);
    l.cache = "registers";
  } else if (streams_once) {
    l.threads = l.lanes = std::clamp<int64_t>(PowerAtLeast(vectors / 4), 64, 512);
    l.per = std::clamp<int64_t>(64 / per_vector, 2, 8);
    if (rows_ < fills && large) {
      l.split = true;
      l.parts = std::clamp<int64_t>(Up(4 * device_.processors, rows_), 1, Up(row_bytes, 65536));
    }
  } else if (row_bytes <= 65536 && (rows_ >= device_.processors || !large)) {
    registers(vectors, 512);
  } else if (!large) {
    // Uses a single launch. If 1024 threads cannot hold a row, a cluster of up to 8 blocks can: rows here
    // have at most 1 MB.
    while (l.parts < 8 && Up(row_bytes, l.parts) > 1024 * kRegisterBytes) l.parts *= 2;
    l.cluster = l.parts > 1;
    registers(Up(vectors, l.parts), 1024);
  } else if (rows_ * 8 >= device_.processors) {
    if (!ChooseResident(held_bytes)) {
      l.cluster = true;
      for (l.parts = 2; l.parts < 8 && Up(row_bytes, l.parts) > 65536; l.parts *= 2) {
      }
      const int64_t chunk = Up(vectors, l.parts);
      if (chunk * per_vector <= 65536) {
        registers(chunk, 512);
      } else {
        l.threads = l.lanes = 512;
        l.per = std::clamp<int64_t>(64 / per_vector, 1, 4);
      }
    }
  } else {
    l.split = true;
    l.threads = l.lanes = 512;
    l.per = std::clamp<int64_t>(64 / per_vector, 1, 4);
    l.parts = std::clamp<int64_t>(Up(4 * device_.processors, rows_), 1, Up(row_bytes, 65536));
  }
  if (l.parts == 1) l.split = l.cluster = false;
  l.chunk = Up(vectors, l.parts) * l.vec;
  if (l.split) l.parts = Up(length_, l.chunk);
}

void CudaEmitter::ChooseColumn(bool streams_once, int64_t held_bytes, size_t states) {
  Layout& l = layout_;
  l.column = true;
  l.inner = sizes_.back();
  const auto shared = [&] { return l.threads * l.vec * static_cast<int64_t>(states) * kStateBytes; };
  l.threads = l.vec == 1 && states <= 3 ? 512 : 256;
  while (l.vec > 1 && shared() > 49152) l.vec /= 2;
  l.lanes = std::min<int64_t>(l.vec == 1 ? 128 : 32, PowerAtLeast(Up(l.inner, l.vec)));
  int64_t deep = std::min<int64_t>(l.threads / l.lanes, PowerAtLeast(length_));
  const auto words = [&] { return Up(length_, deep) * l.vec * std::max<int64_t>(1, held_bytes); };
  while (!streams_once && words() > kRegisterBytes && deep * l.lanes < 512 && 2 * shared() <= 49152)
    deep *= 2, l.threads *= 2;
  if (deep * l.lanes < 64) l.lanes = 64 / deep;
  l.threads = deep * l.lanes;
  const bool kept = words() <= kRegisterBytes;
  l.cache = kept ? "registers" : "none";
  l.per =
      kept ? Up(length_, deep) : std::clamp<int64_t>(64 / (l.vec * std::max<int64_t>(1, held_bytes)), 2, 8);
  l.tiles = Up(l.inner, l.lanes * l.vec);
  const int64_t blocks = rows_ / l.inner * l.tiles, fills = 4 * device_.processors;
  if (blocks < fills && length_ >= 4 * deep * l.per && rows_ * length_ * held_bytes > (int64_t{1} << 20) &&
      !kept) {
    l.parts = std::clamp<int64_t>(Up(fills, blocks), 1, length_ / (2 * deep * l.per));
    l.split = l.parts > 1;
  }
  l.chunk = Up(length_, l.parts);
  l.parts = Up(length_, l.chunk);
}

}  // namespace hone::fused
