// out = x w' + bias in float32, at float32's accuracy, on Hopper's fp16 tensor cores.
//
// Every row of x, and every row of each block of w, is scaled by a power of two and split into two fp16 terms, 22 bits together; three of the four
// products (high*high, high*low, low*high) go into one fp32 accumulator. Tensor cores truncate bits that do not fit the accumulator.
// Over a long k this adds up to a bias. Therefore every block of 64 k has its own accumulator. It is scaled back and added to the
// sum with ordinary, rounded additions while the next block's products run.
//
// split_product computes tiles of TILE units and TILE rows, one after another in each CTA; one warp fetches blocks, two warpgroups of 64 units multiply
// split_order   sorts tiles by their number of blocks, most first, if the numbers differ
// split_sum     adds up the results of the parts of a divided k
// split_repair  computes rows of x with an infinity or a NaN in plain float32
// part_split_operand.cu makes blocks of [term][TILE rows][DEPTH k] halves of x and w, as shared memory holds them.
//
// Blocks of x or of w that are all zeros are skipped (part_split_operand.cu has the bits of blocks). So are tiles outside of the wanted triangle.
//
// Macros: KEPT (0: the whole product is wanted; 1: elements with unit - row >= diagonal, as in triu; 2: elements with unit - row <= diagonal, as in tril),
// CLUSTER_M (CTAs of a cluster that share a block of w), CLUSTER_N (CTAs that share a block of x), TILE, DEPTH (k of a block: 128 bytes, the span of the
// swizzle), STAGES, PANEL (tiles of rows that are computed at about the same time, so that repeated reads hit L2).
@@part_split_operand.cu@@
#define SCALE_BYTES (TILE * 4)                  // of the rows of w
#define STAGE_BYTES (2 * BLOCK_BYTES + 1024)    // w, x, scales
#define SENDERS (CLUSTER_M + CLUSTER_N - 1)

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 rank) {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier), "r"(rank) : "memory");
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// `bytes` from global memory to the same place in the shared memory of every CTA in `mask`.
__device__ __forceinline__ void fetch(u32 to, const void* from, u32 bytes, u32 barrier, u16 mask, int receivers, u64 policy) {
    if (receivers > 1)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(to),
            "l"(from), "r"(bytes), "r"(barrier), "h"(mask), "l"(policy) : "memory");
    else
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from),
                     "r"(bytes), "r"(barrier), "l"(policy) : "memory");
}

