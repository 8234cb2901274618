// A stack of recurrent layers (RNN, GRU, LSTM) in one launch on Hopper: sm_90a, no includes, shapes as macros.
//
// A cluster of CTAs owns one "slab" (a layer, or one direction of a layer) for up to eight sequences of the batch. Every
// CTA owns UNITS hidden units and keeps their rows of W_hh as tensor-core fragments in registers. A step is
//     wait until h_{t-1} of all CTAs has arrived -> mma -> gates in the registers of the mma -> push own slice of h_t
// where the push is st.async into every CTA of the cluster, counted by transaction barriers: no cluster barrier and no
// block barrier in the loop. What the step takes from below (W_ih x_t + biases) is left in a ring in shared memory by
// other warps, steps ahead, so it is off that chain:
//     recurrent warps   the chain above; a warp owns all gates of its units, so the gates need no exchange
//     feed warp         brings the states of the slab below into shared memory as they appear (CHAINED)
//     input warps       W_ih times these, or rows of a finished product (p.slab[].gates)
//     output warp       takes h_t from shared memory to the outputs and to the slab above, and tells that one how far
// Slabs meet in full-length buffers in global memory behind release/acquire counters that only grow from launch to
// launch, so nothing needs clearing and no slab can wait for one above it. With CHAINED all clusters must be resident at
// once (the host asks the driver). A launch that lasts LIMIT_NS sets p.error and ends without waiting.
//
// Operands are rounded to fp16 (11 significant bits, as TF32) after scaling by powers of two that keep them in range;
// PARTS 2 splits them in two terms and takes three products (about 22 bits). RELU states are unbounded: bf16, PARTS 2.

@@part_gates.cu@@

#ifndef CLUSTER
#define CLUSTER 8   // CTAs of a cluster
#endif
#ifndef KSPLIT
#define KSPLIT 1    // recurrent warps that share one group of units, each with a part of K
#endif
#ifndef PARTS
#define PARTS 1     // terms per operand
#endif
#ifndef CHAINS
#define CHAINS (CHAINED ? 2 : 4)    // independent accumulators per tile
#endif
#ifndef PASS
#define PASS 4      // steps an input warp takes at once: gates of a finished product, or with W_ih in shared memory
#endif
#ifndef STAGES
#define STAGES 8    // steps of the slab below kept in shared memory
#endif
#ifndef RING
#define RING 8      // steps of input part kept ahead
#endif
#ifndef LIMIT_NS
#define LIMIT_NS 2000000000u   // how long a launch may take
#endif
#ifndef OUT
#define OUT 16      // steps of h the output warp may lag; at least RING, see output_role
#endif
#ifndef IH_REGS
#define IH_REGS (PARTS == 1)   // W_ih in registers, else in shared memory
#endif
#ifndef SET_REGS
#define SET_REGS 0   // registers of a recurrent, an input and an output thread; roles are then whole warpgroups
#define SET_REGS_IN 0
#define SET_REGS_OUT 0
#endif

#define UNITS (PADDED / CLUSTER)
#define UPT (GATES == 1 ? 2 : 1)             // units per thread: rows g and g + 8 of a tile
#define GROUP_UNITS (8 * UPT)                // units per group: one recurrent warp (KSPLIT of them) and one input warp
#define GROUPS (UNITS / GROUP_UNITS)
#define TILES (GATES == 1 ? 1 : 2)           // 16-row tiles per group: gates 0,1 and 2,3 of eight units
#define PAIRS (GATES == 1 ? 2 : GATES)       // values (per sequence) a thread needs from below
#define KBLOCKS (PADDED / 32)                // one ldmatrix.x4 each
#define WARP_BLOCKS (KBLOCKS / KSPLIT)
#define KSTEPS (PADDED / 16)
#define ACCS (PARTS == 1 ? CHAINS : 2)      // PARTS 2: large products, small products

// A product has eight columns. With up to four sequences, each takes two columns. A thread's pair of results is then one value,
// and the gates cost half. With five to eight sequences, each takes one column. Columns past the last repeat it and are not read.
#define TWICE (SEQUENCES <= 4)
#define PER_THREAD (TWICE ? 1 : 2)           // sequences per thread
#define PITCH (TWICE ? 4 : 8)                // sequences stored: then all lanes push, and a push cannot be predicated

#define ROUND4(n) (SET_REGS ? ((n) + 3) / 4 * 4 : (n))
#define REC_WARPS ROUND4(GROUPS * KSPLIT)
#define IN_WARPS ROUND4(GROUPS)
#define OUT_WARPS ROUND4(2)
#define THREADS (32 * (REC_WARPS + IN_WARPS + OUT_WARPS))

