// Converts a float32 matrix to two fp16 terms per number, in the blocks that split_product reads.
//
// split_blocks   w; a row has a scale in every block, so that w is read once
// split_short_rows  x whose rows lie along k; a row has one scale, and stays in the registers of a warp
// split_rows     the same for longer rows, which are read twice
// split_columns  x whose rows lie across k; a block is transposed in shared memory
// split_measure  for split_columns: the largest number of every row, and of every k
//
// Numbers of a row are rounded to 2^-39 of the row's largest number. This error is as small as float32's own, unless some k of the other matrix have
// much larger numbers than other k. So one of the two matrices is the guard. The largest numbers of its columns (a column is all numbers of one k)
// must lie within COLUMN_BITS powers of two. A column of the guard that is all zeros has no influence. It is left out of the other matrix, where it
// could hold the largest number of a row.
//
// present: one bit per block, in memory that is zero before. Each tile of rows has its own words. A bit is set if a term of the block is not zero, and
// split_product skips blocks that meet only zeros. A row that is not finite counts as zeros, because its products are computed elsewhere.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#define PART_BYTES (TILE * DEPTH * 2)   // one term of a block
#define BLOCK_BYTES (2 * PART_BYTES)
#define INFINITE 0x7f800000u            // absolute values compare like integers, and NaN is the largest
#define ABSOLUTE 0x7fffffffu
#define MEASURED_LINES 64
#define ROW_TURNS 4   // turns of 32 lanes with eight numbers each per short row

// One matrix or a batch of them, `inner` matrices inner_step apart, and again after outer_step. All steps count floats.
struct Matrix {
    const float* at;
    u64 row_step, k_step, inner_step, outer_step;
    int inner, rows, width;
};

__device__ __forceinline__ const float* matrix_at(const Matrix& m, u32 batch) {
    return m.at + batch / m.inner * m.outer_step + batch % m.inner * m.inner_step;
}

// Offset within one term of a block of the 16 bytes with the row's halves from 8 * chunk on.
__device__ __forceinline__ u32 swizzled(u32 row, u32 chunk) {
    return row * (DEPTH * 2) + ((chunk ^ (row & 7)) << 4);
}

@@part_halves.cu@@

// The scale of an operand; 0 if there is none.
__device__ __forceinline__ float scale_for(u32 largest) {
    if (largest >= INFINITE) return 0.f;
    return upper_end_scale(largest);
}

// Writes both terms of eight numbers to their place in a block.
__device__ __forceinline__ void write_terms(char* block, const float (&v)[8], float scale) {
    u32 high[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float a = v[2 * i] * scale, b = v[2 * i + 1] * scale;
        high[i] = pack_halves(a, b);
        const float2 kept = unpack_halves(high[i]);
        low[i] = pack_halves(a - kept.x, b - kept.y);
    }
    *(uint4*)block = make_uint4(high[0], high[1], high[2], high[3]);
    *(uint4*)(block + PART_BYTES) = make_uint4(low[0], low[1], low[2], low[3]);
}

// 0 for a number that is multiplied only by zeros of the other matrix. A non-finite number stays, because it turns them into NaN.
__device__ __forceinline__ float unless_masked(float v, bool masked) {
    return masked && (__float_as_uint(v) & ABSOLUTE) < INFINITE ? 0.f : v;
}

// The word with the bit of a block of a tile of rows.
__device__ __forceinline__ u32* word_of(u32* present, u64 tile, int block, int blocks) {
    return present + tile * ((blocks + 31) / 32) + block / 32;
}

__device__ __forceinline__ void set_bits(u32* word, u32 bits) {
    if ((__ldcg(word) & bits) != bits) atomicOr(word, bits);
}

// Collects the words of a CTA in shared memory. Otherwise all rows of all tiles would compete for the few cache lines of `present`.
#define FOUND_WORDS 256

// Sets the bits of the blocks in which a warp wrote chunks, in `found`. `chunk` is the chunk of its first lane. `some`: this lane's chunk is not zero.
__device__ __forceinline__ void note_present(u32* found, int chunk, bool some) {
    const u32 lanes = __ballot_sync(0xffffffffu, some);
    if (threadIdx.x % 32 != 0 || lanes == 0) return;
    u32 bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) bits |= (lanes >> 8 * i & 0xff) != 0 ? 1u << i : 0u;
    atomicOr(found + chunk / (DEPTH / 8) / 32, bits << chunk / (DEPTH / 8) % 32);
}

__device__ __forceinline__ void clear_found(u32* found, int words) {
    for (int i = threadIdx.x; i < words; i += blockDim.x) found[i] = 0;
    __syncthreads();
}

