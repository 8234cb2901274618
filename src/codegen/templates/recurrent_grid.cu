// Recurrent layers (tanh RNN, GRU, LSTM) over the whole chip in one cooperative launch: sm_80 and later, no includes, shapes as macros.
//
// For hidden sizes whose W_hh does not fit a cluster but fits the chip, and for batches that want more clusters than there are.
// A team of CTAS CTAs owns one "slab" (a layer, or one direction of a layer) for NT * 8 sequences; teams never wait for each
// other, except that with CHAINED a slab reads the states of the slab below. A CTA owns UNITS hidden units of its slab, with
// all their gates. Its WARPS warps share K: a warp keeps WB blocks of 32 columns of the CTA's rows as tensor-core fragments in
// registers (REGB blocks) and shared memory. A step, for each of PHASES parts of the team's sequences, is
//     wait for h_{t-1} in L2 -> mma -> partial sums to shared memory -> one block barrier -> gates -> store own h_t to L2
// Part p + 1 is fetched and multiplied while part p travels. Every word of h has a flag: h is scaled to |h| <= 1, so bit 14 of
// the low half of each word (the top of an fp16 exponent) is free. It tells in which round the word was written. One load both
// polls and fetches. No fence is needed, because a word is either that of two steps ago or final. A NaN in a low half is also
// written to the high half, which spreads it to every sum of that sequence.
// A word is overwritten two steps later. By then its writer has seen the next h from every CTA of the team, and each CTA has read
// the word before it writes the next h. With CHAINED every step has its own place. The exchange buffer is zero at the launch.
//
// All CTAs must be resident at once (cooperative launch). A launch that lasts LIMIT_NS sets p.error and ends without waiting.
//
// Operands are fp16 (11 significant bits, as TF32); PARTS 2 splits them in two terms, the second scaled by 2^11, and takes
// three products (about 22 bits).

@@part_gates.cu@@

#ifndef PARTS
#define PARTS 1
#endif
#ifndef LIMIT_NS
#define LIMIT_NS 2000000000u
#endif

#define ROW_GATES (CELL == GRU && CHAINED ? 4 : GATES)   // a chained GRU sums W_in x apart from W_hn h
#define PADDED ((HIDDEN + 31) / 32 * 32)
#define CTAS ((PADDED + UNITS - 1) / UNITS)
#define KBLOCKS (PADDED / 32)
#define WB ((KBLOCKS + WARPS - 1) / WARPS)
#define TILES ((ROW_GATES * UNITS / 2 + 7) / 8)          // of 16 rows: eight pairs of units
#define NT (PHASES * NTP)
#define THREADS (32 * WARPS)
#define ELEMENTS (NTP * 8 * UNITS)                       // states of one phase; UNITS is a multiple of 4, so these fill warps
#define ROUNDS ((ELEMENTS + THREADS - 1) / THREADS)
#define CHAINS (NTP * TILES * PARTS < 4 && WB > 1 ? 2 : 1)
#define AHEAD (PHASES > 1 || CHAINED)
#define BLOCKS ((CHAINED ? 2 : 1) * WB)                  // of W_hh, then of W_ih
#ifndef REGB
#define REGB BLOCKS
#endif

#define PART_AT 0
#define PART_BYTES (WARPS * NTP * TILES * 512)
#define STATE_AT (PART_AT + 2 * PART_BYTES)
#define STATE_BYTES (PHASES * ELEMENTS * 4)
#define BELOW_AT (STATE_AT + (CELL == LSTM ? 2 : 1) * STATE_BYTES)
#define BELOW_BYTES (GATES * ELEMENTS * 4)               // of one phase of one step
#define BIAS_AT (BELOW_AT + 2 * PHASES * BELOW_BYTES)
#define WEIGHT_AT (BIAS_AT + UNITS * 16)
#define WORDS_AT (WEIGHT_AT + (BLOCKS - REGB) * 2 * TILES * PARTS * WARPS * 512)

typedef unsigned int u32;

