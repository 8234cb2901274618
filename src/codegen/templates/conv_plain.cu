// Computes a convolution whose input contains an infinity or a NaN in plain float32, one output at a time. Otherwise it returns at once.
struct Taps {
    int kernel[3], stride[3], padding[3], dilation[3];
    int groups, channels, units, transposed;   // channels and units per group
};

extern "C" __global__ void __launch_bounds__(256)
conv_plain(const PackInput x, const Output out, const Taps taps, const float* w, const float* bias, const u32* largest, int batches, const __grid_constant__ in_chain::Chain chain) {
    if (*largest < INFINITE) return;
    const int many = taps.kernel[0] * taps.kernel[1] * taps.kernel[2];
    const u64 size = batches * out.batch_step;
    for (u64 number = blockIdx.x * 256ull + threadIdx.x; number < size; number += gridDim.x * 256ull) {
        u64 rest = number;
        int at[3];
#pragma unroll
        for (int a = 2; a >= 0; --a) {
            at[a] = rest % out.size[a];
            rest /= out.size[a];
        }
        const int unit = rest % (taps.groups * taps.units), group = unit / taps.units, own = unit % taps.units;
        const float* image = x.at + (long long)(rest / (taps.groups * taps.units)) * x.batch_step + (long long)group * taps.channels * x.channel_step;
        float sum = 0.f;
        for (int k = 0; k < many; ++k) {
            const int tap[3] = {k / (taps.kernel[1] * taps.kernel[2]), k / taps.kernel[2] % taps.kernel[1], k % taps.kernel[2]};
            long long from = 0;
            bool inside = true;
#pragma unroll
            for (int a = 0; a < 3; ++a) {
                int here = at[a] * taps.stride[a] - taps.padding[a] + tap[a] * taps.dilation[a];
                if (taps.transposed) {
                    const int reached = at[a] + taps.padding[a] - tap[a] * taps.dilation[a];
                    inside = inside && reached >= 0 && reached % taps.stride[a] == 0;
                    here = reached / taps.stride[a];
                }
                inside = inside && here >= 0 && here < x.size[a];
                from += here * x.axis_step[a];
            }
            if (!inside) continue;
            for (int c = 0; c < taps.channels; ++c) {
                const u64 weight = taps.transposed ? ((u64)(group * taps.channels + c) * taps.units + own) * many + k : ((u64)unit * taps.channels + c) * many + k;
                sum = fmaf(image[from + c * x.channel_step], w[weight], sum);
            }
        }
        const float v = bias ? sum + bias[unit] : sum;
        out.at[number] = CHAIN(v, number);
    }
}