__device__ __forceinline__ void publish_found(const u32* found, int words, u32* present) {
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        if (found[i] != 0) set_bits(present + i, found[i]);
}

// Loads four adjacent floats; those from `left` on are 0.
__device__ __forceinline__ void load_four(const float* at, int left, bool aligned, float* v) {
    if (aligned && left >= 4) {
        *(float4*)v = *(const float4*)at;
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) v[i] = i < left ? at[i] : 0.f;  // hone: allow uncoalesced-access
    }
}

// The last CTA of a matrix sets `wide` if the columns differ by too much or are not finite. With `strict` it also does so if a column is all zeros.
__device__ __forceinline__ void check_columns(const u32* columns, int width, u32* counter, u32* wide, bool strict) {
    __shared__ u32 last, largest, smallest;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1u) == gridDim.x * gridDim.y - 1;
        largest = 0;
        smallest = ABSOLUTE;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    u32 most = 0, least = ABSOLUTE;
    for (int k = threadIdx.x; k < width; k += 256 * 8) {
        u32 of_column[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) of_column[i] = k + 256 * i < width ? __ldcg(columns + k + 256 * i) : 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            most = max(most, of_column[i]);
            if (of_column[i] > 0 || strict && k + 256 * i < width) least = min(least, of_column[i]);
        }
    }
    atomicMax(&largest, most);
    atomicMin(&smallest, least);
    __syncthreads();
    // From 2^90 on a sum of products could overflow before scaling, and below 2^-100 terms would lose bits.
    if (threadIdx.x == 0 && largest > 0)
        if ((smallest >> 23) + COLUMN_BITS < (largest >> 23) || largest < (27u << 23) || largest >= (217u << 23)) atomicOr(wide, 1u);
}

// One CTA per block of TILE rows and DEPTH k. scales: for each row of a block, the factor that undoes its scaling. It is 0 if a number is not finite;
// the row's word of odd_rows and `odd` are then set. columns: the largest number of every k, in memory that is zero before. The host checks weights
// itself and passes no columns.
extern "C" __global__ void __launch_bounds__(256)
split_blocks(const Matrix m, char* to, float* scales, u32* columns, u32* counters, u32* wide, int strict, u32* odd_rows, u32* odd, u32* present) {
    // Four rows are 16 bytes. Their place among the 32 rows of a k depends on k / 8, so that reading a row has no bank conflicts.
    __shared__ __align__(16) float turned[DEPTH][TILE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_row = blockIdx.x * TILE, first_k = blockIdx.y * DEPTH;
    const float* source = matrix_at(m, blockIdx.z);
    const bool along_k = m.k_step == 1;
    const bool aligned = (u64)m.at % 16 == 0 && (along_k ? m.row_step : m.k_step) % 4 == 0 && m.inner_step % 4 == 0 && m.outer_step % 4 == 0;
    float v[8][4];
    if (along_k) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = first_row + i * 16 + threadIdx.x / 16, k = first_k + threadIdx.x % 16 * 4;
            load_four(source + row * m.row_step + k, row < m.rows ? m.width - k : 0, aligned, v[i]);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = i * 16 + threadIdx.x / 16, k = threadIdx.x % 16 * 4;
#pragma unroll
            for (int j = 0; j < 4; ++j) turned[k + j][(row / 4 ^ k / 8) * 4 + row % 4] = v[i][j];
        }
    } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = first_row + lane * 4, k = first_k + warp * 8 + i;
            load_four(source + row + k * m.k_step, k < m.width ? m.rows - row : 0, aligned, v[i]);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) *(float4*)&turned[warp * 8 + i][(lane ^ warp) * 4] = *(float4*)v[i];  // hone: allow missing-sync
    }
    __syncthreads();
    if (columns) {
        columns += (u64)blockIdx.z * m.width;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float4 four = *(const float4*)&turned[warp * 8 + i][lane * 4];
            u32 largest = max(max(__float_as_uint(four.x) & ABSOLUTE, __float_as_uint(four.y) & ABSOLUTE), max(__float_as_uint(four.z) & ABSOLUTE, __float_as_uint(four.w) & ABSOLUTE));
            largest = __reduce_max_sync(0xffffffffu, largest);
            if (lane == 0 && first_k + warp * 8 + i < m.width && largest > 0) atomicMax(columns + first_k + warp * 8 + i, largest);
        }
    }
    const u64 block = ((u64)blockIdx.z * gridDim.x + blockIdx.x) * gridDim.y + blockIdx.y;
    bool some = false;
