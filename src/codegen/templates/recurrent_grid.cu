// Recurrent layers (tanh RNN, GRU, LSTM) over the whole chip in one cooperative launch: sm_80 and later, no includes, shapes as macros.
//
// For hidden sizes whose W_hh does not fit a cluster but fits the chip, and for batches that want more clusters than there are.
// A team of CTAS CTAs owns one "slab" (a layer, or one direction of a layer) for NT * 8 sequences; teams never wait for each
// other, except that with CHAINED a slab reads the states of the slab below. A CTA owns UNITS hidden units of its slab, with
// all their gates. Its WARPS warps share K: a warp keeps WB blocks of 32 columns of the CTA's rows as tensor-core fragments in
// registers (REGB blocks) and shared memory. A step, for each of PHASES parts of the team's sequences, is
//     wait for h_{t-1} in L2 -> mma -> partial sums to shared memory -> one block barrier -> gates -> store own h_t to L2
// Part p + 1 is fetched and multiplied while part p travels. The words of h carry their own flag: h is scaled to |h| <= 1, so
// bit 14 of the low half of each word (the top of an fp16 exponent) is free and says in which round the word was written. One
// load both polls and fetches, and no fence is needed: every word is either that of two steps ago or final. A NaN in a low
// half is written to the high half too, which is enough to spread it to every sum of that sequence.
// A word is overwritten two steps later, after its writer has seen h of one step later from every CTA of the team, each of
// which had read the word before. With CHAINED every step has its own place. The exchange buffer is zero at the launch.
//
// All CTAs must be resident at once (cooperative launch). A launch that lasts LIMIT_NS raises p.error and runs out.
//
// Operands are fp16 (11 significant bits, as TF32); PARTS 2 splits them in two terms, the second scaled by 2^11, and takes
// three products (about 22 bits).

#define RNN_TANH 0
#define GRU 2
#define LSTM 3

#ifndef PARTS
#define PARTS 1
#endif
#ifndef PROBE
#define PROBE 0   // blocks of h that are waited for before all others are fetched; 0: all at once
#endif
#ifndef LIMIT_NS
#define LIMIT_NS 2000000000u
#endif

#define GATES (CELL < GRU ? 1 : CELL == GRU ? 3 : 4)
#define ROW_GATES (CELL == GRU && CHAINED ? 4 : GATES)   // a chained GRU sums W_in x apart from W_hn h
#define PADDED ((HIDDEN + 31) / 32 * 32)
#define CTAS ((PADDED + UNITS - 1) / UNITS)
#define KBLOCKS (PADDED / 32)
#define WB ((KBLOCKS + WARPS - 1) / WARPS)
#define TILES ((ROW_GATES * UNITS / 2 + 7) / 8)          // of 16 rows: eight pairs of units
#define NT (PHASES * NTP)
#define THREADS (32 * WARPS)
#define ITEMS (NTP * 2 * UNITS)                          // pairs of units by pairs of sequences, per phase
#define CHAINS (NTP * TILES * PARTS < 4 && WB > 1 ? 2 : 1)
#define BLOCKS ((CHAINED ? 2 : 1) * WB)                  // of W_hh, then of W_ih
#ifndef REGB
#define REGB BLOCKS
#endif

#define PART_AT 0
#define PART_BYTES (WARPS * NTP * TILES * 512)
#define STATE_AT (PART_AT + 2 * PART_BYTES)
#define STATE_BYTES (PHASES * ITEMS * 16)
#define BELOW_AT (STATE_AT + (CELL == LSTM ? 2 : 1) * STATE_BYTES)
#define BELOW_BYTES (GATES * ITEMS * 16)                 // of one phase of one step
#define BIAS_AT (BELOW_AT + 2 * PHASES * BELOW_BYTES)
#define WEIGHT_AT (BIAS_AT + UNITS * 16)
#define WORDS_AT (WEIGHT_AT + (BLOCKS - REGB) * 2 * TILES * PARTS * WARPS * 512)

typedef unsigned int u32;