#define PLANE_BYTES (PADDED * PITCH * 2)     // one term of h: [unit / 8][sequence][unit % 8] of 16 bits
#define SLOT_BYTES (PARTS * PLANE_BYTES)
#define H_AT 0
#define RING_AT (H_AT + 2 * SLOT_BYTES)
#define STAGE_AT (RING_AT + RING * GROUPS * PAIRS * PER_THREAD * 128)
#define PARTIAL_AT (STAGE_AT + (CHAINED ? STAGES * SLOT_BYTES : 0))
#define WIH_AT (PARTIAL_AT + 2 * (KSPLIT - 1) * GROUPS * TILES * 512)
#define OUT_AT (WIH_AT + (CHAINED && !IH_REGS ? PARTS * GROUPS * TILES * KSTEPS * 512 : 0))
#define BARS_AT (OUT_AT + OUT * UNITS * 32)
#define BARS (2 + OUT + (CHAINED ? 2 * STAGES : 0))   // h of both slots, steps done, stages full, stages empty
#define WORDS_AT (BARS_AT + BARS * 8)
#define WORDS (GROUPS + 3)   // produced by each input warp, consumed, two magnitudes

typedef unsigned int u32;

struct Slab {
    const uint4* w_hh;   // fragments [part][rank][group][tile][kstep][lane]
    const uint4* w_ih;   // the same; null unless fed by the slab before
    const float* bias;   // [PADDED][4], summed where the cell sums them; GRU: r, z, input n, hidden n
    const float* gates;  // W_ih x of every step, without bias; null when fed by the slab before
    const float* first;  // [batch][GATES][HIDDEN] or null: what the state before step 0 adds to it, instead of h0
    const float* h0;     // [batch][HIDDEN] or null for zeros
    const float* c0;
    float* hn;           // each output may be null
    float* cn;
    float* y;
    unsigned short* y16; // fp16 copy of y
    float unscale_hh, unscale_ih;
    int reverse, unused;
};

struct Problem {
    Slab slab[SLABS];
    long long gates_t, gates_b, y_t, y_b, y16_t, y16_b;   // strides in elements
    u32* exchange;       // [slab][group][step][part][unit / 8][PITCH sequences][unit % 8] for the slab above
    u32* flags;          // [slab][group][rank]: base + steps stored
    u32* control;        // base of the flags, CTAs that have left
    u32* error;          // set when a wait outlasted LIMIT_NS; host memory
    int steps, batch, groups, per_group;
};

__device__ __forceinline__ u32 smem_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ u32 lds_acquire(u32 a) {
    u32 v;
    asm volatile("ld.acquire.cta.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
    return v;
}
__device__ __forceinline__ void sts_release(u32 a, u32 v) {
    asm volatile("st.release.cta.shared::cta.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
}
__device__ __forceinline__ u32 ldg_acquire(const u32* a) {
    u32 v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    return v;
}

// Limits every wait by the time since the kernel began. After the limit waits return at once, every warp still runs through
// its loop, all barriers match, and the failure is reported. This code is small, because even a skipped wait costs
// instruction fetches in the chain.
struct Watch {
    u32 began;
    bool failed;
    __device__ Watch() : began(now()), failed(false) {}
    __device__ static u32 now() {
        u32 t;
        asm volatile("mov.u32 %0, %globaltimer_lo;" : "=r"(t));
        return t;
    }
    template <class Ready> __device__ __forceinline__ void wait(Ready ready) {
        while (!ready())
            if (now() - began > LIMIT_NS) {
                failed = true;
                break;
            }
    }
    __device__ void report(const Problem& p) const {
        if (failed) *(volatile u32*)p.error = 1;
    }
};

__device__ __forceinline__ bool barrier_passed(u32 bar, u32 parity) {
    u32 done;
    asm volatile("{ .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    return done;
}
// Predicated rather than branched around: a branch and its reconvergence cost a warp some 30 cycles.
__device__ __forceinline__ void barrier_arrive_if(bool p, u32 bar) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(bar), "r"((u32)p) : "memory");
}
__device__ __forceinline__ void barrier_expect_if(bool p, u32 bar, u32 bytes) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1; }" ::"r"(bar), "r"(bytes), "r"((u32)p) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void block_barrier(int id, int threads) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ u32 peer_address(u32 local, u32 rank) {
    u32 a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(local), "r"(rank));
    return a;
}
__device__ __forceinline__ void push(u32 to, u32 bar, u32 v) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to), "r"(v), "r"(bar) : "memory");
}