#pragma unroll
    for (int i = 0; i < TILE / 32; ++i) {
        const int row = i * 32 + threadIdx.x / 8, chunk = threadIdx.x % 8;
        float of_row[8];
        u32 largest = 0;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            of_row[j] = turned[chunk * 8 + j][(row / 4 ^ chunk) * 4 + row % 4];
            largest = max(largest, __float_as_uint(of_row[j]) & ABSOLUTE);
        }
#pragma unroll
        for (int step = 4; step > 0; step /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, step));
        const float scale = scale_for(largest);
        some = some || (largest > 0 && scale > 0.f);
#pragma unroll
        for (int j = 0; j < 8; ++j) of_row[j] = scale > 0.f ? of_row[j] : 0.f;
        write_terms(to + block * BLOCK_BYTES + swizzled(row, chunk), of_row, scale);
        if (chunk == 0) {
            scales[block * TILE + row] = scale > 0.f ? 1.f / scale : 0.f;
            if (odd && !(scale > 0.f) && first_row + row < m.rows) {
                odd_rows[(u64)blockIdx.z * m.rows + first_row + row] = 1;
                *odd = 1;
            }
        }
    }
    if (present && __syncthreads_or(some) && threadIdx.x == 0)
        set_bits(word_of(present, (u64)blockIdx.z * gridDim.x + blockIdx.x, blockIdx.y, gridDim.y), 1u << blockIdx.y % 32);
    if (columns) check_columns(columns, m.width, counters + blockIdx.z, wide, strict != 0);
}

