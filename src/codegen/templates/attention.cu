// softmax(q k' scale) v at float32's accuracy on the fp16 tensor cores, in one pass over the keys. The scores never leave the chip.
// attention_split writes an operand as two fp16 terms, in blocks of 64 rows. A power of two scales each block so that its largest element is in
// 2^13..2^14. Both terms together then hold 22 bits, also of elements that are 2^17 times smaller. In attention, a warp has 16 queries. For each 64 keys
// it computes three of the four products of terms and updates the maximum and the sum of its rows. It writes the shares as two terms and multiplies them
// with the values. That product has its own accumulator, which is then added in float32, because tensor cores truncate. The order of all sums is fixed.
typedef unsigned int word;
#define BLOCK 64  // keys per step, and rows per scale
#define WARPS 8
#define ROWS (16 * WARPS)
#define PITCH(width) ((width) + 8)  // in shared memory: neighbouring rows start in different banks

struct Heads { long long outer, inner; int count; long long row; };  // strides of a batch's two axes, length of the second one, stride of rows

#ifndef HONE_HOST  // tests define their own
__device__ __forceinline__ word pack(float a, float b) {
  word v;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(b), "f"(a));
  return v;
}
__device__ __forceinline__ float half_of(word v, int high) {
  float f;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(f) : "r"(high ? v >> 16 : v));
  return f;
}
__device__ __forceinline__ void copy16(word to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); }
__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;"); }
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group 1;"); }  // waits for all but the last copy
__device__ __forceinline__ void load4(word (&r)[4], word at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ __forceinline__ void load4_across(word (&r)[4], word at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ __forceinline__ void multiply(float (&c)[4], const word (&a)[4], word b0, word b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

// out: [head][block of rows][term][BLOCK][PAD], scales: [head][block of rows].
extern "C" __global__ void __launch_bounds__(256) attention_split(const float* x, Heads heads, int rows, int width, int pad, word* out, float* scales) {
  __shared__ float most[8];
  const int block = blockIdx.x, head = blockIdx.y, blocks = gridDim.x;
  x += head / heads.count * heads.outer + head % heads.count * heads.inner;
  float size = 0;
  for (int i = threadIdx.x; i < BLOCK * width; i += 256) {
    const int row = block * BLOCK + i / width;
    if (row < rows) {
      const float v = fabsf(x[row * heads.row + i % width]);
      if (v <= 3.4e38f) size = fmaxf(size, v);
    }
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) size = fmaxf(size, __shfl_xor_sync(0xffffffffu, size, lanes));
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = size;
  __syncthreads();
  for (int i = 0; i < 8; ++i) size = fmaxf(size, most[i]);
  int power = 0;
  if (size > 0) frexpf(size, &power);  // size < 2^power
  const float scale = ldexpf(1.f, 14 - power < 126 ? 14 - power : 126);
  if (threadIdx.x == 0) scales[head * blocks + block] = 1.f / scale;
  out += (long long)(head * blocks + block) * BLOCK * pad;  // words: two terms of two bytes
  for (int i = threadIdx.x; i < BLOCK * pad / 2; i += 256) {
    const int row = i / (pad / 2), column = i % (pad / 2) * 2;
    float v[2];
    for (int j = 0; j < 2; ++j) {
      const bool some = block * BLOCK + row < rows && column + j < width;
      v[j] = some ? x[(block * BLOCK + row) * heads.row + column + j] * scale : 0.f;
    }
    const word high = pack(v[0], v[1]);
    out[i] = high;
    float rest[2];
    for (int j = 0; j < 2; ++j) rest[j] = v[j] - half_of(high, j);
    out[i + BLOCK * pad / 2] = pack(rest[0], rest[1]);
  }
}

#ifdef WIDTH
#define KEY_WORDS (BLOCK * PITCH(WIDTH) / 2)
#define VALUE_WORDS (BLOCK * PITCH(VALUES) / 2)
#define STAGE_WORDS (2 * KEY_WORDS + 2 * VALUE_WORDS)

// Copies a block of both terms from memory without gaps to shared memory with gaps.
template <int PAD> __device__ __forceinline__ void fetch(word to, const word* from) {
  for (int i = threadIdx.x; i < 2 * BLOCK * PAD / 8; i += WARPS * 32) {
    const int row = i / (PAD / 8), part = i % (PAD / 8);
    copy16(to + (row * PITCH(PAD) + part * 8) * 2, from + i * 4);
  }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 1)
attention(const word* queries, const word* keys, const word* values, const float* query_scales, const float* key_scales, const float* value_scales, float* out, Heads result,
          const unsigned char* mask, const unsigned char* tiles, int rows, int count, int width, float scale) {
#ifdef HONE_HOST
  word* const shared = host_shared();
#else
  extern __shared__ __align__(16) word shared[];
#endif
  const int row_blocks = (rows + BLOCK - 1) / BLOCK, key_blocks = (count + BLOCK - 1) / BLOCK;
  const int head = blockIdx.y, first = (gridDim.x - 1 - blockIdx.x) * ROWS;  // starts with long rows
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const word base = (word)__cvta_generic_to_shared(shared);
  const word at_queries = base, at_stages = base + ROWS / BLOCK * 2 * BLOCK * PITCH(WIDTH) * 2;
  keys += (long long)head * key_blocks * BLOCK * WIDTH;
  values += (long long)head * key_blocks * BLOCK * VALUES;
  for (int part = 0; part < ROWS / BLOCK; ++part) {
    const int block = min(first / BLOCK + part, row_blocks - 1);
    fetch<WIDTH>(at_queries + part * 2 * BLOCK * PITCH(WIDTH) * 2, queries + (long long)(head * row_blocks + block) * BLOCK * WIDTH);
  }
  // The blocks of keys that at least one query of this CTA sees.
  int last = key_blocks;
#ifdef CAUSAL
  last = min(last, (min(first + ROWS, rows) + BLOCK - 1) / BLOCK);
#endif
  const auto next_of = [&](int block) {
#ifdef MASKED
    const int tile_rows = (rows + ROWS - 1) / ROWS;
    while (block < last && !tiles[first / ROWS + block * tile_rows]) ++block;
#endif
    return block;
  };
  const auto start = [&](int stage, int block) {
    if (block < last) {
      fetch<WIDTH>(at_stages + stage * STAGE_WORDS * 4, keys + (long long)block * BLOCK * WIDTH);
      fetch<VALUES>(at_stages + (stage * STAGE_WORDS + 2 * KEY_WORDS) * 4, values + (long long)block * BLOCK * VALUES);
    }
    end_copies();
  };
  float sums[VALUES / 8][4];
#pragma unroll
  for (int i = 0; i < VALUES / 8; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
  float most[2] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000)}, total[2] = {0, 0};
  const int row0 = first + warp * 16 + lane / 4;
  const float of_queries = query_scales[head * row_blocks + min((first + warp * 16) / BLOCK, row_blocks - 1)] * scale * 1.44269504088896341f;
  const word my_queries = at_queries + (warp / 4 * 2 * BLOCK * PITCH(WIDTH) + (warp % 4 * 16 + lane % 16) * PITCH(WIDTH) + lane / 16 * 8) * 2;
  int block = next_of(0), stage = 0;
  start(0, block);
  while (block < last) {
    const int following = next_of(block + 1);
    start(stage ^ 1, following);
    wait_copies();
    __syncthreads();
    const word at = at_stages + stage * STAGE_WORDS * 4;
    float scores[BLOCK / 8][4];
#pragma unroll
    for (int i = 0; i < BLOCK / 8; ++i) scores[i][0] = scores[i][1] = scores[i][2] = scores[i][3] = 0;
    const word my_keys = at + ((lane / 16 * 8 + lane % 8) * PITCH(WIDTH) + lane / 8 % 2 * 8) * 2;
#pragma unroll
    for (int k = 0; k < WIDTH / 16; ++k) {
      word high[4], low[4];
      load4(high, my_queries + k * 32);
      load4(low, my_queries + k * 32 + BLOCK * PITCH(WIDTH) * 2);
#pragma unroll
      for (int n = 0; n < BLOCK / 16; ++n) {
        word h[4], l[4];
        load4(h, my_keys + n * 16 * PITCH(WIDTH) * 2 + k * 32);
        load4(l, my_keys + n * 16 * PITCH(WIDTH) * 2 + k * 32 + KEY_WORDS * 4);
        multiply(scores[2 * n], low, h[0], h[1]);
        multiply(scores[2 * n + 1], low, h[2], h[3]);
        multiply(scores[2 * n], high, l[0], l[1]);
        multiply(scores[2 * n + 1], high, l[2], l[3]);
        multiply(scores[2 * n], high, h[0], h[1]);
        multiply(scores[2 * n + 1], high, h[2], h[3]);
      }
    }
    const float factor = of_queries * key_scales[head * key_blocks + block];
    const bool edge = block * BLOCK + BLOCK > count
#ifdef CAUSAL
                      || block * BLOCK + BLOCK - 1 > first + warp * 16
#endif
#ifdef MASKED
                      || true
#endif
        ;
    float seen[2] = {most[0], most[1]};
#pragma unroll
    for (int i = 0; i < BLOCK / 8; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float& s = scores[i][j];
        s *= factor;
        if (edge) {
          const int key = block * BLOCK + i * 8 + lane % 4 * 2 + j % 2, row = row0 + j / 2 * 8;
          bool hidden = key >= count;
#ifdef CAUSAL
          hidden = hidden || key > row;
#endif
#ifdef MASKED
          hidden = hidden || (row < rows && mask[(long long)row * count + (key < count ? key : 0)]);
#endif
          if (hidden) s = -__int_as_float(0x7f800000);
        }
        seen[j / 2] = fmaxf(seen[j / 2], s);
      }
    float fades[2], from[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      seen[r] = fmaxf(seen[r], __shfl_xor_sync(0xffffffffu, seen[r], 1));
      seen[r] = fmaxf(seen[r], __shfl_xor_sync(0xffffffffu, seen[r], 2));
      from[r] = seen[r] == -__int_as_float(0x7f800000) ? 0.f : seen[r];
      fades[r] = exp2f(most[r] - from[r]);
      most[r] = seen[r];
      total[r] *= fades[r];
    }
    word high[BLOCK / 16][4], low[BLOCK / 16][4];
#pragma unroll
    for (int i = 0; i < BLOCK / 8; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float a = exp2f(scores[i][2 * r] - from[r]), b = exp2f(scores[i][2 * r + 1] - from[r]);
        total[r] += a + b;
        const word h = pack(a * 16384.f, b * 16384.f);
        high[i / 2][i % 2 * 2 + r] = h;
        low[i / 2][i % 2 * 2 + r] = pack(a * 16384.f - half_of(h, 0), b * 16384.f - half_of(h, 1));
      }
    const float of_values = value_scales[head * key_blocks + block] * (1.f / 16384.f);
    const word my_values = at + 2 * KEY_WORDS * 4 + ((lane % 16) * PITCH(VALUES) + lane / 16 * 8) * 2;
#pragma unroll
    for (int n = 0; n < VALUES / 16; ++n) {
      float part[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
      for (int k = 0; k < BLOCK / 16; ++k) {
        word h[4], l[4];
        load4_across(h, my_values + (k * 16 * PITCH(VALUES) + n * 16) * 2);
        load4_across(l, my_values + (k * 16 * PITCH(VALUES) + n * 16) * 2 + VALUE_WORDS * 4);
        multiply(part[0], low[k], h[0], h[1]);
        multiply(part[1], low[k], h[2], h[3]);
        multiply(part[0], high[k], l[0], l[1]);
        multiply(part[1], high[k], l[2], l[3]);
        multiply(part[0], high[k], h[0], h[1]);
        multiply(part[1], high[k], h[2], h[3]);
      }
#pragma unroll
      for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[2 * n + t][j] = sums[2 * n + t][j] * fades[j / 2] + part[t][j] * of_values;
    }
    __syncthreads();  // the stage must not be written before all have read it
    block = following;
    stage ^= 1;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
    const int row = row0 + r * 8;
    if (row >= rows) continue;
    const float share = 1.f / total[r];
    float* const to = out + head / result.count * result.outer + head % result.count * result.inner + row * result.row;
#pragma unroll
    for (int i = 0; i < VALUES / 8; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = i * 8 + lane % 4 * 2 + j;
        if (column < width) to[column] = sums[i][2 * r + j] * share;
      }
  }
}
#endif