// A wgmma operand in shared memory: rows of DEPTH halves in groups of eight, swizzled over the whole row.
__device__ __forceinline__ u64 descriptor(u32 address) {
    return (u64)((address & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)(DEPTH * 16 >> 4) << 32 | (u64)1 << 62;
}

#define R4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(d, i) R4(d, i), R4(d, i + 4), R4(d, i + 8), R4(d, i + 12)

// d (64 units x 128 rows) = w (64 x 16) x' (16 x 128), added to what d holds if `keep`.
__device__ __forceinline__ void multiply(float (&d)[64], u64 w, u64 x, int keep) {
    asm volatile(
        "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
        "%58, %59, %60, %61, %62, %63}, %64, %65, keep, 1, 1, 0, 0;\n}"
        : R16(d, 0), R16(d, 16), R16(d, 32), R16(d, 48)
        : "l"(w), "l"(x), "r"(keep));
}

template <int LEFT>
__device__ __forceinline__ void multiply_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

// The sizes of the product in tiles. x_tiles and w_tiles: tiles from one matrix of the batch to the next (0: all products share one matrix). In the
// result, `inner` matrices are inner_step apart, and such groups are outer_step apart. Units are adjacent. The parts of a divided k follow one another.
struct Shape {
    int rows, units, blocks, blocks_per_split, splits, batches, w_tiles, x_tiles, diagonal, inner;
    u64 row_step, inner_step, outer_step;
    __device__ __forceinline__ u64 place(int part, int batch) const {
        return (u64)part * batches * rows * units + batch / inner * outer_step + batch % inner * inner_step;
    }
    __device__ __forceinline__ int across() const { return (rows + TILE - 1) / TILE / CLUSTER_M; }
    __device__ __forceinline__ int down() const { return (units + TILE - 1) / TILE / CLUSTER_N; }
    __device__ __forceinline__ int count() const { return across() * down() * splits * batches; }
};

// Whether the kept triangle contains elements that are `from` beside the main diagonal.
__device__ __forceinline__ bool is_kept(int from, int diagonal) {
    return KEPT == 0 || (KEPT == 1 ? from >= diagonal : from <= diagonal);
}

// The first tiles of a cluster with this number, its product of the batch and its part of k.
struct Work {
    int row_tile, unit_tile, batch, part, first_block, end_block;
};

__device__ __forceinline__ Work work_at(const Shape& shape, int number) {
    const int across = shape.across(), down = shape.down();
    const int product = number / (across * down), square = number % (across * down);
    const int panel = square / (PANEL * down) * PANEL, place = square % (PANEL * down), wide = min(PANEL, across - panel);
    Work work;
    work.row_tile = (panel + place % wide) * CLUSTER_M;
    work.unit_tile = place / wide * CLUSTER_N;
    work.batch = product / shape.splits;
    work.part = product % shape.splits;
    work.first_block = work.part * shape.blocks_per_split;
    work.end_block = min(shape.blocks, work.first_block + shape.blocks_per_split);
#if KEPT == 1
    if ((work.unit_tile + CLUSTER_N) * TILE - 1 - work.row_tile * TILE < shape.diagonal) work.end_block = work.first_block;
#elif KEPT == 2
    if (work.unit_tile * TILE - (work.row_tile + CLUSTER_M) * TILE + 1 > shape.diagonal) work.end_block = work.first_block;
#endif
    return work;
}

// The blocks from 32 * word on that a tile of the cluster needs, as bits.
__device__ __forceinline__ u32 needed(const Shape& shape, const Work& work, const u32* w_present, const u32* x_present, int word) {
    u32 of_w = ~0u, of_x = ~0u;
    const int words = (shape.blocks + 31) / 32;
    if (w_present) {
        of_w = of_x = 0;
        const u32 *w_at = w_present + (u64)(work.batch * shape.w_tiles + work.unit_tile) * words + word;
        const u32 *x_at = x_present + (u64)(work.batch * shape.x_tiles + work.row_tile) * words + word;
#pragma unroll
        for (int n = 0; n < CLUSTER_N; ++n) of_w |= __ldg(w_at + n * words);
#pragma unroll
        for (int m = 0; m < CLUSTER_M; ++m) of_x |= __ldg(x_at + m * words);
    }
    u32 bits = of_w & of_x;
    const int from = work.first_block - 32 * word, left = work.end_block - 32 * word;
    if (from > 0) bits &= ~0u << from;
    if (left < 32) bits &= (1u << left) - 1;
    return bits;
}

// The next place of a cluster in the order of tiles. Every other turn goes backwards, so that no cluster gets only the longest tiles.
__device__ __forceinline__ int place_at(int turn, int first, int step) {
    return turn * step + (turn % 2 == 0 ? first : step - 1 - first);
}

// A cluster computes one tile after another. It fetches blocks of the next tile while it writes the current one. A tile that needs no block still has
// one. order: the first word tells whether the tile numbers that follow are used.
extern "C" __global__ void __launch_bounds__(384, 1)
split_product(const char* w, const char* x, const float* w_scales, const float* x_unscale, const float* bias, float* out, const Shape shape,
              const u32* w_present, const u32* x_present, const u32* order) {
    extern __shared__ __align__(1024) char shared[];
    __shared__ __align__(8) u64 full[STAGES], empty[STAGES];
    __shared__ int notes[STAGES];   // for each block: 2 * the number of its tile, plus 1 for the last block of the tile
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 stages = shared_address(shared), full_at = shared_address(full), empty_at = shared_address(empty);
    const u32 cluster_m = CLUSTER_M == 1 ? 0 : blockIdx.x % CLUSTER_M, cluster_n = CLUSTER_N == 1 ? 0 : blockIdx.y;
    const int first = blockIdx.x / CLUSTER_M, step = gridDim.x / CLUSTER_M, last = shape.count();

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(full_at + 8 * s, 1);
            barrier_init(empty_at + 8 * s, 2 * SENDERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();

    u32 passed = 0;   // blocks of earlier tiles
    if (warp >= 8) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        if (warp == 8 && lane == 0) {
            u64 once, often;
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
            asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(often));
            u16 same_w = 0, same_x = 0;
            for (int m = 0; m < CLUSTER_M; ++m) same_w |= 1 << (m + cluster_n * CLUSTER_M);
            for (int n = 0; n < CLUSTER_N; ++n) same_x |= 1 << (cluster_m + n * CLUSTER_M);
            const u32 w_share = BLOCK_BYTES / CLUSTER_M, x_share = BLOCK_BYTES / CLUSTER_N;
            const bool sorted = order && *order != 0;
            for (int turn = 0, place = first; place < last; place = place_at(++turn, first, step)) {
                const int number = sorted ? order[1 + place] : place;
                const Work work = work_at(shape, number);
                const u64 w_at = (u64)(work.batch * shape.w_tiles + work.unit_tile + cluster_n) * shape.blocks;
                const u64 x_at = (u64)(work.batch * shape.x_tiles + work.row_tile + cluster_m) * shape.blocks;
                auto send = [&](int block, int ends) {
                    const u32 stage = passed % STAGES, to = stages + stage * STAGE_BYTES, barrier = full_at + 8 * stage;
                    barrier_wait(empty_at + 8 * stage, passed / STAGES % 2 ^ 1);
                    notes[stage] = 2 * number + ends;
                    barrier_expect(barrier, 2 * BLOCK_BYTES + SCALE_BYTES);
                    fetch(to + cluster_m * w_share, w + (w_at + block) * BLOCK_BYTES + cluster_m * w_share, w_share, barrier, same_w, CLUSTER_M,
                          shape.across() > PANEL ? often : once);
                    fetch(to + BLOCK_BYTES + cluster_n * x_share, x + (x_at + block) * BLOCK_BYTES + cluster_n * x_share, x_share, barrier, same_x, CLUSTER_N, often);
                    fetch(to + 2 * BLOCK_BYTES + cluster_m * (SCALE_BYTES / CLUSTER_M),
                          (const char*)w_scales + (w_at + block) * SCALE_BYTES + cluster_m * (SCALE_BYTES / CLUSTER_M), SCALE_BYTES / CLUSTER_M, barrier, same_w,
                          CLUSTER_M, often);
                    ++passed;
                };
                int waiting = -1;   // a block is sent when the next one is known, because the last one is marked
                for (int word = work.first_block / 32; word * 32 < work.end_block; ++word)
                    for (u32 bits = needed(shape, work, w_present, x_present, word); bits != 0; bits &= bits - 1) {
                        if (waiting >= 0) send(waiting, 0);
                        waiting = word * 32 + __ffs(bits) - 1;
                    }
                send(waiting >= 0 ? waiting : work.first_block, 1);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
        const int group = warp / 4;
        float total[64], part[64], next[64];
        // Block `i` has been read: notifies all CTAs that write into its stage.
        auto release = [&](u32 i) {
            if (threadIdx.x % 128 < SENDERS) {
                const int to = threadIdx.x % 128;
                const u32 rank = to < CLUSTER_M ? to + cluster_n * CLUSTER_M
                                                : cluster_m + (to - CLUSTER_M + (to - CLUSTER_M >= (int)cluster_n)) * CLUSTER_M;
                barrier_arrive_at(empty_at + 8 * (i % STAGES), rank);
            }
        };
        const int scale_at = 2 * BLOCK_BYTES + 4 * (group * 64 + warp % 4 * 16 + lane / 4);
        // Starts the products of block `i` into `to` and does not wait for them. Returns the scales of the thread's two units.
        auto start = [&](u32 i, float (&to)[64], int* note) {
            const u32 stage = i % STAGES;
            const u64 high_w = descriptor(stages + stage * STAGE_BYTES + group * (PART_BYTES / 2)), low_w = high_w + (PART_BYTES >> 4);
            const u64 high_x = descriptor(stages + stage * STAGE_BYTES + BLOCK_BYTES), low_x = high_x + (PART_BYTES >> 4);
            barrier_wait(full_at + 8 * stage, i / STAGES % 2);
            const float* scales = (const float*)(shared + stage * STAGE_BYTES + scale_at);   // read before the products end, because the stage is free after that
            const float2 scale = make_float2(scales[0], scales[8]);
            *note = notes[stage];
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int k = 0; k < DEPTH / 16; ++k) {
                multiply(to, low_w + 2 * k, high_x + 2 * k, k);
                multiply(to, high_w + 2 * k, low_x + 2 * k, 1);
                multiply(to, high_w + 2 * k, high_x + 2 * k, 1);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            return scale;
        };
        auto add = [&](const float (&part)[64], float2 scale) {
#pragma unroll
            for (int j = 0; j < 64; ++j) total[j] = fmaf(part[j], j % 4 < 2 ? scale.x : scale.y, total[j]);
        };
        for (int turn = 0, place = first; place < last; place = place_at(++turn, first, step)) {
#pragma unroll
            for (int i = 0; i < 64; ++i) total[i] = 0.f;
            int note;
            do {
                const float2 scale = start(passed, part, &note);
                if (note % 2 != 0) {
                    multiply_wait<0>();
                    release(passed);
                    add(part, scale);
                    ++passed;
                } else {
                    const float2 next_scale = start(passed + 1, next, &note);
                    multiply_wait<1>();
                    release(passed);
                    add(part, scale);
                    multiply_wait<0>();
                    release(passed + 1);
                    add(next, next_scale);
                    passed += 2;
                }
            } while (note % 2 == 0);
            const Work work = work_at(shape, note / 2);
            const int rows = shape.rows, units = shape.units;
            const int unit = (work.unit_tile + cluster_n) * TILE + group * 64 + warp % 4 * 16 + lane / 4;
            const int row = (work.row_tile + cluster_m) * TILE + lane % 4 * 2;
            // All scales are requested before the first store. They are padded to whole tiles.
            float2 x_scale[16];
#pragma unroll
            for (int j = 0; j < 16; ++j) x_scale[j] = __ldg((const float2*)(x_unscale + (u64)work.batch * shape.x_tiles * TILE + row + 8 * j));
            const bool near = unit < units, far = unit + 8 < units, whole = shape.splits == 1 && bias;
            const float near_bias = whole && near ? __ldg(bias + unit) : 0.f, far_bias = whole && far ? __ldg(bias + unit + 8) : 0.f;
            float* to = out + shape.place(work.part, work.batch) + row * shape.row_step + unit;
#pragma unroll
            for (int j = 0; j < 16; ++j)
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    if (row + 8 * j + c >= rows) continue;
                    const float scale = c == 0 ? x_scale[j].x : x_scale[j].y;
                    float* at = to + (8 * j + c) * shape.row_step;
                    const int from = unit - row - 8 * j - c;   // the diagonal
                    if (near) at[0] = is_kept(from, shape.diagonal) ? total[4 * j + c] * scale + near_bias : 0.f;
                    if (far) at[8] = is_kept(from + 8, shape.diagonal) ? total[4 * j + 2 + c] * scale + far_bias : 0.f;
                }
        }
    }
    cluster_sync();
}

// One CTA. order: a word that tells whether tiles differ, followed by the tile numbers, those with the most blocks first.
extern "C" __global__ void __launch_bounds__(1024)
split_order(const Shape shape, const u32* w_present, const u32* x_present, u32* order) {
    __shared__ u32 at[64];
    const int words = (shape.blocks + 31) / 32, last = shape.count();
    bool differ = KEPT != 0;
    auto look = [&](const u32* present, int tiles) {
        for (int i = threadIdx.x; i < tiles * words && !differ; i += 1024) {
            const int left = shape.blocks - i % words * 32;
            differ = __ldcg(present + i) != (left < 32 ? (1u << left) - 1 : ~0u);
        }
    };
    look(w_present, shape.w_tiles > 0 ? shape.w_tiles * shape.batches : (shape.units + TILE - 1) / TILE);
    look(x_present, shape.x_tiles > 0 ? shape.x_tiles * shape.batches : (shape.rows + TILE - 1) / TILE);
    const bool sorts = __syncthreads_or(differ);
    if (threadIdx.x == 0) order[0] = sorts;
    if (!sorts) return;
    if (threadIdx.x < 64) at[threadIdx.x] = 0;
    __syncthreads();
    auto class_of = [&](int number) {
        const Work work = work_at(shape, number);
        int count = 0;
        for (int word = work.first_block / 32; word * 32 < work.end_block; ++word) count += __popc(needed(shape, work, w_present, x_present, word));
        return 63 - count * 63 / shape.blocks_per_split;
    };
    for (int number = threadIdx.x; number < last; number += 1024) atomicAdd(at + class_of(number), 1u);
    __syncthreads();
    if (threadIdx.x == 0)
        for (u32 i = 0, sum = 0; i < 64; ++i) {
            const u32 count = at[i];
            at[i] = sum;
            sum += count;
        }
    __syncthreads();
    for (int number = threadIdx.x; number < last; number += 1024) order[1 + atomicAdd(at + class_of(number), 1u)] = number;
}

extern "C" __global__ void __launch_bounds__(256)
split_sum(const float* partial, const float* bias, float* out, u64 size, int units, int splits) {
    for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < size; i += gridDim.x * 256ull) {
        float sum = partial[i];
        for (int s = 1; s < splits; ++s) sum += partial[s * size + i];
        out[i] = bias ? sum + bias[i % units] : sum;
    }
}

// A row of x with an infinity or a NaN has no scale. Its products are computed one by one, as PyTorch does. A CTA checks 256 rows.
extern "C" __global__ void __launch_bounds__(256)
split_repair(const float* x, const float* w, const float* x_unscale, const float* bias, float* out, int rows, int units, int width) {
    const int first = blockIdx.x * 256, lane = threadIdx.x % 32;
    const bool odd = first + threadIdx.x < rows && !(x_unscale[first + threadIdx.x] > 0.f);
    if (!__syncthreads_or(odd)) return;
    for (int m = first; m < min(rows, first + 256); ++m) {
        if (x_unscale[m] > 0.f) continue;
        const float* row = x + (u64)m * width;
        for (int unit = blockIdx.y * 8 + threadIdx.x / 32; unit < units; unit += gridDim.y * 8) {
            float sum = 0.f;
            for (int k = lane; k < width; k += 32) sum = fmaf(row[k], w[(u64)unit * width + k], sum);
            for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
            if (lane == 0) out[(u64)m * units + unit] = bias ? sum + bias[unit] : sum;
        }
    }
}