__device__ __forceinline__ void load_b(u32 (&b)[4], u32 address) {   // 32 k by 8 sequences
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(address) : "memory");
}
__device__ __forceinline__ u32 row_of(int lane) {   // the row of h whose address this lane provides in load_b
    const int s = TWICE ? (lane & 7) >> 1 : lane & 7;
    return ((lane >> 3) * PITCH + (s < SEQUENCES ? s : SEQUENCES - 1)) * 16;
}
__device__ __forceinline__ u32 transpose(u32 v) {   // 8 x 8 of 16 bits over the warp
    u32 r;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(v));
    return r;
}
#if CELL == RNN_RELU
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#define CVT2 "cvt.rn.bf16x2.f32 "
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#define CVT2 "cvt.rn.f16x2.f32 "
#endif
__device__ __forceinline__ void mma(float (&c)[4], uint4 a, u32 b0, u32 b1) {
    asm(MMA "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}
__device__ __forceinline__ u32 pack(float low, float high) {
    u32 r;
    asm(CVT2 "%0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
__device__ __forceinline__ float unpack(u32 v, int high) {
#if CELL == RNN_RELU
    return __uint_as_float(high ? v & 0xffff0000u : v << 16);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"((unsigned short)(high ? v >> 16 : v)));
    return f;
#endif
}

// The power of two that brings |h| <= max(1, largest |h0|) below 2^14, 2^10 where h0 allows it.
__device__ __forceinline__ float range_scale(u32 largest_bits) {
    if (CELL == RNN_RELU) return 1.f;
    int k = 14 - ((int)(largest_bits >> 23) - 126);
    k = k > 10 ? 10 : k < -110 ? -110 : k;
    return __uint_as_float((u32)(127 + k) << 23);
}

struct Place {   // the position of a CTA
    u32 smem, rank, slab, group, cluster;
    int first, sequences;   // of the batch
    u32 base;               // of the flags
    float scale, scale_below;
    __device__ u32 produced(int g) const { return smem + WORDS_AT + 4 * g; }
    __device__ u32 consumed() const { return smem + WORDS_AT + 4 * GROUPS; }
    __device__ u32 bar(int slot) const { return smem + BARS_AT + 8 * slot; }
    __device__ u32 done_bar(int t) const { return smem + BARS_AT + 8 * (2 + t % OUT); }
    __device__ bool done(int t) const { return barrier_passed(done_bar(t), (t / OUT) & 1); }
    __device__ u32 full_bar(int t) const { return smem + BARS_AT + 8 * (2 + OUT + t % STAGES); }
    __device__ u32 empty_bar(int t) const { return smem + BARS_AT + 8 * (2 + OUT + STAGES + t % STAGES); }
    __device__ u32 stage(int t) const { return smem + STAGE_AT + t % STAGES * SLOT_BYTES; }
};

__device__ __forceinline__ u32* exchange_step(const Problem& p, u32 cluster, int t) {
    return p.exchange + ((size_t)cluster * p.steps + t) * (SLOT_BYTES / 4);
}

template <int N> struct Constant {
    static constexpr int value = N;
};

__device__ void recurrent_role(const Problem& p, const Place& at, int group, int split, int lane) {
    const Slab& slab = p.slab[at.slab];
    const int g = lane >> 2, q = lane & 3, steps = p.steps;
    const bool primary = split == 0;
    Watch watch;

    uint4 w[PARTS][TILES][2 * WARP_BLOCKS];
#pragma unroll
    for (int part = 0; part < PARTS; ++part)
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
            for (int k = 0; k < 2 * WARP_BLOCKS; ++k)
                w[part][tile][k] = slab.w_hh[((((part * CLUSTER + at.rank) * GROUPS + group) * TILES + tile) * KSTEPS +
                                              split * 2 * WARP_BLOCKS + k) * 32 + lane];

    const int unit = at.rank * UNITS + group * GROUP_UNITS + g;
    const float unscale = slab.unscale_hh / at.scale;
    float h[UPT][PER_THREAD], c[PER_THREAD] = {}, hidden_bias = 0.f;
    auto real = [&](int u, int e) { return PER_THREAD * q + e < at.sequences && unit + 8 * u < HIDDEN; };
    auto state = [&](int u, int e) { return (size_t)(at.first + PER_THREAD * q + e) * HIDDEN + unit + 8 * u; };
#pragma unroll
    for (int u = 0; u < UPT; ++u)
#pragma unroll
        for (int e = 0; e < PER_THREAD; ++e) {
            h[u][e] = slab.h0 && real(u, e) ? slab.h0[state(u, e)] : 0.f;
            if (CELL == LSTM && slab.c0 && real(u, e)) c[e] = slab.c0[state(u, e)];
        }
    if (CELL == GRU) hidden_bias = kTanh * slab.bias[unit * 4 + 3];

    // If a sequence has two columns, odd rows send to the other half of the peers. The own CTA comes last.
    constexpr int kPushes = TWICE && CLUSTER > 1 ? CLUSTER / 2 : CLUSTER;
    u32 peer_smem[kPushes];
#pragma unroll
    for (int i = 0; i < kPushes; ++i)
        peer_smem[i] = peer_address(at.smem, (at.rank + 1 + i + (kPushes < CLUSTER && (g & 1) ? kPushes : 0)) % CLUSTER);
    // After transpose() a lane holds two units of sequence g, or of g / 2 twice; eight units of all sequences are adjacent.
    const u32 push_at = H_AT + (unit - g) * PITCH * 2 + (TWICE ? g >> 1 : g) * 16 + q * 4;
    constexpr u32 kBytes = PARTS * UPT * 32 * 4 * kPushes;   // bytes that the corresponding warps of the cluster send to this CTA
    const u32 rows = at.smem + H_AT + split * WARP_BLOCKS * PITCH * 64 + row_of(lane);
    const u32 out_at = at.smem + OUT_AT + (group * GROUP_UNITS + g) * 32 + q * 4 * PER_THREAD;

    u32 ahead = 0;

    auto step = [&](const int t, auto parity) {
        constexpr int to = decltype(parity)::value, from = to ^ 1;   // h_{-1} is in slot 1
        float below[PAIRS][PER_THREAD];
        if (primary) {
            if (ahead <= (u32)t) watch.wait([&] { return (ahead = lds_acquire(at.produced(group))) > (u32)t; });
            const u32 ring = at.smem + RING_AT + (((t % RING) * GROUPS + group) * PAIRS * 32 + lane) * 4 * PER_THREAD;
#pragma unroll
            for (int i = 0; i < PAIRS; ++i)
#if TWICE
                asm volatile("ld.shared.f32 %0, [%1];" : "=f"(below[i][0]) : "r"(ring + 128 * i));
#else
                asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(below[i][0]), "=f"(below[i][PER_THREAD - 1]) : "r"(ring + 256 * i));
#endif
        }

        if (t) watch.wait([&] { return barrier_passed(at.bar(from), ((t - 1) >> 1) & 1); });
        float acc[TILES][ACCS][4] = {};
#pragma unroll
        for (int kb = 0; kb < WARP_BLOCKS; ++kb) {
            u32 b[PARTS][4];
#pragma unroll
            for (int part = 0; part < PARTS; ++part)
                load_b(b[part], rows + from * SLOT_BYTES + part * PLANE_BYTES + kb * PITCH * 64);
#pragma unroll
            for (int s = 0; s < 2; ++s)
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile) {
                    const int k = 2 * kb + s;
                    if (PARTS == 1) {
                        mma(acc[tile][k % ACCS], w[0][tile][k], b[0][2 * s], b[0][2 * s + 1]);
                    } else {
                        mma(acc[tile][0], w[0][tile][k], b[0][2 * s], b[0][2 * s + 1]);
                        mma(acc[tile][1 % ACCS], w[0][tile][k], b[PARTS - 1][2 * s], b[PARTS - 1][2 * s + 1]);
                        mma(acc[tile][1 % ACCS], w[PARTS - 1][tile][k], b[0][2 * s], b[0][2 * s + 1]);
                    }
                }
        }
        float sum[TILES][4];
#pragma unroll
        for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                sum[tile][i] = acc[tile][0][i];
                if (ACCS == 2) sum[tile][i] += acc[tile][1 % ACCS][i];
                if (ACCS == 4) sum[tile][i] = (sum[tile][i] + acc[tile][1 % ACCS][i]) + (acc[tile][2 % ACCS][i] + acc[tile][3 % ACCS][i]);
            }

        if (KSPLIT > 1) {
            const u32 partial = at.smem + PARTIAL_AT + ((to * GROUPS + group) * (KSPLIT - 1)) * TILES * 512 + lane * 16;
            if (!primary) {
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile)
                    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(partial + ((split - 1) * TILES + tile) * 512),
                                 "f"(sum[tile][0]), "f"(sum[tile][1]), "f"(sum[tile][2]), "f"(sum[tile][3]) : "memory");
                asm volatile("barrier.cta.arrive %0, %1;" ::"r"(2 + group), "r"(32 * KSPLIT) : "memory");
                return;
            }
            block_barrier(2 + group, 32 * KSPLIT);
#pragma unroll
            for (int other = 0; other < (KSPLIT - 1) * TILES; ++other) {
                float v[4];
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                             : "r"(partial + other * 512) : "memory");
#pragma unroll
                for (int i = 0; i < 4; ++i) sum[other % TILES][i] += v[i];
            }
        }