struct Slab {
    const uint4* w_hh;    // fragments [part][rank][warp][kstep][tile][lane]
    const uint4* w_ih;    // the same; null unless fed by the slab before
    const float* bias;    // [CTAS * UNITS][4], summed where the cell sums them; GRU: r, z, input n, hidden n
    const float* gates;   // W_ih x of every step, without bias; null when fed by the slab before
    const float* h0;      // [batch][HIDDEN] or null for zeros
    const float* c0;
    float* hn;            // each output may be null
    float* cn;
    void* y;
    float unscale, unscale_gates;
    int reverse, y_format;   // 0 float32, 1 float16, 2 bfloat16
};

struct Problem {
    Slab slab[SLABS];
    long long gates_t, gates_b, y_t, y_b;   // strides in elements
    u32* exchange;   // [slab][team][2, or steps + 1][part][tile][unit / 8][8 sequences][unit % 8] of 16 bits, zero at the launch
    u32* error;      // set when a wait outlasted LIMIT_NS; host memory
    int steps, batch, teams, unused;
};

#define PLANE_WORDS (NT * PADDED * 4)
#define SLOT_WORDS (PARTS * PLANE_WORDS)
#define FLAG 0x4000u

struct Watch {   // bounds every wait by the time since the kernel began; past it waits return at once
    u32 began;
    bool failed;
    __device__ Watch() : began(now()), failed(false) {}
    __device__ static u32 now() {
        u32 t;
        asm volatile("mov.u32 %0, %globaltimer_lo;" : "=r"(t));
        return t;
    }
    __device__ __forceinline__ bool expired() {
        if (now() - began > LIMIT_NS) failed = true;
        return failed;
    }
};

__device__ __forceinline__ void load_word4(u32 (&v)[4], const u32* from, bool wanted) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]) : "l"(from), "r"((u32)wanted) : "memory");
}
__device__ __forceinline__ void store_word(u32* to, u32 v) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(v) : "memory");
}
__device__ __forceinline__ void mma(float (&c)[4], uint4 a, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}
__device__ __forceinline__ u32 pack(float low, float high) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
__device__ __forceinline__ u32 pack_bfloat(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
__device__ __forceinline__ float unpack(u32 v, int high) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"((unsigned short)(high ? v >> 16 : v)));
    return f;
}

// Gate arguments arrive multiplied: by -log2(e) for a sigmoid, by 2 log2(e) for a tanh.
constexpr float kSigmoid = -1.4426950408889634f, kTanh = 2.8853900817779268f;
__device__ __forceinline__ float exp2_fast(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ __forceinline__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ __forceinline__ float sigmoid(float e) { return reciprocal(1.f + exp2_fast(e)); }
__device__ __forceinline__ float tanh_of(float e) {
    float large = fmaf(-2.f, reciprocal(1.f + exp2_fast(e)), 1.f);
    float x = e * 0.34657359027997264f, x2 = x * x;   // near zero 1 - 2 / (1 + e^2x) loses its digits
    float c = fmaf(fmaf(fmaf(0.0157396831f, x2, -0.0523039624f), x2, 0.133152977f), x2, -0.333327681f);
    float small = fmaf(c * x2, x, x);
    return fabsf(e) < 0.55f * kTanh ? small : large;
}
__device__ __forceinline__ constexpr float gate_scale(int gate) {
    return CELL == RNN_TANH || gate == 2 ? kTanh : kSigmoid;
}

// The power of two that brings |h| <= max(1, largest |h0|) to at most 1.
__device__ __forceinline__ float range_scale(u32 largest_bits) {
    const int k = largest_bits > 0x3f800000u ? 126 - (int)(largest_bits >> 23) : 0;
    return __uint_as_float((u32)(127 + (k < -110 ? -110 : k)) << 23);
}

// Which 16-row tiles the columns of W_hh (or W_ih) reach: rows r, z, hidden n, input n of a chained GRU.
__device__ constexpr bool used(bool below, int tile) {
    constexpr int kAll = CELL == GRU && CHAINED ? 0 : TILES;
    bool any = tile < kAll;
    for (int pair = tile * 8; pair < tile * 8 + 8; ++pair) any |= pair < ROW_GATES * UNITS / 2 && pair / (UNITS / 2) != (below ? 2 : 3);
    return any;
}

struct Exchange {   // where a lane reads and writes h of one team
    u32* base;
    __device__ __forceinline__ u32* slot(int s) const { return base + (size_t)(CHAINED ? s : s & 1) * SLOT_WORDS; }
    __device__ static __forceinline__ u32 flag(int s) { return CHAINED || !(s >> 1 & 1) ? FLAG : 0u; }
};

struct Block {   // what a warp holds of h: its K blocks for the sequences of one phase
    u32 v[PARTS][NTP][WB][4];
    __device__ __forceinline__ void fetch(const u32* from, bool first, const bool (&live)[NTP], int blocks) {
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
#pragma unroll
            for (int n = 0; n < NTP; ++n)
#pragma unroll
                for (int b = 0; b < WB; ++b)
                    if (!PROBE || first == (part + n + b < PROBE))
                        load_word4(v[part][n][b], from + part * PLANE_WORDS + n * PADDED * 4 + b * 128, live[n] && b < blocks);
    }
    // True when all of it is there; loads anew what is not.
    __device__ __forceinline__ bool refetch(const u32* from, u32 flag, bool first, const bool (&live)[NTP], int blocks) {
        u32 missing = 0;
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
#pragma unroll
            for (int n = 0; n < NTP; ++n)
#pragma unroll
                for (int b = 0; b < WB; ++b) {
                    if (first && part + n + b >= PROBE) continue;
                    u32(&w)[4] = v[part][n][b];
                    const bool miss = live[n] && b < blocks && ((w[0] ^ flag) | (w[1] ^ flag) | (w[2] ^ flag) | (w[3] ^ flag)) & FLAG;
                    load_word4(w, from + part * PLANE_WORDS + n * PADDED * 4 + b * 128, miss);
                    missing |= miss;
                }
        return !__any_sync(~0u, missing);
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < PARTS * NTP * WB * 4; ++i) v[i / (NTP * WB * 4)][i / (WB * 4) % NTP][i / 4 % WB][i % 4] = 0;
    }
    __device__ __forceinline__ void strip() {
#pragma unroll
        for (int i = 0; i < PARTS * NTP * WB * 4; ++i) v[i / (NTP * WB * 4)][i / (WB * 4) % NTP][i / 4 % WB][i % 4] &= ~FLAG;
    }
};