struct Slab {
    const uint4* w_hh;    // fragments [part][rank][warp][kstep][tile][lane]
    const uint4* w_ih;    // the same; null unless fed by the slab before
    const float* bias;    // [CTAS * UNITS][4], summed where the cell sums them; GRU: r, z, input n, hidden n
    const float* gates;   // W_ih x of every step, without bias; null when fed by the slab before
    const float* first;   // [batch][GATES][HIDDEN] or null: what the state before step 0 adds to it, instead of h0
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

struct Watch {   // limits every wait by the time since the kernel began; after it waits return at once
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

template <int N> struct Constant {
    static constexpr int value = N;
};

struct Exchange {   // the addresses at which a lane reads and writes h of one team
    u32* base;
    __device__ __forceinline__ u32* slot(int s) const { return base + (size_t)(CHAINED ? s : s & 1) * SLOT_WORDS; }
    __device__ static __forceinline__ u32 flag(int s) { return CHAINED || !(s >> 1 & 1) ? FLAG : 0u; }
};

struct Block {   // a warp's part of h: its K blocks for the sequences of one phase
    u32 v[PARTS][NTP][WB][4];
    template <int FIRST, class Which> __device__ __forceinline__ void fetch(const u32* from, Which which) {
#pragma unroll
        for (int b = FIRST; b < WB; ++b)
#pragma unroll
            for (int n = 0; n < NTP; ++n)
#pragma unroll
                for (int part = 0; part < PARTS; ++part)
                    load_word4(v[part][n][b], from + part * PLANE_WORDS + n * PADDED * 4 + b * 128, which(part, n, b));
    }
    __device__ __forceinline__ bool missing(int part, int n, int b, u32 flag) const {
        const u32(&w)[4] = v[part][n][b];
        return ((w[0] ^ flag) | (w[1] ^ flag) | (w[2] ^ flag) | (w[3] ^ flag)) & FLAG;
    }
    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < PARTS * NTP * WB * 4; ++i) v[i / (NTP * WB * 4)][i / (WB * 4) % NTP][i / 4 % WB][i % 4] = 0;
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
    // Block B of h times its columns. FIRST as above.
    template <int FIRST, int B> __device__ __forceinline__ void multiply(float (&acc)[PARTS * CHAINS][NTP][TILES][4], const Block& h) const {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                if (!used(FIRST > 0, tile)) continue;
                uint4 a[PARTS];
                constexpr int kFirst = 2 * (FIRST + B);
#pragma unroll
                for (int part = 0; part < PARTS; ++part) {
                    if (kFirst < 2 * REGB) a[part] = w[part][kFirst < 2 * REGB ? kFirst + half : 0][tile];
                    else asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a[part].x), "=r"(a[part].y), "=r"(a[part].z), "=r"(a[part].w)
                                      : "r"(shared + ((part * 2 * (BLOCKS - REGB) + kFirst + half - 2 * REGB) * TILES + tile) * 512));
                }
#pragma unroll
                for (int n = 0; n < NTP; ++n) {
                    const int chain = PARTS * (half % CHAINS);
                    u32 b[PARTS][2];
#pragma unroll
                    for (int part = 0; part < PARTS; ++part)
#pragma unroll
                        for (int i = 0; i < 2; ++i) b[part][i] = h.v[part][n][B][2 * half + i] & ~FLAG;
                    mma(acc[chain][n][tile], a[0], b[0][0], b[0][1]);
                    if (PARTS == 2) {
                        mma(acc[chain + PARTS - 1][n][tile], a[0], b[PARTS - 1][0], b[PARTS - 1][1]);
                        mma(acc[chain + PARTS - 1][n][tile], a[PARTS - 1], b[0][0], b[0][1]);
                    }
                }
            }
    }
};

__device__ __forceinline__ float lds(u32 at) {
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
    return v;
}
__device__ __forceinline__ void sts(u32 at, float v) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v) : "memory"); }

// One state of a phase. The order is that of the accumulators: neighbours in a warp are two sequences, then the two units of a
// pair, then four pairs of sequences, then the next pair of units; so partial sums are read without bank conflicts.
struct Element {
    int index, n, pair, unit, sequence;   // index within the phase; unit of the CTA; sequence of the team
    __device__ __forceinline__ Element(int phase, int i) : index(i), n(i / (8 * UNITS)), pair(i / 16 % (UNITS / 2)) {
        unit = 2 * pair + (i >> 1 & 1);
        sequence = (phase * NTP + n) * 8 + (i >> 2 & 3) * 2 + (i & 1);
    }
};

struct Team {
    const Problem& p;
    const Slab& slab;
    Exchange out;
    u32 smem;
    int rank, first, sequences;   // of the batch
    float scale;                  // of h after step 0