#pragma unroll
        for (int e = 0; e < PER_THREAD; ++e) {
            if (CELL == RNN_TANH || CELL == RNN_RELU) {
#pragma unroll
                for (int u = 0; u < UPT; ++u)
                    h[u][e] = rnn_state([&](int) { return fmaf(sum[0][2 * u + e], unscale * gate_scale(0), below[u][e]); });
            } else {
                auto argument = [&](int gate) { return fmaf(sum[gate / 2 % TILES][gate % 2 * 2 + e], unscale * gate_scale(gate), below[gate % PAIRS][e]); };
                auto hidden = [&] { return fmaf(sum[TILES - 1][e], unscale * kTanh, hidden_bias); };
                h[0][e] = CELL == GRU ? gru_state(argument, hidden, [&] { return below[2 % PAIRS][e]; }, h[0][e]) : lstm_state(argument, c[e]);
            }
        }

        if (t + 1 < steps && !watch.failed) {
#pragma unroll
            for (int u = 0; u < UPT; ++u) {
                u32 word[PARTS];
                const float x0 = h[u][0] * at.scale, x1 = h[u][PER_THREAD - 1] * at.scale;
                word[0] = pack(x0, x1);
                if (PARTS == 2) word[PARTS - 1] = pack(x0 - unpack(word[0], 0), x1 - unpack(word[0], 1));
#pragma unroll
                for (int part = 0; part < PARTS; ++part) {
                    const u32 v = transpose(word[part]);
                    const u32 offset = push_at + to * SLOT_BYTES + part * PLANE_BYTES + u * PITCH * 16;
#pragma unroll
                    for (int i = 0; i < kPushes; ++i) push(peer_smem[i] + offset, peer_smem[i] + BARS_AT + 8 * to, v);
                }
            }
            barrier_expect_if(lane == 0, at.bar(to), kBytes);
        }

