// Copies x (float32, any strides) to the grid of its convolution, as planes of eight fp16 values per pixel. Neighbouring threads take neighbouring
// pixels, so the loads and stores of a warp are adjacent. The kernel also finds the largest absolute value.
//
// With `terms` 2, the planes of a group are followed by planes with the rounding errors. Both together hold 22 bits.
//
// The kernel is launched twice. The first launch uses the preset scale. The second returns at once unless the largest value needs another scale.
struct Source {         // of one of the eight values of a plane
    int channel;        // -1: always zero
    short move[3], unused;   // from the position of the pixel
};

extern "C" __global__ void __launch_bounds__(256)
conv_pack(const PackInput x, const Grid grid, const Source* sources, uint4* out, u64 plane_pixels, u32 pixels, u32* largest, int regular, int planes, int terms, const Preset preset, int again) {
    float scale = preset.scale;
    if (again) {
        const u32 found = *largest;
        if (preset_holds(preset, found) || found >= INFINITE) return;
        scale = scale_of(preset, found);
    }
    Source mine[8];
    int many = 0;   // that are no zeros
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        mine[i] = sources[blockIdx.y * 8 + i];
        many += mine[i].channel >= 0;
    }
    u32 most = 0;
    for (u32 number = blockIdx.x * 256 + threadIdx.x; number < pixels; number += gridDim.x * 256) {
        const Pixel p = pixel_at(grid, number);
        int position[3];
#pragma unroll
        for (int a = 0; a < 3; ++a) position[a] = (int)p.at[a] * grid.step[a] + grid.low[a];
        float v[8];
        auto place = [&](const Source& s, const float*& from) {
            bool inside = p.batch < grid.batches;
            from = x.at + (long long)p.batch * x.batch_step + (long long)s.channel * x.channel_step;
#pragma unroll
            for (int a = 0; a < 3; ++a) {
                const int here = position[a] + s.move[a];
                inside = inside && here >= 0 && here < x.size[a];
                from += here * x.axis_step[a];
            }
            return inside;
        };
        const float* from;
        if (regular) {   // eight channels at one position
            const bool inside = place(mine[0], from);
#pragma unroll
            for (int i = 0; i < 8; ++i, from += x.channel_step) v[i] = inside && i < many ? __ldg(from) : 0.f;
        } else {
#pragma unroll
            for (int i = 0; i < 8; ++i) v[i] = mine[i].channel >= 0 && place(mine[i], from) ? __ldg(from) : 0.f;
        }
        u32 halves[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            most = max(most, max(__float_as_uint(v[2 * i]) & ABSOLUTE, __float_as_uint(v[2 * i + 1]) & ABSOLUTE));
            v[2 * i] *= scale;
            v[2 * i + 1] *= scale;
            halves[i] = pack_halves(v[2 * i], v[2 * i + 1]);
        }
        uint4* to = out + (blockIdx.y / planes * planes * terms + blockIdx.y % planes) * plane_pixels + number;
        *to = make_uint4(halves[0], halves[1], halves[2], halves[3]);
        if (terms == 2) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float2 high = unpack_halves(halves[i]);
                halves[i] = pack_halves(v[2 * i] - high.x, v[2 * i + 1] - high.y);
            }
            to[planes * plane_pixels] = make_uint4(halves[0], halves[1], halves[2], halves[3]);
        }
    }
    if (again) return;
    __shared__ u32 of_warps[8];
    most = __reduce_max_sync(~0u, most);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) most = max(most, of_warps[w]);
        if (most > *(volatile u32*)largest) atomicMax(largest, most);
    }
}
