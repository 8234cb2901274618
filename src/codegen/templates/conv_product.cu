// The products of a convolution on Hopper's fp16 tensor cores. Operands have 11 bits, as in TF32, and sums are float32. With PRECISE the result has
// float32's accuracy: planes and weights have two fp16 terms each, and three of their four products are separate steps. Every stage then has its own
// accumulator, which is added with a rounded addition (split_gemm.cu says why).
//
// A CTA computes one tile after another. A tile is ROWS output channels by PIXELS pixels of the grid. One warp fetches and two warpgroups multiply:
// 64 channels each (ROWS = 128), or half of the pixels each (ROWS = 64). A stage of the ring holds *windows* (runs of pixels of some planes) and the
// weights of the *steps* that read them. A step is one product over k = 16: two planes at one offset, or one plane at two offsets. In shared memory
// each pixel of a window has 16 bytes, and pixels are adjacent. (This is the layout without a swizzle. A core matrix is eight rows of 16 bytes and
// may begin at any multiple of 16 bytes.) So a step at another offset reads the same window a few rows further on. A tap along x needs no further
// copy, and a tap along y needs none where windows overlap. The host writes the content of a stage into tables.
//
// DIRECT: the input was not packed. One warpgroup reads float32, rounds it and writes the windows. This saves writing and reading the planes. It is
// faster where windows are read about once: in 1 x 1 kernels and in kernels with one axis.
//
// The maps that follow in the graph are defined in front of this file, as in_chain::chained and CHAIN(value, element of the output).
//
// Macros: ROWS, WIDE (pixels of a warpgroup: 64, 128, 256), VECTOR (pixels that are stored at once), CTAS (per processor), DIRECT, PRECISE, and SPREAD
// (outputs of a pixel along x; each is a separate row; for a transposed convolution with a stride).
#define PIXELS (WIDE * (ROWS == 128 ? 1 : 2))
#define MOST_STAGES 8
#define THREADS (DIRECT ? 384 : 288)
#define STEP_BYTES (ROWS * 32)
#define CHUNK 32                 // pixels per warp that are in shared memory at once
#define CHUNK_PITCH (CHUNK + 8)

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ __forceinline__ void fetch(u32 to, const void* from, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

#define R4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(d, i) R4(d, i), R4(d, i + 4), R4(d, i + 8), R4(d, i + 12)
#define R64(d, i) R16(d, i), R16(d, i + 16), R16(d, i + 32), R16(d, i + 48)

// d (64 channels x WIDE pixels) = w (64 x 16) x' (16 x WIDE), added to what d holds if `keep`.
#if WIDE == 64
__device__ __forceinline__ void multiply(float (&d)[32], u64 w, u64 x, int keep) {
    asm volatile(
        "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31}, %32, %33, keep, 1, 1, 0, 0;\n}"
        : R16(d, 0), R16(d, 16)
        : "l"(w), "l"(x), "r"(keep));
}
#elif WIDE == 128
__device__ __forceinline__ void multiply(float (&d)[64], u64 w, u64 x, int keep) {
    asm volatile(
        "{\n.reg .pred keep;\nsetp.ne.b32 keep, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
        "%58, %59, %60, %61, %62, %63}, %64, %65, keep, 1, 1, 0, 0;\n}"
        : R64(d, 0)
        : "l"(w), "l"(x), "r"(keep));
}
#else
__device__ __forceinline__ void multiply(float (&d)[128], u64 w, u64 x, int keep) {
    asm volatile(
        "{\n.reg .pred keep;\nsetp.ne.b32 keep, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
        "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "
        "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, "
        "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, keep, 1, 1, 0, 0;\n}"
        : R64(d, 0), R64(d, 64)
        : "l"(w), "l"(x), "r"(keep));
}
#endif

template <int LEFT>
__device__ __forceinline__ void multiply_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

// A set of taps. It gives every step-th output of each axis, beginning at `start`.
struct Phase {
    int first_stage, stages, steps;
    u32 weights;       // offset of group 0's weights, in units of STEP_BYTES
    int start[3];
};
struct Stage {
    int first_window, windows, first_step, steps;
    u32 window_bytes;   // of all windows; the weights follow them
    u32 step_number;    // its first step within the phase
};
struct Window {
    u32 plane, offset, pixels, at;   // `at`: in the stage
    // For DIRECT: the number of windows from this one on that have the same pixels of neighbouring planes (at most MOST_ALIKE), and the content of the planes.
    u32 alike;
    int channel, many;
    signed char move[4];
};
#define MOST_ALIKE 4

struct Shape {
    u64 plane_pixels;
    Divider phases, row_tiles, groups;
    int tiles, planes, channels, input_channels;     // planes and channels of a group
    u32 stage_bytes, ring, table_steps;   // ring: its stages
};

#if DIRECT
// Writes the windows of N neighbouring planes: converts float32 to fp16, 16 bytes of a pixel per thread. Returns the largest absolute value, or `most`.
template <int N>
__device__ __forceinline__ u32 fill(const PackInput& x, const Grid& grid, const Window* windows, int channel, u32 first_pixel, u32 to, float scale, u32 most) {
    const Window window = windows[0];
    u32 at[N];
    int many[N];
#pragma unroll
    for (int n = 0; n < N; ++n) at[n] = to + windows[n].at, many[n] = windows[n].many;
    for (u32 row = threadIdx.x - 256; row < window.pixels; row += 128) {
        const Pixel p = pixel_at(grid, first_pixel + window.offset + row);
        bool inside = p.batch < grid.batches;
        const float* from = x.at + p.batch * x.batch_step + (window.channel + channel) * x.channel_step;
#pragma unroll
        for (int a = 0; a < 3; ++a) {
            const int here = (int)p.at[a] * grid.step[a] + grid.low[a] + window.move[a];
            inside = inside && here >= 0 && here < x.size[a];
            from += here * x.axis_step[a];
        }
        float v[N][8];
#pragma unroll
        for (int n = 0; n < N; ++n)
#pragma unroll
            for (int i = 0; i < 8; ++i, from += x.channel_step) v[n][i] = inside && i < many[n] ? __ldg(from) : 0.f;
#pragma unroll
        for (int n = 0; n < N; ++n) {
            u32 halves[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                most = max(most, max(__float_as_uint(v[n][2 * i]) & ABSOLUTE, __float_as_uint(v[n][2 * i + 1]) & ABSOLUTE));
                halves[i] = pack_halves(v[n][2 * i] * scale, v[n][2 * i + 1] * scale);
            }
            asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at[n] + row * 16), "r"(halves[0]), "r"(halves[1]), "r"(halves[2]), "r"(halves[3]) : "memory");
        }
    }
    return most;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