#pragma unroll
        for (int u = 0; u < UPT; ++u)
#if TWICE
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(out_at + (t % OUT) * UNITS * 32 + u * 256), "f"(h[u][0]) : "memory");
#else
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(out_at + (t % OUT) * UNITS * 32 + u * 256), "f"(h[u][0]), "f"(h[u][PER_THREAD - 1]) : "memory");
#endif
        __syncwarp();
        barrier_arrive_if(lane == 0, at.done_bar(t));
    };
    for (int t = 0; t < steps; t += 2) {
        if (t % 4 == 0 && t + 4 > OUT) watch.wait([&] { return t + 4 <= (int)lds_acquire(at.consumed()) + OUT; });
        step(t, Constant<0>());
        if (t + 1 < steps) step(t + 1, Constant<1>());
    }
    watch.report(p);
    if (primary) {
#pragma unroll
        for (int u = 0; u < UPT; ++u)
#pragma unroll
            for (int e = 0; e < PER_THREAD; ++e)
                if (real(u, e)) {
                    if (slab.hn) slab.hn[state(u, e)] = h[u][e];
                    if (CELL == LSTM && slab.cn) slab.cn[state(u, e)] = c[e];
                }
    }
}

struct InputThread {   // an input thread feeds the recurrent thread of the same group and lane
    const Place& at;
    int group, lane;
    float bias[PAIRS], factor[PAIRS];

    __device__ InputThread(const Problem& p, const Place& place, int group_, int lane_, float unscale)
        : at(place), group(group_), lane(lane_) {
        const int unit = at.rank * UNITS + group * GROUP_UNITS + (lane >> 2);
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            float b = GATES == 1 ? p.slab[at.slab].bias[(unit + 8 * i) * 4] : p.slab[at.slab].bias[unit * 4 + i];
            bias[i] = b * gate_scale(i);
            factor[i] = unscale * gate_scale(i);
        }
    }
    __device__ __forceinline__ void leave(Watch& watch, int t, const float (&v)[PAIRS][PER_THREAD]) {
        if (t >= RING) watch.wait([&] { return at.done(t - RING); });
        const u32 ring = at.smem + RING_AT + (((t % RING) * GROUPS + group) * PAIRS * 32 + lane) * 4 * PER_THREAD;
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            const float x = fmaf(v[i][0], factor[i], bias[i]);
#if TWICE
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(ring + 128 * i), "f"(x) : "memory");
#else
            const float y = fmaf(v[i][PER_THREAD - 1], factor[i], bias[i]);
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(ring + 256 * i), "f"(x), "f"(y) : "memory");
#endif
        }
        __syncwarp();
        if (lane == 0) sts_release(at.produced(group), t + 1);
    }
    // Adds slab.first to the input part of step 0, which `unscale` (a power of two) will multiply.
    __device__ __forceinline__ void add_first(const Slab& slab, float unscale, float (&v)[PAIRS][PER_THREAD]) const {
        if (CELL == GRU || (PARTS == 2 && CELL != RNN_RELU) || !slab.first) return;   // at float32 level h0 needs no help
        const int unit = at.rank * UNITS + group * GROUP_UNITS + (lane >> 2), sequence = PER_THREAD * (lane & 3);
#pragma unroll
        for (int i = 0; i < PAIRS; ++i)
#pragma unroll
            for (int e = 0; e < PER_THREAD; ++e) {
                const int gate = GATES == 1 ? 0 : i, j = GATES == 1 ? unit + 8 * i : unit;
                if (sequence + e < at.sequences && j < HIDDEN)
                    v[i][e] += slab.first[((size_t)(at.first + sequence + e) * GATES + gate) * HIDDEN + j] / unscale;
            }
    }
};

__device__ __forceinline__ void gates_of(const float (&acc)[TILES][4], float (&v)[PAIRS][PER_THREAD]) {
#pragma unroll
    for (int i = 0; i < PAIRS; ++i)
#pragma unroll
        for (int e = 0; e < PER_THREAD; ++e) v[i][e] = acc[i / 2][2 * (i & 1) + e];
}