// One warp per row, which is 256 * ROW_TURNS numbers long at most. The arguments are those of split_rows.
extern "C" __global__ void __launch_bounds__(256)
split_short_rows(const Matrix m, char* to, float* unscale, const float* columns, int columns_step, const u32* largest_of, u32* odd, u32* present) {
    const int lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32, blocks = (m.width + DEPTH - 1) / DEPTH;
    const u64 padded = (u64)blockIdx.y * gridDim.x * 8 + row;   // gridDim.x * 8 is a multiple of TILE here
    const float* source = matrix_at(m, blockIdx.y) + row * m.row_step;
    const bool aligned = (u64)source % 16 == 0, columns_aligned = (u64)columns % 16 == 0 && columns_step % 4 == 0;
    if (columns) columns += (u64)blockIdx.y * columns_step;
    __shared__ u32 found[1];   // for 1024 numbers
    clear_found(found, 1);
    float v[ROW_TURNS][8];
    u32 largest = 0;
#pragma unroll
    for (int t = 0; t < ROW_TURNS; ++t) {
        const int at = (t * 32 + lane) * 8, left = row < m.rows ? m.width - at : 0;
        load_four(source + at, left, aligned, v[t]);
        load_four(source + at + 4, left - 4, aligned, v[t] + 4);
    }
#pragma unroll
    for (int t = 0; t < ROW_TURNS; ++t) {
        const int at = (t * 32 + lane) * 8;
        if (columns) {
            float of_guard[8];
            load_four(columns + at, m.width - at, columns_aligned, of_guard);
            load_four(columns + at + 4, m.width - at - 4, columns_aligned, of_guard + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i) v[t][i] = unless_masked(v[t][i], of_guard[i] == 0.f);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) largest = max(largest, __float_as_uint(v[t][i]) & ABSOLUTE);
    }
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (largest_of && row < m.rows) largest = largest_of[(u64)blockIdx.y * m.rows + row];
    const float scale = row < m.rows ? scale_for(largest) : 0.f;
    if (lane == 0 && row < m.rows) {
        unscale[padded] = scale > 0.f ? 1.f / scale : 0.f;
        if (odd && !(scale > 0.f)) atomicOr(odd, 1u);
    }
    char* blocks_of_tile = to + padded / TILE * blocks * BLOCK_BYTES;
#pragma unroll
    for (int t = 0; t < ROW_TURNS; ++t) {
        const int chunk = t * 32 + lane;
        bool some = false;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            v[t][i] = scale > 0.f ? v[t][i] : 0.f;
            some = some || v[t][i] != 0.f;
        }
        if (t * 32 >= blocks * (DEPTH / 8)) break;
        if (chunk < blocks * (DEPTH / 8))
            write_terms(blocks_of_tile + (u64)(chunk / (DEPTH / 8)) * BLOCK_BYTES + swizzled(row % TILE, chunk % (DEPTH / 8)), v[t], scale);
        note_present(found, t * 32, some);
    }
    if (present) publish_found(found, 1, word_of(present, padded / TILE, 0, blocks));   // a CTA's rows are of one tile
}
// One CTA per row; rows from m.rows on are padding. For a row that is not finite, unscale is 0 and `odd` is set. columns: those of the guard, if m is
// not the guard. largest: the largest number of each row, if it was measured.
extern "C" __global__ void __launch_bounds__(1024)
split_rows(const Matrix m, char* to, float* unscale, const float* columns, int columns_step, const u32* largest_of, u32* odd, u32* present) {
    __shared__ u32 warp_largest[32];
    const int row = blockIdx.x, blocks = (m.width + DEPTH - 1) / DEPTH, chunks = blocks * (DEPTH / 8);
    const float* source = matrix_at(m, blockIdx.y) + row * m.row_step;
    const bool aligned = (u64)source % 16 == 0, columns_aligned = (u64)columns % 16 == 0 && columns_step % 4 == 0;
    const u64 padded = (u64)blockIdx.y * gridDim.x + row;   // gridDim.x is a multiple of TILE
    if (columns) columns += (u64)blockIdx.y * columns_step;
    auto load = [&](int chunk, float (&v)[8]) {
        load_four(source + chunk * 8, m.width - chunk * 8, aligned, v);
        load_four(source + chunk * 8 + 4, m.width - chunk * 8 - 4, aligned, v + 4);
        if (columns) {
            float of_guard[8];
            load_four(columns + chunk * 8, m.width - chunk * 8, columns_aligned, of_guard);
            load_four(columns + chunk * 8 + 4, m.width - chunk * 8 - 4, columns_aligned, of_guard + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i) v[i] = unless_masked(v[i], of_guard[i] == 0.f);
        }
    };
    float scale = 0.f;
    if (row < m.rows) {
        u32 largest = 0;
        if (largest_of) {
            largest = largest_of[(u64)blockIdx.y * m.rows + row];
        } else {
            for (int chunk = threadIdx.x; chunk < chunks; chunk += blockDim.x) {
                float v[8];
                load(chunk, v);
#pragma unroll
                for (int i = 0; i < 8; ++i) largest = max(largest, __float_as_uint(v[i]) & ABSOLUTE);
            }
            largest = __reduce_max_sync(0xffffffffu, largest);
            if (threadIdx.x % 32 == 0) warp_largest[threadIdx.x / 32] = largest;
            __syncthreads();
            largest = __reduce_max_sync(0xffffffffu, threadIdx.x % 32 < blockDim.x / 32 ? warp_largest[threadIdx.x % 32] : 0);
        }
        scale = scale_for(largest);
        if (threadIdx.x == 0) {
            unscale[padded] = scale > 0.f ? 1.f / scale : 0.f;
            if (odd && !(scale > 0.f)) atomicOr(odd, 1u);
        }
    }
    char* blocks_of_tile = to + padded / TILE * blocks * BLOCK_BYTES;
    __shared__ u32 found[FOUND_WORDS];
    const int words = (blocks + 31) / 32;
    const bool gathers = words <= FOUND_WORDS;
    if (gathers) clear_found(found, words);
    for (int first = threadIdx.x & ~31; first < chunks; first += blockDim.x) {   // first chunk of the warp
        const int chunk = first + threadIdx.x % 32;
        float v[8] = {};
        if (scale > 0.f && chunk < chunks) load(chunk, v);
        if (chunk < chunks)
            write_terms(blocks_of_tile + (u64)(chunk / (DEPTH / 8)) * BLOCK_BYTES + swizzled(row % TILE, chunk % (DEPTH / 8)), v, scale);
        bool some = false;
#pragma unroll
        for (int i = 0; i < 8; ++i) some = some || v[i] != 0.f;
        if (present) note_present(gathers ? found : word_of(present, padded / TILE, 0, blocks), first, some);
    }
    if (present && gathers) publish_found(found, words, word_of(present, padded / TILE, 0, blocks));
}

