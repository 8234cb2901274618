// out[m][n] = sum over k of a[m][k] * w[n][k] (+ bias[n]) in fp32 storage on the TF32 tensor cores, sm_80 and later.
//
// PRODUCTS 1 rounds both operands to TF32; PRODUCTS 3 splits each in two TF32 terms and adds the three large products,
// about fp32. The tensor cores round their sums towards zero, so a partial sum spans 32 k at most and is then added in
// fp32. Tiles of 64 x 64, 256 threads, three stages of asynchronous copies. VECTOR 4 needs k and the row lengths to be
// multiples of four and 16-byte aligned operands; VECTOR 1 takes anything.

#ifndef PRODUCTS
#define PRODUCTS 1
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#define TILE 64
#define DEPTH 32
#define PITCH (DEPTH + 4)
#define STAGES 3
#define STAGE_FLOATS (2 * TILE * PITCH)

typedef unsigned int u32;

__device__ __forceinline__ u32 to_tf32(float x) {
    u32 r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
__device__ __forceinline__ void mma_tf32(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Loads 64 rows by DEPTH floats. Elements outside [rows) x [k) become zero.
__device__ __forceinline__ void load_tile(float* to, const float* from, long long row_length, int first_row, int rows, int first_k, int k) {
    for (int i = threadIdx.x; i < TILE * DEPTH / VECTOR; i += 256) {
        const int row = i / (DEPTH / VECTOR), column = i % (DEPTH / VECTOR) * VECTOR;
        const bool inside = first_row + row < rows && first_k + column < k;
        const float* source = inside ? from + (first_row + row) * row_length + first_k + column : from;
        const u32 target = (u32)__cvta_generic_to_shared(to + row * PITCH + column);
        const int bytes = inside ? 4 * VECTOR : 0;
        if (VECTOR == 4) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
        else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
    }
}

extern "C" __global__ void __launch_bounds__(256) product_tf32(const float* a, const float* w, const float* bias, float* out,
                                                               long long a_row, long long out_row, int m, int n, int k) {
    extern __shared__ __align__(16) float shared_floats[];
    asm volatile("griddepcontrol.launch_dependents;");
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE, blocks = (k + DEPTH - 1) / DEPTH;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const int row = warp % 4 * 16 + g, column = warp / 4 * 32 + g;   // of the fragments, within the tile

    auto fetch = [&](int block) {
        if (block < blocks) {
            float* stage = shared_floats + block % STAGES * STAGE_FLOATS;
            load_tile(stage, a, a_row, first_row, m, block * DEPTH, k);
            load_tile(stage + TILE * PITCH, w, k, first_column, n, block * DEPTH, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float total[4][4] = {};
    for (int i = 0; i < STAGES - 1; ++i) fetch(i);
    for (int block = 0; block < blocks; ++block) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        fetch(block + STAGES - 1);
        const float* stage_a = shared_floats + block % STAGES * STAGE_FLOATS;
        const float* stage_w = stage_a + TILE * PITCH;
        float part[4][4] = {}, small[4][4] = {};
#pragma unroll
        for (int kk = 0; kk < DEPTH; kk += 8) {
            u32 high_a[4], low_a[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float v = stage_a[(row + 8 * (i & 1)) * PITCH + kk + q + 4 * (i >> 1)];
                high_a[i] = to_tf32(v);
                low_a[i] = to_tf32(v - __uint_as_float(high_a[i]));
            }
#pragma unroll
            for (int tile = 0; tile < 4; ++tile) {
                u32 high_b[2], low_b[2];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const float v = stage_w[(column + 8 * tile) * PITCH + kk + q + 4 * i];
                    high_b[i] = to_tf32(v);
                    low_b[i] = to_tf32(v - __uint_as_float(high_b[i]));
                }
                mma_tf32(part[tile], high_a, high_b);
                if (PRODUCTS == 3) {
                    mma_tf32(small[tile], low_a, high_b);
                    mma_tf32(small[tile], high_a, low_b);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < 4; ++tile)
#pragma unroll
            for (int i = 0; i < 4; ++i) total[tile][i] += PRODUCTS == 3 ? part[tile][i] + small[tile][i] : part[tile][i];
    }
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int r = first_row + row + 8 * (i >> 1), c = first_column + warp / 4 * 32 + 8 * tile + 2 * q + (i & 1);
            if (r < m && c < n) out[r * out_row + c] = total[tile][i] + (bias ? bias[c] : 0.f);
        }
}