    __device__ __forceinline__ u32 state_at(int phase, const Element& e) const { return smem + STATE_AT + (phase * ELEMENTS + e.index) * 4; }
    __device__ __forceinline__ u32 below_at(int t, int phase, const Element& e) const {
        return smem + BELOW_AT + ((t & 1) * PHASES + phase) * BELOW_BYTES + e.index * 4;
    }
    __device__ __forceinline__ bool real(const Element& e) const { return rank * UNITS + e.unit < HIDDEN && e.sequence < sequences; }
    __device__ __forceinline__ size_t state_of(const Element& e) const { return (size_t)(first + e.sequence) * HIDDEN + rank * UNITS + e.unit; }

    // Copies the input part of a state to shared memory, where the same thread reads it.
    __device__ __forceinline__ void fetch_below(int t, int phase, const Element& e) const {
        if (!slab.gates) return;
        const int step = slab.reverse ? p.steps - 1 - t : t, bytes = real(e) ? 4 : 0;
        const float* from = slab.gates + (bytes ? step * p.gates_t + (first + e.sequence) * p.gates_b + rank * UNITS + e.unit : 0);
#pragma unroll
        for (int gate = 0; gate < GATES; ++gate)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(below_at(t, phase, e) + gate * ELEMENTS * 4), "l"(bytes ? from + gate * HIDDEN : from),
                         "r"(bytes) : "memory");
    }

    // Sends h to the team as the state number s: h_{s - 1}. Two threads, two units: one word, stored by the first of them.
    __device__ __forceinline__ void send(const Element& e, int s, float h, float by) const {
        const float mine = h * by, other = __shfl_xor_sync(~0u, mine, 2);
        const int unit = rank * UNITS + e.unit;
        if ((e.index & 2) || unit >= PADDED || e.sequence >= sequences) return;
        u32* to = out.slot(s) + ((e.sequence / 8 * (PADDED / 8) + unit / 8) * 8 + e.sequence % 8) * 4 + unit % 8 / 2;
        const u32 flag = Exchange::flag(s);
        u32 word = pack(mine, other);
        if (PARTS == 2) store_word(to + PLANE_WORDS, (pack((mine - unpack(word, 0)) * 2048.f, (other - unpack(word, 1)) * 2048.f) & ~FLAG) | flag);
        if ((word & 0x7fffu) >= 0x7c00u) word |= 0x7fff0000u;
        store_word(to, (word & ~FLAG) | flag);
    }

    __device__ __forceinline__ void output(const Element& e, int t, float h) const {
        if (!slab.y || !real(e)) return;
        const int step = slab.reverse ? p.steps - 1 - t : t;
        const long long to = step * p.y_t + (first + e.sequence) * p.y_b + rank * UNITS + e.unit;
        if (slab.y_format == 0) ((float*)slab.y)[to] = h;
        else ((unsigned short*)slab.y)[to] = (unsigned short)(slab.y_format == 1 ? pack(h, 0.f) : pack_bfloat(h, 0.f));
    }
};