// Reads rows of a product computed before the launch.
__device__ void gates_role(const Problem& p, const Place& at, int group, int lane) {
    const Slab& slab = p.slab[at.slab];
    InputThread thread(p, at, group, lane, slab.unscale_ih);
    Watch watch;
    asm volatile("griddepcontrol.wait;" ::: "memory");   // the product may still be running
    const int unit = at.rank * UNITS + group * GROUP_UNITS + (lane >> 2), q = lane & 3;
    auto load = [&](int t, float (&v)[PAIRS][PER_THREAD]) {
        const int step = slab.reverse ? p.steps - 1 - t : t;
#pragma unroll
        for (int i = 0; i < PAIRS; ++i)
#pragma unroll
            for (int e = 0; e < PER_THREAD; ++e) {
                const int j = GATES == 1 ? unit + 8 * i : unit;
                const bool real = t < p.steps && PER_THREAD * q + e < at.sequences && j < HIDDEN;
                v[i][e] = real ? slab.gates[step * p.gates_t + (at.first + PER_THREAD * q + e) * p.gates_b + (GATES == 1 ? 0 : i * HIDDEN) + j] : 0.f;
            }
    };
    float next[PASS][PAIRS][PER_THREAD];
#pragma unroll
    for (int i = 0; i < PASS; ++i) load(i, next[i]);
    thread.add_first(slab, slab.unscale_ih, next[0]);
    for (int t = 0; t < p.steps; t += PASS) {
        float now[PASS][PAIRS][PER_THREAD];
#pragma unroll
        for (int i = 0; i < PASS; ++i)
#pragma unroll
            for (int j = 0; j < PAIRS * PER_THREAD; ++j) now[i][j / PER_THREAD][j % PER_THREAD] = next[i][j / PER_THREAD][j % PER_THREAD];
#pragma unroll
        for (int i = 0; i < PASS; ++i) load(t + PASS + i, next[i]);
#pragma unroll
        for (int i = 0; i < PASS; ++i)
            if (t + i < p.steps) thread.leave(watch, t + i, now[i]);
    }
}

#if CHAINED
// Brings every step of the slab below into shared memory as soon as all its CTAs have stored it.
__device__ void feed_role(const Problem& p, const Place& at, int lane) {
    const u32 below = at.cluster - p.groups;
    Watch watch;
    for (int t = 0, stored = 0; t < p.steps; ++t) {
        if (t >= stored) {
            watch.wait([&] {
                stored = lane < CLUSTER ? (int)(ldg_acquire(p.flags + below * CLUSTER + lane) - at.base) : p.steps;
                return __all_sync(~0u, stored > t);
            });
            stored = __reduce_min_sync(~0u, stored);
        }
        if (t >= STAGES) watch.wait([&] { return barrier_passed(at.empty_bar(t), (t / STAGES - 1) & 1); });
        const char* source = (const char*)exchange_step(p, below, t);
        for (int i = lane * 16; i < SLOT_BYTES; i += 512)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at.stage(t) + i), "l"(source + i) : "memory");
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at.full_bar(t)) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    watch.report(p);
}

// W_ih times the states of the slab below.
__device__ void chained_role(const Problem& p, const Place& at, int group, int lane) {
    const Slab& slab = p.slab[at.slab];
    const float unscale = slab.unscale_ih / at.scale_below;
    InputThread thread(p, at, group, lane, unscale);
    Watch watch;
    auto full = [&](int t) { return barrier_passed(at.full_bar(t), (t / STAGES) & 1); };
    const uint4* packed = slab.w_ih + ((size_t)(at.rank * GROUPS + group) * TILES * KSTEPS) * 32 + lane;
#if IH_REGS
    uint4 w[TILES][KSTEPS];
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
        for (int k = 0; k < KSTEPS; ++k) w[tile][k] = packed[(tile * KSTEPS + k) * 32];
#else
    const u32 w_smem = at.smem + WIH_AT + group * PARTS * TILES * KSTEPS * 512 + lane * 16;
    for (int part = 0; part < PARTS; ++part)
        for (int i = 0; i < TILES * KSTEPS; ++i) {
            uint4 v = packed[(size_t)part * CLUSTER * GROUPS * TILES * KSTEPS * 32 + i * 32];
            asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(w_smem + (part * TILES * KSTEPS + i) * 512),
                         "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
        }
    __syncwarp();
#endif
    const u32 rows = row_of(lane);
#if IH_REGS
    for (int t = 0; t < p.steps; ++t) {
        watch.wait([&] { return full(t); });
        {
            float acc[TILES][2][4] = {};
#pragma unroll
            for (int kb = 0; kb < KBLOCKS; ++kb) {
                u32 b[4];
                load_b(b, at.stage(t) + rows + kb * PITCH * 64);
#pragma unroll
                for (int s = 0; s < 2; ++s)
#pragma unroll
                    for (int tile = 0; tile < TILES; ++tile) mma(acc[tile][s], w[tile][2 * kb + s], b[2 * s], b[2 * s + 1]);
            }
            float sum[TILES][4], v[PAIRS][PER_THREAD];
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[tile][j] = acc[tile][0][j] + acc[tile][1][j];
            gates_of(sum, v);
            __syncwarp();
            if (lane == 0) barrier_arrive(at.empty_bar(t));
            if (t == 0) thread.add_first(slab, unscale, v);
            thread.leave(watch, t, v);
        }
    }
#else
    for (int t = 0; t < p.steps;) {
        int n = 1;
        watch.wait([&] { return full(t); });
#pragma unroll
        for (int i = 1; i < PASS; ++i)
            if (n == i && t + i < p.steps && __all_sync(~0u, full(t + i))) n = i + 1;
        float acc[PASS][TILES][4] = {}, small[PASS][TILES][4] = {};   // apart: the tensor cores round their sums towards zero
        for (int kb = 0; kb < KBLOCKS; ++kb) {
            u32 b[PASS][PARTS][4];
#pragma unroll
            for (int i = 0; i < PASS; ++i)
#pragma unroll
                for (int part = 0; part < PARTS; ++part)
                    load_b(b[i][part], at.stage(t + i) + part * PLANE_BYTES + rows + kb * PITCH * 64);
#pragma unroll
            for (int s = 0; s < 2; ++s)
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
                    for (int part = 0; part < PARTS; ++part) {
                        uint4 a;
                        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a.x), "=r"(a.y), "=r"(a.z), "=r"(a.w)
                                     : "r"(w_smem + ((part * TILES + tile) * KSTEPS + 2 * kb + s) * 512));
#pragma unroll
                        for (int i = 0; i < PASS; ++i)
#pragma unroll
                            for (int other = 0; other + part < PARTS; ++other)
                                mma(other + part ? small[i][tile] : acc[i][tile], a, b[i][other][2 * s], b[i][other][2 * s + 1]);
                    }
        }
        __syncwarp();
        if (lane < n) barrier_arrive(at.empty_bar(t + lane));