conv_product(const __grid_constant__ Shape shape, const __grid_constant__ Grid grid, const __grid_constant__ Output out, const char* x, const char* w,
             const float* unscale, const float* bias, u32* largest, const __grid_constant__ PackInput input, const Preset preset, int again, const Phase* phases, const Stage* stages, const Window* windows, const u64* steps, const __grid_constant__ in_chain::Chain chain) {
    extern __shared__ __align__(1024) char shared[];
    __shared__ __align__(8) u64 full[MOST_STAGES], empty[MOST_STAGES];
    __shared__ __align__(16) float passing[8][16 * CHUNK_PITCH];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float scale = preset.scale;
    if (!DIRECT || again) {
        const u32 found = *largest;
        if (again && (preset_holds(preset, found) || found >= INFINITE)) return;
        scale = scale_of(preset, found);
    }
    u64* step_at = (u64*)shared;
    const u32 ring = shared_address(shared) + ((shape.table_steps * 8 + 127) & ~127u), full_at = shared_address(full), empty_at = shared_address(empty);
    for (u32 i = threadIdx.x; i < shape.table_steps; i += THREADS) step_at[i] = steps[i];
    if (threadIdx.x == 0) {
        for (int s = 0; s < MOST_STAGES; ++s) {
            barrier_init(full_at + 8 * s, DIRECT ? 129 : 1);
            barrier_init(empty_at + 8 * s, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    u32 slot = 0, turn = 0;   // the next stage of the ring, and how often the ring was passed, modulo 2
    auto advance = [&] {
        if (++slot == shape.ring) slot = 0, turn ^= 1;
    };
    if (warp >= 8) {
        u32 most = 0;
        for (u32 tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x) {
            const u32 above = divided(tile, shape.phases), row_and_group = divided(above, shape.row_tiles), pixel_tile = divided(row_and_group, shape.groups);
            const Phase& phase = phases[tile - above * shape.phases.by];
            const u32 row_tile = above - row_and_group * shape.row_tiles.by, group = row_and_group - pixel_tile * shape.groups.by;
            const char* from_w = w + ((u64)phase.weights + (u64)(group * shape.row_tiles.by + row_tile) * phase.steps) * STEP_BYTES;
            [[maybe_unused]] const char* from_x = x + ((u64)group * shape.planes * shape.plane_pixels + (u64)pixel_tile * PIXELS) * 16;
            const int last = phase.first_stage + phase.stages;
            for (int s = phase.first_stage; s < last; ++s, advance()) {
                const Stage stage = stages[s];
                const u32 to = ring + slot * shape.stage_bytes, barrier = full_at + 8 * slot;
                barrier_wait(empty_at + 8 * slot, turn ^ 1);
                if (threadIdx.x == 256) {
                    barrier_expect(barrier, (DIRECT ? 0 : stage.window_bytes) + stage.steps * STEP_BYTES);
                    fetch(to + stage.window_bytes, from_w + (u64)stage.step_number * STEP_BYTES, stage.steps * STEP_BYTES, barrier);
                }
                __syncwarp();
#if DIRECT
                for (int i = 0; i < stage.windows;) {
                    const Window* window = windows + stage.first_window + i;
                    const u32 alike = window->alike;
                    if (alike == MOST_ALIKE) most = fill<MOST_ALIKE>(input, grid, window, group * shape.input_channels, pixel_tile * PIXELS, to, scale, most);
                    else if (alike >= 2) most = fill<2>(input, grid, window, group * shape.input_channels, pixel_tile * PIXELS, to, scale, most);
                    else most = fill<1>(input, grid, window, group * shape.input_channels, pixel_tile * PIXELS, to, scale, most);
                    i += alike == MOST_ALIKE ? MOST_ALIKE : alike >= 2 ? 2 : 1;
                }
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
                barrier_arrive(barrier);
#else
                for (int i = lane; i < stage.windows; i += 32) {
                    const Window window = windows[stage.first_window + i];
                    fetch(to + window.at, from_x + ((u64)window.plane * shape.plane_pixels + window.offset) * 16, window.pixels * 16, barrier);
                }
#endif
            }
        }
        if (DIRECT && !again) {
            most = __reduce_max_sync(~0u, most);
            if (lane == 0 && most > *(volatile u32*)largest) atomicMax(largest, most);
        }
    } else {
        const int group_of_warps = warp / 4;
        const u32 w_at = (ROWS == 128 ? group_of_warps * 64 * 16 : 0), x_at = (ROWS == 128 ? 0 : group_of_warps * WIDE * 16);
        const u64 w_form = (u64)(ROWS * 16 >> 4) << 16 | (u64)(128 >> 4) << 32;
        const float x_unscale = 1.f / scale;
        float sum[WIDE / 2];
#if PRECISE
        float part[WIDE / 2];
#endif
        for (u32 tile = blockIdx.x; tile < shape.tiles; tile += gridDim.x) {
            const u32 above = divided(tile, shape.phases), row_and_group = divided(above, shape.row_tiles), pixel_tile = divided(row_and_group, shape.groups);
            const Phase& phase = phases[tile - above * shape.phases.by];
            const int first = phase.first_stage, last = first + phase.stages;
#pragma unroll
            for (int i = 0; i < WIDE / 2; ++i) sum[i] = 0.f;
            [[maybe_unused]] u32 before = 0;
            for (int s = first; s < last; ++s, advance()) {
                const Stage stage = stages[s];
                const u32 at = ring + slot * shape.stage_bytes;
                const u64 x_base = (at + x_at) >> 4;
                u64 w_desc = w_form | (at + stage.window_bytes + w_at) >> 4;
                barrier_wait(full_at + 8 * slot, turn);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
                const int count = __shfl_sync(~0u, stage.steps, 0), step = __shfl_sync(~0u, stage.first_step, 0);
#if PRECISE
                for (int i = 0; i < count; ++i, w_desc += STEP_BYTES >> 4) multiply(part, w_desc, step_at[step + i] + x_base, i > 0);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                multiply_wait<0>();
                if (threadIdx.x % 128 == 0) barrier_arrive(empty_at + 8 * slot);
#pragma unroll
                for (int i = 0; i < WIDE / 2; ++i) {
                    asm volatile("" : "+f"(part[i])::"memory");   // not read before the products are done
                    sum[i] += part[i];
                }
#else
                for (int i = 0; i < count; ++i, w_desc += STEP_BYTES >> 4) multiply(sum, w_desc, step_at[step + i] + x_base, 1);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                multiply_wait<1>();
                if (s > first && threadIdx.x % 128 == 0) barrier_arrive(empty_at + 8 * before);   // the products of the previous stage are done
                before = slot;
#endif
            }
#if !PRECISE
            multiply_wait<0>();
#pragma unroll
            for (int i = 0; i < WIDE / 2; ++i) asm volatile("" : "+f"(sum[i])::"memory");   // not read before the products are done
            if (threadIdx.x % 128 == 0) barrier_arrive(empty_at + 8 * before);
#endif

            const u32 row_tile = above - row_and_group * shape.row_tiles.by, group = row_and_group - pixel_tile * shape.groups.by;
            const int first_row = row_tile * ROWS + (ROWS == 128 ? group_of_warps * 64 : 0) + warp % 4 * 16;   // of the warp, in the group
            const u32 first_pixel = pixel_tile * PIXELS + (ROWS == 128 ? 0 : group_of_warps * WIDE);
            float factor[2], added[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row + lane / 4 + 8 * half, channel = group * shape.channels + row / SPREAD;
                factor[half] = row < shape.channels * SPREAD ? __ldg(unscale + channel) * x_unscale : 0.f;
                added[half] = row < shape.channels * SPREAD && bias ? __ldg(bias + channel) : 0.f;
            }
            const int rows = min(16, shape.channels * SPREAD - first_row);
            float* own = passing[warp];
            // The position of a pixel's output in the warp's first channel. Returns false if the pixel is no output.
            auto output_at = [&](u32 number, int spread, u64& at) {
                const Pixel p = pixel_at(grid, number);
                bool inside = p.batch < grid.batches;
                at = p.batch * out.batch_step + (u64)(group * shape.channels + first_row / SPREAD) * out.channel_step;
                u64 step = 1;
#pragma unroll
                for (int a = 2; a >= 0; --a) {
                    const int here = (int)p.at[a] * out.step[a] + phase.start[a] + (a == 2 ? spread : 0);
                    inside = inside && p.at[a] < out.many[a] && here >= 0 && here < out.size[a];
                    at += here * step;
                    step *= out.size[a];
                }
                return inside;
            };
            // Converts CHUNK pixels of 16 channels at a time from the order of the products to memory order.
            [[maybe_unused]] constexpr int kAcross = CHUNK / VECTOR, kRows = 32 / kAcross;
#pragma unroll
            for (int c = 0; c < WIDE / CHUNK; ++c) {
                __syncwarp();
#pragma unroll
                for (int j = 0; j < CHUNK / 8; ++j) {
                    const int from = (c * (CHUNK / 8) + j) * 4;
#pragma unroll
                    for (int half = 0; half < 2; ++half)
                        *(float2*)(own + (lane / 4 + 8 * half) * CHUNK_PITCH + 8 * j + lane % 4 * 2) =
                            make_float2(fmaf(sum[from + 2 * half], factor[half], added[half]), fmaf(sum[from + 2 * half + 1], factor[half], added[half]));
                }
                __syncwarp();
#if SPREAD == 1
                const u32 number = first_pixel + c * CHUNK + lane % kAcross * VECTOR;
                u64 at;
                if (output_at(number, 0, at)) {
#pragma unroll
                    for (int i = 0; i < 16 / kRows; ++i) {
                        const int row = lane / kAcross + i * kRows;
                        const float* from = own + row * CHUNK_PITCH + lane % kAcross * VECTOR;
                        const u64 here = at + (u64)row * out.channel_step;
                        if (row >= rows) break;
#if VECTOR == 4
                        const float4 v = *(const float4*)from;
                        *(float4*)(out.at + here) = make_float4(CHAIN(v.x, here), CHAIN(v.y, here + 1), CHAIN(v.z, here + 2), CHAIN(v.w, here + 3));
#elif VECTOR == 2
                        const float2 v = *(const float2*)from;
                        *(float2*)(out.at + here) = make_float2(CHAIN(v.x, here), CHAIN(v.y, here + 1));
#else
                        out.at[here] = CHAIN(*from, here);
#endif
                    }
                }
#else
                // Rows of one channel are adjacent in the output.
#pragma unroll
                for (int part = 0; part < SPREAD; ++part) {
                    const int pixel = lane / SPREAD + 32 / SPREAD * part;
                    u64 at;
                    if (!output_at(first_pixel + c * CHUNK + pixel, lane % SPREAD, at)) continue;
#pragma unroll
                    for (int i = 0; i < 16 / SPREAD; ++i) {
                        const int row = i * SPREAD + lane % SPREAD;
                        const u64 here = at + (u64)i * out.channel_step;
                        if (row < rows) out.at[here] = CHAIN(own[row * CHUNK_PITCH + pixel], here);
                    }
                }
#endif
            }
        }
    }
}
