// Writes x = softmax(scores * factor) along k as two fp16 terms, and never in float32. The terms are those of exp(score - largest). The scale that undoes
// the scaling of a row also divides it by its sum. Macro: SOFTMAX_TURNS (how often a row contains 32 lanes of eight numbers).
__device__ __forceinline__ float share_of(float score, float factor, float most) {
    return expf(__fmul_rn(score, factor) - most);   // rounded as if the scores were scaled first
}

#ifdef SOFTMAX_TURNS
// One warp per row; rows from m.rows on are padding. shares: the largest scaled score of each row and the reciprocal of its sum, for split_plain. If a row
// has no softmax (PyTorch returns NaN), its scale is 0 and `odd` is set.
extern "C" __global__ void __launch_bounds__(256)
split_softmax(const Matrix m, char* to, float* unscale, float2* shares, float factor, const float* columns, int columns_step, u32* odd, u32* present) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, blocks = (m.width + DEPTH - 1) / DEPTH;
    const u64 padded = (u64)blockIdx.y * gridDim.x * 8 + row;   // gridDim.x * 8 is a multiple of TILE
    const float* source = matrix_at(m, blockIdx.y) + row * m.row_step;
    const bool aligned = (u64)source % 16 == 0, columns_aligned = (u64)columns % 16 == 0 && columns_step % 4 == 0;
    if (columns) columns += (u64)blockIdx.y * columns_step;
    __shared__ u32 found[(SOFTMAX_TURNS + 7) / 8];
    clear_found(found, (SOFTMAX_TURNS + 7) / 8);
    float v[SOFTMAX_TURNS][8], scale = 0.f;
    if (row < m.rows) {
        float most = -__int_as_float(INFINITE), sum = 0.f;
#pragma unroll
        for (int t = 0; t < SOFTMAX_TURNS; ++t) {
            const int left = m.width - t * 256 - lane * 8;
            load_four(source + t * 256 + lane * 8, left, aligned, v[t]);
            load_four(source + t * 256 + lane * 8 + 4, left - 4, aligned, v[t] + 4);
#pragma unroll
            for (int i = 0; i < 8; ++i)
                if (i < left) most = fmaxf(most, __fmul_rn(v[t][i], factor));
        }
        for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        u32 largest = 0;
#pragma unroll
        for (int t = 0; t < SOFTMAX_TURNS; ++t) {
            const int first = t * 256 + lane * 8;
            float of_guard[8];
            if (columns) {
                load_four(columns + first, m.width - first, columns_aligned, of_guard);
                load_four(columns + first + 4, m.width - first - 4, columns_aligned, of_guard + 4);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                v[t][i] = first + i < m.width ? share_of(v[t][i], factor, most) : 0.f;
                sum += v[t][i];
                if (columns && of_guard[i] == 0.f) v[t][i] = 0.f;   // multiplied only by zeros
                largest = max(largest, __float_as_uint(v[t][i]) & ABSOLUTE);
            }
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        largest = __reduce_max_sync(0xffffffffu, largest);
        if (sum > 0.f) scale = scale_for(largest);   // false for NaN
        if (lane == 0) {
            shares[padded] = make_float2(most, 1.f / sum);
            unscale[padded] = scale > 0.f ? 1.f / scale / sum : 0.f;
            if (odd && !(scale > 0.f)) atomicOr(odd, 1u);
        }
    }
    char* blocks_of_tile = to + padded / TILE * blocks * BLOCK_BYTES;
#pragma unroll
    for (int t = 0; t < SOFTMAX_TURNS; ++t) {
        const int chunk = t * 32 + lane;
        bool some = false;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            v[t][i] = scale > 0.f ? v[t][i] : 0.f;
            some = some || v[t][i] != 0.f;
        }
        if (chunk < blocks * (DEPTH / 8))
            write_terms(blocks_of_tile + (u64)(chunk / (DEPTH / 8)) * BLOCK_BYTES + swizzled(row % TILE, chunk % (DEPTH / 8)), v[t], scale);
        note_present(found, t * 32, some);
    }
    if (present) publish_found(found, (blocks + 31) / 32, word_of(present, padded / TILE, 0, blocks));
}
#endif