#pragma unroll
        for (int i = 0; i < PASS; ++i)
            if (i < n) {
                float v[PAIRS][PER_THREAD];
#pragma unroll
                for (int j = 0; j < 4 * TILES; ++j) acc[i][j / 4][j % 4] += small[i][j / 4][j % 4];
                gates_of(acc[i], v);
                if (i == 0 && t == 0) thread.add_first(slab, unscale, v);
                thread.leave(watch, t + i, v);
            }
        t += n;
    }
#endif
}

#endif

// Copies every h_t from shared memory to its destinations. A recurrent warp overwrites the slot of step t only when
// `consumed` allows, and an input warp looks at step t - RING before step t can be finished, so with OUT >= RING no
// phase of a done barrier can be missed.
__device__ void output_role(const Problem& p, const Place& at, int lane) {
    const Slab& slab = p.slab[at.slab];
    const bool feeds = CHAINED && at.slab + 1 < SLABS;
    const int steps = p.steps;
    Watch watch;
    for (int t = 0; t < steps;) {
        watch.wait([&] { return at.done(t); });
        const int limit = t + 4 < steps ? t + 4 : steps;
        do {
            const int at_step = slab.reverse ? steps - 1 - t : t;
            const u32 from_step = at.smem + OUT_AT + (t % OUT) * UNITS * 32;
            if (feeds)
                for (int i = lane; i < UNITS / 8 * PITCH; i += 32) {   // eight units of a sequence
                    uint4* out = (uint4*)exchange_step(p, at.cluster, t) + at.rank * (UNITS / 8 * PITCH) + i;
                    const u32 from = from_step + i / PITCH * 256 + i % PITCH * 4;
                    u32 word[PARTS][4];
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        float x0, x1;
                        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x0) : "r"(from + 64 * j) : "memory");
                        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x1) : "r"(from + 64 * j + 32) : "memory");
                        x0 *= at.scale, x1 *= at.scale;
                        word[0][j] = pack(x0, x1);
                        if (PARTS == 2) word[PARTS - 1][j] = pack(x0 - unpack(word[0][j], 0), x1 - unpack(word[0][j], 1));
                    }
#pragma unroll
                    for (int part = 0; part < PARTS; ++part)
                        out[part * (PLANE_BYTES / 16)] = make_uint4(word[part][0], word[part][1], word[part][2], word[part][3]);
                }
            for (int u = lane; u < UNITS; u += 32) {
                const int unit = at.rank * UNITS + u;
                const u32 from = from_step + u * 32;
                if ((slab.y || slab.y16) && unit < HIDDEN) {
                    float* y = slab.y + at_step * p.y_t + at.first * p.y_b + unit;
                    unsigned short* y16 = slab.y16 + at_step * p.y16_t + at.first * p.y16_b + unit;
                    float v[SEQUENCES];
#pragma unroll
                    for (int i = 0; i < SEQUENCES; ++i) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v[i]) : "r"(from + 4 * i) : "memory");