struct Weights {
    uint4 w[PARTS][2 * REGB][TILES];
    u32 shared;   // of this lane
    // FIRST: 0 for W_hh, WB for W_ih.
    template <int FIRST> __device__ __forceinline__ void load(const uint4* packed, int rank, int warp, int lane) {
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
#pragma unroll
            for (int k = 0; k < 2 * WB; ++k)
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile) {
                    if (!used(FIRST > 0, tile)) continue;
                    const uint4 a = packed ? packed[((((size_t)part * CTAS + rank) * WARPS + warp) * 2 * WB + k) * TILES * 32 + tile * 32 + lane] : make_uint4(0, 0, 0, 0);
                    const int at = 2 * FIRST + k;
                    if (at < 2 * REGB) w[part][at < 2 * REGB ? at : 0][tile] = a;
                    else asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared + ((part * 2 * (BLOCKS - REGB) + at - 2 * REGB) * TILES + tile) * 512),
                                      "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w) : "memory");
                }
    }
    template <int FIRST> __device__ __forceinline__ void multiply(float (&acc)[PARTS * CHAINS][NTP][TILES][4], const Block& h) const {
#pragma unroll
        for (int k = 0; k < 2 * WB; ++k)
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                if (!used(FIRST > 0, tile)) continue;
                uint4 a[PARTS];
                const int at = 2 * FIRST + k;
#pragma unroll
                for (int part = 0; part < PARTS; ++part) {
                    if (at < 2 * REGB) a[part] = w[part][at < 2 * REGB ? at : 0][tile];
                    else asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a[part].x), "=r"(a[part].y), "=r"(a[part].z), "=r"(a[part].w)
                                      : "r"(shared + ((part * 2 * (BLOCKS - REGB) + at - 2 * REGB) * TILES + tile) * 512));
                }
#pragma unroll
                for (int n = 0; n < NTP; ++n) {
                    const int b = k / 2, s = 2 * (k & 1), chain = PARTS * (k % CHAINS);
                    mma(acc[chain][n][tile], a[0], h.v[0][n][b][s], h.v[0][n][b][s + 1]);
                    if (PARTS == 2) {
                        mma(acc[chain + PARTS - 1][n][tile], a[0], h.v[PARTS - 1][n][b][s], h.v[PARTS - 1][n][b][s + 1]);
                        mma(acc[chain + PARTS - 1][n][tile], a[PARTS - 1], h.v[0][n][b][s], h.v[0][n][b][s + 1]);
                    }
                }
            }
    }
};