// One CTA per block of TILE rows and DEPTH k; rows lie side by side in memory. The rows were measured.
extern "C" __global__ void __launch_bounds__(256)
split_columns(const Matrix m, char* to, float* unscale, const u32* columns, int columns_step, const u32* largest_of, u32* odd, u32* present) {
    __shared__ __align__(16) float turned[DEPTH][TILE];   // as split_blocks has it
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k_block = gridDim.y - 1 - blockIdx.y;   // what was measured last is in L2
    const int first_row = blockIdx.x * TILE, first_k = k_block * DEPTH;
    const float* source = matrix_at(m, blockIdx.z) + first_row;
    const bool aligned = (u64)m.at % 16 == 0 && m.k_step % 4 == 0 && m.inner_step % 4 == 0 && m.outer_step % 4 == 0;
#pragma unroll
    for (int i = 0; i < DEPTH / 8; ++i) {
        const int k = warp + 8 * i, at = first_k + k;
        float v[4] = {};
        if (at < m.width && !(columns && columns[(u64)blockIdx.z * columns_step + at] == 0))
            load_four(source + at * m.k_step + lane * 4, m.rows - first_row - lane * 4, aligned, v);
        *(float4*)&turned[k][(lane ^ (k / 8)) * 4] = *(float4*)v;
    }
    __syncthreads();
    char* block = to + (((u64)blockIdx.z * gridDim.x + blockIdx.x) * gridDim.y + k_block) * BLOCK_BYTES;
    bool some = false;
#pragma unroll
    for (int i = 0; i < TILE / 32; ++i) {
        const int row = i * 32 + threadIdx.x / 8, chunk = threadIdx.x % 8;
        const float scale = first_row + row < m.rows ? scale_for(largest_of[(u64)blockIdx.z * m.rows + first_row + row]) : 0.f;
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            v[j] = scale > 0.f ? turned[chunk * 8 + j][(row / 4 ^ chunk) * 4 + row % 4] : 0.f;
            some = some || v[j] != 0.f;
        }
        write_terms(block + swizzled(row, chunk), v, scale);
        if (k_block == 0 && chunk == 0 && first_row + row < m.rows) {
            unscale[((u64)blockIdx.z * gridDim.x + blockIdx.x) * TILE + row] = scale > 0.f ? 1.f / scale : 0.f;
            if (odd && !(scale > 0.f)) atomicOr(odd, 1u);
        }
    }
    if (present && __syncthreads_or(some) && threadIdx.x == 0)
        set_bits(word_of(present, (u64)blockIdx.z * gridDim.x + blockIdx.x, k_block, gridDim.y), 1u << k_block % 32);
}

// Finds the largest absolute values, as integers, in memory that is zero before: of `fast` adjacent places and of `slow` lines. One CTA reads 128
// places of MEASURED_LINES lines. If k_step is 1, the fast axis is k, otherwise rows. The last CTA of a matrix checks the columns and sets `wide`.
extern "C" __global__ void __launch_bounds__(256)
split_measure(const Matrix m, u32* rows, u32* columns, u32* counters, u32* wide, const u32* masks, int masks_step) {
    __shared__ u32 places[8][128];
    const bool along_k = m.k_step == 1;
    const int fast = along_k ? m.width : m.rows, slow = along_k ? m.rows : m.width, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u64 step = along_k ? m.row_step : m.k_step;
    rows += (u64)blockIdx.z * m.rows;
    columns += (u64)blockIdx.z * m.width;
    if (masks) masks += (u64)blockIdx.z * masks_step;
    const int place = blockIdx.x * 128 + lane * 4, line = blockIdx.y * MEASURED_LINES + warp;
    const float* source = matrix_at(m, blockIdx.z) + place;
    const bool aligned = (u64)m.at % 16 == 0 && step % 4 == 0 && m.inner_step % 4 == 0 && m.outer_step % 4 == 0;
    bool masked[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) masked[j] = masks && along_k && place + j < fast && masks[place + j] == 0;
    u32 largest[4] = {};
    float v[MEASURED_LINES / 8][4];
#pragma unroll
    for (int i = 0; i < MEASURED_LINES / 8; ++i)
        load_four(source + (line + 8 * i) * step, line + 8 * i < slow ? fast - place : 0, aligned, v[i]);
#pragma unroll
    for (int i = 0; i < MEASURED_LINES / 8; ++i) {
        const int at = line + 8 * i;
        u32 of_line = 0;
        const bool skip = masks && !along_k && at < slow && masks[at] == 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const u32 bits = __float_as_uint(unless_masked(v[i][j], masked[j] || skip)) & ABSOLUTE;
            largest[j] = max(largest[j], bits);
            of_line = max(of_line, bits);
        }
        of_line = __reduce_max_sync(0xffffffffu, of_line);
        if (lane == 0 && at < slow && of_line > 0) atomicMax((along_k ? rows : columns) + at, of_line);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) places[warp][lane * 4 + j] = largest[j];
    __syncthreads();
    if (threadIdx.x < 128 && blockIdx.x * 128 + threadIdx.x < fast) {
        u32 most = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) most = max(most, places[i][threadIdx.x]);
        if (most > 0) atomicMax((along_k ? columns : rows) + blockIdx.x * 128 + threadIdx.x, most);
    }
    check_columns(columns, m.width, counters + blockIdx.z, wide, false);
}