#pragma unroll
                    for (int i = 0; i < SEQUENCES; ++i, y += p.y_b, y16 += p.y16_b)
                        if (i < at.sequences) {
                            if (slab.y) *y = v[i];
                            if (slab.y16) asm volatile("{ .reg .b16 half; cvt.rn.f16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"(y16), "f"(v[i]) : "memory");
                        }
                }
            }
            ++t;
        } while (t < limit && __all_sync(~0u, at.done(t)));
        __syncwarp();
        if (lane == 0) sts_release(at.consumed(), t);
#ifdef STALL_FOR_TEST   // the slab above never gets these states, so its watchdog must end the launch
        continue;
#endif
        if (feeds) {
            if (lane == 0) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.flags + at.cluster * CLUSTER + at.rank), "r"(at.base + t) : "memory");
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) recurrent_cluster(const __grid_constant__ Problem p) {
    extern __shared__ __align__(128) unsigned char shared[];
    const int thread = threadIdx.x, warp = thread >> 5, lane = thread & 31;
    Place at;
    at.smem = smem_address(shared);
    asm("mov.u32 %0, %cluster_ctarank;" : "=r"(at.rank));
    at.cluster = blockIdx.x / CLUSTER;
    at.slab = at.cluster / p.groups;
    at.group = at.cluster % p.groups;
    at.first = at.group * p.per_group;
    at.sequences = p.batch - at.first < p.per_group ? p.batch - at.first : p.per_group;
    at.base = CHAINED ? p.control[0] : 0;

    u32* words = (u32*)(shared + WORDS_AT);
    for (int i = thread; i < WORDS; i += THREADS) words[i] = 0;
    if (thread < BARS) {
        const int arrivals = thread < 2 + OUT ? GROUPS : thread < 2 + OUT + STAGES ? 32 : GROUPS;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at.bar(thread)), "r"(arrivals) : "memory");
    }
    __syncthreads();

    // Scales from the largest |h0| of this slab and of the one below; then h_{-1} into slot 1.
    u32 largest = 0x3f800000u, largest_below = 0x3f800000u;
    auto magnitude = [&](const float* h0, u32& most, u32 word) {
        if (h0)
            for (int i = thread; i < at.sequences * HIDDEN; i += THREADS) {
                u32 bits = __float_as_uint(h0[(size_t)at.first * HIDDEN + i]) & 0x7fffffffu;
                if (bits < 0x7f800000u && bits > most) most = bits;
            }
        atomicMax(words + GROUPS + 1 + word, most);
    };
    magnitude(p.slab[at.slab].h0, largest, 0);
    if (CHAINED && at.slab) magnitude(p.slab[at.slab - 1].h0, largest_below, 1);
    __syncthreads();
    at.scale = range_scale(words[GROUPS + 1]);
    at.scale_below = CHAINED && at.slab ? range_scale(words[GROUPS + 2]) : 1.f;
    for (int i = thread; i < PLANE_BYTES / 4; i += THREADS) {
        const int unit = i / (PITCH * 4) * 8 + 2 * (i & 3), sequence = i / 4 % PITCH;
        const float* h0 = p.slab[at.slab].h0;
        float v[2];
        for (int e = 0; e < 2; ++e)
            v[e] = h0 && unit + e < HIDDEN && sequence < at.sequences ? h0[(size_t)(at.first + sequence) * HIDDEN + unit + e] * at.scale : 0.f;
        u32* slot = (u32*)(shared + H_AT + SLOT_BYTES);
        slot[i] = pack(v[0], v[1]);
        if (PARTS == 2) slot[(PARTS - 1) * (PLANE_BYTES / 4) + i] = pack(v[0] - unpack(slot[i], 0), v[1] - unpack(slot[i], 1));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    cluster_barrier();

    if (warp < REC_WARPS) {
#if SET_REGS
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(SET_REGS));
#endif
        if (warp < GROUPS * KSPLIT) recurrent_role(p, at, warp % GROUPS, warp / GROUPS, lane);
    } else if (warp < REC_WARPS + IN_WARPS) {
#if SET_REGS
        if (SET_REGS_IN > 65536 / THREADS / 8 * 8) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(SET_REGS_IN));
        else asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(SET_REGS_IN));
#endif
        const int group = warp - REC_WARPS;
        if (group < GROUPS) {
#if CHAINED
            if (at.slab) chained_role(p, at, group, lane);
            else
#endif
                gates_role(p, at, group, lane);
        }
    } else {
#if SET_REGS
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(SET_REGS_OUT));
#endif
        if (warp == REC_WARPS + IN_WARPS) output_role(p, at, lane);
#if CHAINED
        if (warp == REC_WARPS + IN_WARPS + 1 && at.slab) feed_role(p, at, lane);
#endif
    }

    __syncthreads();
    cluster_barrier();   // no CTA may exit while a peer can still push to it
    if (CHAINED && thread == 0) {
        __threadfence();
        if (atomicAdd(p.control + 1, 1) == gridDim.x - 1) {   // the last CTA to exit prepares the next launch
            p.control[1] = 0;
            p.control[0] = at.base + p.steps;
        }
    }
}