struct Inputs {   // inputs of a state besides the product
    float in[GATES], hidden_bias, h, c;
    __device__ __forceinline__ void load(const Team& team, int t, int phase, const Element& e, float unscale_gates) {
        float4 b;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(b.x), "=f"(b.y), "=f"(b.z), "=f"(b.w) : "r"(team.smem + BIAS_AT + e.unit * 16) : "memory");
        const float bias[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int gate = 0; gate < GATES; ++gate) {
            in[gate] = bias[gate] * gate_scale(gate);
            if (team.slab.gates) in[gate] = fmaf(lds(team.below_at(t, phase, e) + gate * ELEMENTS * 4), unscale_gates * gate_scale(gate), in[gate]);
            if (CELL != GRU && t == 0 && team.slab.first && team.real(e))
                in[gate] = fmaf(team.slab.first[((size_t)(team.first + e.sequence) * GATES + gate) * HIDDEN + team.rank * UNITS + e.unit], gate_scale(gate), in[gate]);
        }
        hidden_bias = kTanh * bias[3];
        h = lds(team.state_at(phase, e));
        c = CELL == LSTM ? lds(team.state_at(phase, e) + STATE_BYTES) : 0.f;
    }
    __device__ __forceinline__ void step(const float (&sum)[ROW_GATES], float unscale) {
        auto argument = [&](int gate) { return fmaf(sum[gate % ROW_GATES], unscale * gate_scale(gate), in[gate % GATES]); };
        auto hidden = [&] { return fmaf(sum[2 % ROW_GATES], unscale * kTanh, hidden_bias); };
        auto below = [&] { return CHAINED ? fmaf(sum[3 % ROW_GATES], unscale * kTanh, in[2 % GATES]) : in[2 % GATES]; };
        h = CELL == RNN_TANH ? rnn_state(argument) : CELL == GRU ? gru_state(argument, hidden, below, h) : lstm_state(argument, c);
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
    const float unscale_gates = slab.unscale_gates;
    Watch watch;

    Weights weights;
    weights.shared = smem + WEIGHT_AT + warp * (BLOCKS - REGB) * 2 * TILES * PARTS * 512 + lane * 16;
    weights.load<0>(slab.w_hh, rank, warp, lane);
#if CHAINED
    const bool chained = slab_number > 0;
    const Exchange below{p.exchange + ((slab_number - chained) * p.teams + team_number) * team_words};
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

    // Own states to shared memory, h_{-1} to the team, the input part of step 0. Phases take turns with the warps.
    auto first_of = [&](int phase) { return (thread + phase * ELEMENTS) % THREADS; };
    for (int phase = 0; phase < PHASES; ++phase) {
        for (int i = first_of(phase); i < ELEMENTS; i += THREADS) {
            const Element e(phase, i);
            const float h = slab.h0 && team.real(e) ? slab.h0[team.state_of(e)] : 0.f;
            sts(team.state_at(phase, e), h);
            if (CELL == LSTM) sts(team.state_at(phase, e) + STATE_BYTES, slab.c0 && team.real(e) ? slab.c0[team.state_of(e)] : 0.f);
            team.send(e, 0, h, scale0);
            team.fetch_below(0, phase, e);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    const int blocks = KBLOCKS % WARPS == 0 ? WB : (KBLOCKS - warp * WB < WB ? KBLOCKS - warp * WB : WB);
    const u32 lane_at = (warp * WB * 4 + q) * 32 + g * 4;
    auto live_of = [&](int phase, bool (&live)[NTP]) {
#pragma unroll
        for (int n = 0; n < NTP; ++n) live[n] = (phase * NTP + n) * 8 + g < team.sequences;
    };
    auto begin = [&](Block& h, const Exchange& from, int s, int phase) {
        bool live[NTP];
        live_of(phase, live);
        h.fetch<0>(from.slot(s) + phase * NTP * PADDED * 4 + lane_at, [&](int, int n, int b) { return live[n] && b < blocks; });
    };
    // Multiplies block by block, each as soon as it is there; what is not is asked for again, with all that is missing after it.
    // What was fetched long ahead is usually there, and is waited for at once.
    auto finish = [&](Block& h, const Exchange& from, int s, int phase, auto& acc, auto first) {
        bool live[NTP];
        live_of(phase, live);
        const u32* at = from.slot(s) + phase * NTP * PADDED * 4 + lane_at;
        const u32 flag = Exchange::flag(s);
        auto which = [&](int part, int n, int b) { return live[n] && b < blocks && h.missing(part, n, b, flag); };
        auto one = [&](auto block) {
            constexpr int b = decltype(block)::value;
            if constexpr (b < WB) {
                constexpr int kFirst = AHEAD ? (b == 0 ? 0 : WB) : b, kLast = AHEAD ? WB - 1 : b;
                while (kFirst <= kLast) {
                    u32 missing = 0;
#pragma unroll
                    for (int i = kFirst; i <= kLast; ++i)
#pragma unroll
                        for (int n = 0; n < NTP; ++n)
#pragma unroll
                            for (int part = 0; part < PARTS; ++part) missing |= which(part, n, i);
                    if (!__any_sync(~0u, missing) || watch.expired()) break;
                    h.fetch<b>(at, which);
                }
                weights.multiply<decltype(first)::value, b>(acc, h);
            }
        };
        one(Constant<0>()), one(Constant<1>()), one(Constant<2>()), one(Constant<3>()), one(Constant<4>()), one(Constant<5>()), one(Constant<6>()), one(Constant<7>());
        static_assert(WB <= 8, "at most eight blocks of K per warp");
    };

    Block own;
    own.clear();
    begin(own, team.out, 0, 0);
#if CHAINED
    Block fed;
    fed.clear();
    if (chained) begin(fed, below, 1, 0);
#endif
    u32 buffer = 0;
#pragma unroll 1
    for (int t = 0; t < p.steps; ++t) {
        const float unscale = slab.unscale / (CELL == GRU || t == 0 ? scale0 : 1.f);
#pragma unroll 1
        for (int phase = 0; phase < PHASES; ++phase) {
            const int next_t = phase + 1 < PHASES ? t : t + 1, next_phase = phase + 1 < PHASES ? phase + 1 : 0;
            float acc[PARTS * CHAINS][NTP][TILES][4] = {};
#if CHAINED
            if (chained) {   // the slab below is ahead: this is off the chain of steps
                finish(fed, below, t + 1, phase, acc, Constant<WB>());
                if (next_t < p.steps) begin(fed, below, next_t + 1, next_phase);
                if (CELL != GRU && t == 0) {
#pragma unroll
                    for (int i = 0; i < PARTS * CHAINS * NTP * TILES * 4; ++i) acc[i / (NTP * TILES * 4)][i / (TILES * 4) % NTP][i / 4 % TILES][i % 4] *= scale0;
                }
            }
#endif
            finish(own, team.out, t, phase, acc, Constant<0>());
            if (PHASES > 1 && next_t < p.steps) begin(own, team.out, next_t, next_phase);

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
                    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(partial + ((warp * NTP + n) * TILES + tile) * 512 + lane * 16),
                                 "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
                }
            asm volatile("cp.async.wait_group %0;" ::"n"(PHASES - 1) : "memory");
            Inputs inputs[ROUNDS];
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round)
                if (const int i = first_of(phase) + round * THREADS; i < ELEMENTS) inputs[round].load(team, t, phase, Element(phase, i), unscale_gates);
            __syncthreads();

            float sum[ROUNDS][ROW_GATES];   // sums of all rounds come before any gate, so that they overlap
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round) {
                const int i = first_of(phase) + round * THREADS;
                if (i >= ELEMENTS) continue;
                const Element e(phase, i);
                float part[ROW_GATES][WARPS];
#pragma unroll
                for (int gate = 0; gate < ROW_GATES; ++gate)
#pragma unroll
                    for (int w = 0; w < WARPS; ++w)
                        part[gate][w] = lds(partial + ((w * NTP + e.n) * TILES * 128 + (gate * (UNITS / 2) + e.pair) * 16 + (i & 15)) * 4);
#pragma unroll
                for (int gate = 0; gate < ROW_GATES; ++gate) {
                    float even = part[gate][0], odd = WARPS > 1 ? part[gate][1 % WARPS] : 0.f;
#pragma unroll
                    for (int w = 2; w < WARPS; ++w) (w & 1 ? odd : even) += part[gate][w];
                    sum[round][gate] = even + odd;
                }
            }
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round)
                if (first_of(phase) + round * THREADS < ELEMENTS) inputs[round].step(sum[round], unscale);
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round) {
                const int i = first_of(phase) + round * THREADS;
                if (i >= ELEMENTS) continue;
#ifdef STALL_FOR_TEST   // the team gets no more states from this CTA, so the watchdog must end the launch
                if (rank == 0 && t == 1) continue;
#endif
                if (t + 1 < p.steps || CHAINED) team.send(Element(phase, i), t + 1, inputs[round].h, team.scale);
            }
            if (PHASES == 1 && next_t < p.steps) begin(own, team.out, next_t, 0);
#pragma unroll
            for (int round = 0; round < ROUNDS; ++round) {   // off the chain of steps
                const int i = first_of(phase) + round * THREADS;
                if (i >= ELEMENTS) continue;
                const Element e(phase, i);
                sts(team.state_at(phase, e), inputs[round].h);
                if (CELL == LSTM) sts(team.state_at(phase, e) + STATE_BYTES, inputs[round].c);
                if (t + 1 < p.steps) team.fetch_below(t + 1, phase, e);
                team.output(e, t, inputs[round].h);
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            buffer ^= 1;
        }
    }

    for (int phase = 0; phase < PHASES; ++phase)
        for (int i = first_of(phase); i < ELEMENTS; i += THREADS) {
            const Element e(phase, i);
            if (!team.real(e)) continue;
            if (slab.hn) slab.hn[team.state_of(e)] = lds(team.state_at(phase, e));
            if (CELL == LSTM && slab.cn) slab.cn[team.state_of(e)] = lds(team.state_at(phase, e) + STATE_BYTES);
        }
    if (watch.failed) *(volatile u32*)p.error = 1;
}