__device__ __forceinline__ float4 lds4(u32 at) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at) : "memory");
    return v;
}
__device__ __forceinline__ void sts4(u32 at, float a, float b, float c, float d) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}

struct Item {   // units unit, unit + 1 of sequences first, first + 1 (of the team); values are [unit][sequence]
    int index, unit, first, n;
    __device__ Item(int rank, int phase, int item) {
        index = phase * ITEMS + item;
        n = item / (2 * UNITS);
        unit = rank * UNITS + item / 4 % (UNITS / 2) * 2;
        first = (phase * NTP + n) * 8 + item % 4 * 2;
    }
};

struct Team {
    const Problem& p;
    const Slab& slab;
    Exchange out;
    u32 smem;
    int rank, first, sequences;   // of the batch
    float scale;                  // of h after step 0

    // Copies the input part of an item to shared memory; its own thread will read it.
    __device__ __forceinline__ void fetch_below(int t, int phase, int item) const {
        if (!slab.gates) return;
        const Item at(rank, phase, item);
        const int step = slab.reverse ? p.steps - 1 - t : t;
#pragma unroll
        for (int gate = 0; gate < GATES; ++gate)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const u32 to = smem + BELOW_AT + ((t & 1) * PHASES + phase) * BELOW_BYTES + (gate * 2 + e) * ITEMS * 8 + item * 8;
                const bool real = at.first + e < sequences;
                const float* from = slab.gates + (real ? step * p.gates_t + (first + at.first + e) * p.gates_b + gate * HIDDEN + at.unit : 0);
                if (HIDDEN % 2 == 0) {
                    const int bytes = real && at.unit < HIDDEN ? 8 : 0;
                    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(bytes ? from : slab.gates), "r"(bytes) : "memory");
                } else {
#pragma unroll
                    for (int u = 0; u < 2; ++u) {
                        const int bytes = real && at.unit + u < HIDDEN ? 4 : 0;
                        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * u), "l"(bytes ? from + u : slab.gates), "r"(bytes) : "memory");
                    }
                }
            }
    }

    // Sends h (as [unit][sequence]) to the team, as the state number s: h_{s - 1}.
    __device__ __forceinline__ void send(const Item& at, int s, const float (&h)[2][2], float by) const {
        if (at.unit >= PADDED) return;
        u32* to = out.slot(s) + ((at.first / 8 * (PADDED / 8) + at.unit / 8) * 8 + at.first % 8) * 4 + at.unit % 8 / 2;
        const u32 flag = Exchange::flag(s);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (at.first + e >= sequences) continue;
            const float x0 = h[0][e] * by, x1 = h[1][e] * by;
            u32 word = pack(x0, x1);
            if (PARTS == 2) store_word(to + PLANE_WORDS + 4 * e, (pack((x0 - unpack(word, 0)) * 2048.f, (x1 - unpack(word, 1)) * 2048.f) & ~FLAG) | flag);
            if ((word & 0x7fffu) >= 0x7c00u) word |= 0x7fff0000u;
            store_word(to + 4 * e, (word & ~FLAG) | flag);
        }
    }

    __device__ __forceinline__ void output(const Item& at, int t, const float (&h)[2][2]) const {
        if (!slab.y || at.unit >= HIDDEN) return;
        const int step = slab.reverse ? p.steps - 1 - t : t;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (at.first + e >= sequences) continue;
            const long long to = step * p.y_t + (first + at.first + e) * p.y_b + at.unit;
            const bool two = at.unit + 1 < HIDDEN;
            if (slab.y_format == 0) {
                float* y = (float*)slab.y + to;
                if (HIDDEN % 2 == 0) *(float2*)y = make_float2(h[0][e], h[1][e]);
                else {
                    y[0] = h[0][e];
                    if (two) y[1] = h[1][e];
                }
            } else {
                const u32 word = slab.y_format == 1 ? pack(h[0][e], h[1][e]) : pack_bfloat(h[0][e], h[1][e]);
                unsigned short* y = (unsigned short*)slab.y + to;
                if (HIDDEN % 2 == 0) *(u32*)y = word;
                else {
                    y[0] = (unsigned short)word;
                    if (two) y[1] = (unsigned short)(word >> 16);
                }
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) recurrent_grid(const __grid_constant__ Problem p) {
    extern __shared__ __align__(128) unsigned char shared[];
    const int thread = threadIdx.x, warp = thread >> 5, lane = thread & 31, g = lane >> 2, q = lane & 3;
    const int rank = blockIdx.x % CTAS, team_number = blockIdx.x / CTAS % p.teams, slab_number = blockIdx.x / (CTAS * p.teams);
    const u32 smem = (u32)__cvta_generic_to_shared(shared);
    const size_t team_words = (size_t)(CHAINED ? p.steps + 1 : 2) * SLOT_WORDS;
    const int first = team_number * NT * 8, left = p.batch - first;
    Team team{p, p.slab[slab_number], {p.exchange + (slab_number * p.teams + team_number) * team_words}, smem, rank, first, left < NT * 8 ? left : NT * 8, 1.f};
    const Slab& slab = team.slab;
    const bool chained = CHAINED && slab_number > 0;
    Watch watch;

    Weights weights;
    weights.shared = smem + WEIGHT_AT + warp * (BLOCKS - REGB) * 2 * TILES * PARTS * 512 + lane * 16;
    weights.load<0>(slab.w_hh, rank, warp, lane);
#if CHAINED
    weights.load<WB>(slab.w_ih, rank, warp, lane);
#endif

    // The largest |h0| of this team in all slabs sets the scale of h; past the first step only a GRU can keep such values.
    u32* word = (u32*)(shared + WORDS_AT);
    if (thread == 0) *word = 0x3f800000u;
    __syncthreads();
    u32 largest = 0;
    for (int s = 0; s < SLABS; ++s)
        if (p.slab[s].h0)
            for (int i = thread; i < team.sequences * HIDDEN; i += THREADS) {
                const u32 bits = __float_as_uint(p.slab[s].h0[(size_t)first * HIDDEN + i]) & 0x7fffffffu;
                if (bits < 0x7f800000u && bits > largest) largest = bits;
            }
    if (largest) atomicMax(word, largest);
    for (int i = thread; i < UNITS * 4; i += THREADS) ((float*)(shared + BIAS_AT))[i] = slab.bias[rank * UNITS * 4 + i];
    __syncthreads();
    const float scale0 = range_scale(*word);
    if (CELL == GRU) team.scale = scale0;

    // Own states to shared memory, h_{-1} to the team, the input part of step 0.
    for (int phase = 0; phase < PHASES; ++phase) {
        for (int item = (thread + phase * ITEMS) % THREADS; item < ITEMS; item += THREADS) {
            const Item at(rank, phase, item);
            float h[2][2], c[2][2];
            for (int u = 0; u < 2; ++u)
                for (int e = 0; e < 2; ++e) {
                    const bool real = at.unit + u < HIDDEN && at.first + e < team.sequences;
                    const size_t from = (size_t)(first + at.first + e) * HIDDEN + at.unit + u;
                    h[u][e] = slab.h0 && real ? slab.h0[from] : 0.f;
                    c[u][e] = CELL == LSTM && slab.c0 && real ? slab.c0[from] : 0.f;
                }
            sts4(smem + STATE_AT + at.index * 16, h[0][0], h[0][1], h[1][0], h[1][1]);
            if (CELL == LSTM) sts4(smem + STATE_AT + STATE_BYTES + at.index * 16, c[0][0], c[0][1], c[1][0], c[1][1]);
            team.send(at, 0, h, scale0);
            team.fetch_below(0, phase, item);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    const int blocks = KBLOCKS % WARPS == 0 ? WB : (KBLOCKS - warp * WB < WB ? KBLOCKS - warp * WB : WB);
    const u32 lane_at = (warp * WB * 4 + q) * 32 + g * 4;
    Block h;
    h.clear();
    auto live_of = [&](int phase, bool (&live)[NTP]) {
#pragma unroll
        for (int n = 0; n < NTP; ++n) live[n] = (phase * NTP + n) * 8 + g < team.sequences;
    };
    auto begin = [&](const Exchange& from, int s, int phase) {
        bool live[NTP];
        live_of(phase, live);
        h.fetch(from.slot(s) + phase * NTP * PADDED * 4 + lane_at, true, live, blocks);
    };
    auto settle = [&](const Exchange& from, int s, int phase) {
        bool live[NTP];
        live_of(phase, live);
        const u32* at = from.slot(s) + phase * NTP * PADDED * 4 + lane_at;
        const u32 flag = Exchange::flag(s);
        if (PROBE) {
            while (!h.refetch(at, flag, true, live, blocks))
                if (watch.expired()) break;
            h.fetch(at, false, live, blocks);
        }
        while (!h.refetch(at, flag, false, live, blocks))
            if (watch.expired()) break;
        h.strip();
    };

    u32 buffer = 0;
    if (!chained) begin(team.out, 0, 0);
#pragma unroll 1
    for (int t = 0; t < p.steps; ++t) {
        const float unscale = slab.unscale / (CELL == GRU || t == 0 ? scale0 : 1.f);
#pragma unroll 1
        for (int phase = 0; phase < PHASES; ++phase) {
            float acc[PARTS * CHAINS][NTP][TILES][4] = {};
#if CHAINED
            if (chained) {   // the slab below is ahead: this is off the chain of steps
                const Exchange below{p.exchange + ((slab_number - 1) * p.teams + team_number) * team_words};
                begin(below, t + 1, phase);
                settle(below, t + 1, phase);
                weights.multiply<WB>(acc, h);
                if (CELL != GRU && t == 0) {
#pragma unroll
                    for (int i = 0; i < PARTS * CHAINS * NTP * TILES * 4; ++i) acc[i / (NTP * TILES * 4)][i / (TILES * 4) % NTP][i / 4 % TILES][i % 4] *= scale0;
                }
                begin(team.out, t, phase);
            }
#endif
            settle(team.out, t, phase);
            weights.multiply<0>(acc, h);
            if (!chained && PHASES > 1) {
                if (phase + 1 < PHASES) begin(team.out, t, phase + 1);
                else if (t + 1 < p.steps) begin(team.out, t + 1, 0);
            }

            const u32 partial = smem + PART_AT + buffer * PART_BYTES;
#pragma unroll
            for (int n = 0; n < NTP; ++n)
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile) {
                    float v[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        v[i] = acc[0][n][tile][i];
                        if (CHAINS == 2) v[i] += acc[PARTS * (CHAINS - 1)][n][tile][i];
                        if (PARTS == 2) v[i] = fmaf(acc[PARTS - 1][n][tile][i] + (CHAINS == 2 ? acc[PARTS * CHAINS - 1][n][tile][i] : 0.f), 1.f / 2048.f, v[i]);
                    }
                    sts4(partial + ((warp * NTP + n) * TILES + tile) * 512 + lane * 16, v[0], v[1], v[2], v[3]);
                }
            asm volatile("cp.async.wait_group %0;" ::"n"(PHASES - 1) : "memory");
            __syncthreads();

            for (int item = (thread + phase * ITEMS) % THREADS; item < ITEMS; item += THREADS) {
                const Item at(rank, phase, item);
                float sum[ROW_GATES][2][2];
#pragma unroll
                for (int gate = 0; gate < ROW_GATES; ++gate) {
                    const int pair = gate * (UNITS / 2) + item / 4 % (UNITS / 2);
                    const u32 from = partial + (at.n * TILES + pair / 8) * 512 + (pair % 8 * 4 + item % 4) * 16;
                    float4 total = lds4(from);
#pragma unroll
                    for (int w = 1; w < WARPS; ++w) {
                        const float4 v = lds4(from + w * NTP * TILES * 512);
                        total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w;
                    }
                    sum[gate][0][0] = total.x, sum[gate][0][1] = total.y, sum[gate][1][0] = total.z, sum[gate][1][1] = total.w;
                }
                float below[GATES][2][2] = {};
                if (slab.gates) {
#pragma unroll
                    for (int gate = 0; gate < GATES; ++gate)
#pragma unroll
                        for (int e = 0; e < 2; ++e)
                            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(below[gate][0][e]), "=f"(below[gate][1][e])
                                         : "r"(smem + BELOW_AT + ((t & 1) * PHASES + phase) * BELOW_BYTES + (gate * 2 + e) * ITEMS * 8 + item * 8) : "memory");
                }
                const float4 old = lds4(smem + STATE_AT + at.index * 16);
                float h_new[2][2] = {{old.x, old.y}, {old.z, old.w}}, c_new[2][2] = {};
                if (CELL == LSTM) {
                    const float4 old_c = lds4(smem + STATE_AT + STATE_BYTES + at.index * 16);
                    c_new[0][0] = old_c.x, c_new[0][1] = old_c.y, c_new[1][0] = old_c.z, c_new[1][1] = old_c.w;
                }
#pragma unroll
                for (int u = 0; u < 2; ++u) {
                    const float4 bias4 = lds4(smem + BIAS_AT + (at.unit - rank * UNITS + u) * 16);
                    const float bias[4] = {bias4.x, bias4.y, bias4.z, bias4.w};
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        auto input = [&](int gate) { return fmaf(below[gate % GATES][u][e], slab.unscale_gates, bias[gate]) * gate_scale(gate); };
                        auto argument = [&](int gate) { return fmaf(sum[gate % ROW_GATES][u][e], unscale * gate_scale(gate), input(gate)); };
                        if (CELL == RNN_TANH) {
                            h_new[u][e] = tanh_of(argument(0));
                        } else if (CELL == GRU) {
                            const float r = sigmoid(argument(0)), z = sigmoid(argument(1));
                            float from_below = input(2);
                            if (CHAINED) from_below = fmaf(sum[3 % ROW_GATES][u][e], unscale * kTanh, from_below);
                            const float n = tanh_of(fmaf(r, fmaf(sum[2 % ROW_GATES][u][e], unscale * kTanh, kTanh * bias[3]), from_below));
                            h_new[u][e] = fmaf(z, h_new[u][e] - n, n);
                        } else {
                            const float i = sigmoid(argument(0)), f = sigmoid(argument(1)), n = tanh_of(argument(2)), o = sigmoid(argument(3));
                            c_new[u][e] = fmaf(f, c_new[u][e], i * n);
                            h_new[u][e] = o * tanh_of(kTanh * c_new[u][e]);
                        }
                    }
                }
#ifdef STALL_FOR_TEST   // the team never hears of this CTA again: the watchdog must end the launch
                if (rank == 0 && t == 1) continue;
#endif
                if (t + 1 < p.steps || CHAINED) team.send(at, t + 1, h_new, team.scale);
                sts4(smem + STATE_AT + at.index * 16, h_new[0][0], h_new[0][1], h_new[1][0], h_new[1][1]);
                if (CELL == LSTM) sts4(smem + STATE_AT + STATE_BYTES + at.index * 16, c_new[0][0], c_new[0][1], c_new[1][0], c_new[1][1]);
                if (t + 1 < p.steps) team.fetch_below(t + 1, phase, item);
                team.output(at, t, h_new);
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            if (!chained && PHASES == 1 && t + 1 < p.steps) begin(team.out, t + 1, 0);
            buffer ^= 1;
        }
    }

    for (int phase = 0; phase < PHASES; ++phase)
        for (int item = (thread + phase * ITEMS) % THREADS; item < ITEMS; item += THREADS) {
            const Item at(rank, phase, item);
            const float4 h4 = lds4(smem + STATE_AT + at.index * 16);
            float4 c4 = h4;
            if (CELL == LSTM) c4 = lds4(smem + STATE_AT + STATE_BYTES + at.index * 16);
            const float hs[2][2] = {{h4.x, h4.y}, {h4.z, h4.w}}, cs[2][2] = {{c4.x, c4.y}, {c4.z, c4.w}};
            for (int u = 0; u < 2; ++u)
                for (int e = 0; e < 2; ++e)
                    if (at.unit + u < HIDDEN && at.first + e < team.sequences) {
                        const size_t to = (size_t)(first + at.first + e) * HIDDEN + at.unit + u;
                        if (slab.hn) slab.hn[to] = hs[u][e];
                        if (CELL == LSTM && slab.cn) slab.cn[to] = cs[u][e];
                    }
        }
    if (watch.failed) *(volatile u32*)p.error = 1;
}
