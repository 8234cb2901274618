// Shared by the kernels of a convolution: the grid on which its input is laid out, and barriers.
//
// A convolution is a sum over taps of products W_tap x[pixel + shift]. The input and its padding are copied to a *grid*. Rows of the grid follow one
// another, and so do images, so a pixel has one number. The grid consists of *planes* with eight fp16 values per pixel. The eight values are eight
// channels. With a stride there is one set of planes for each phase of the input. With fewer than eight channels the values are several phases, or
// neighbours along x. On the grid, a tap is one offset for all pixels. Pixels of the grid that are no output are computed and dropped.
// A transposed convolution has one set of taps (a *phase*) for each remainder modulo its stride, and each phase writes every stride-th output.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#define INFINITE 0x7f800000u   // absolute values compare like integers, and NaN is the largest
#define ABSOLUTE 0x7fffffffu

// Computes n / d for n < 2^31 with a multiplication.
struct Divider {
    u32 by, factor, shift;
};

__device__ __forceinline__ u32 divided(u32 n, const Divider& d) {
    return d.by == 1 ? n : (u32)(((u64)n * d.factor) >> 32 >> d.shift);
}

// The grid (axes z, y, x): its pitch, and the position of its pixel 0 in the input. The next pixel is `step` further.
struct Grid {
    Divider pitch[3];
    int low[3], step[3];
    int batches;
};

// x, float32.
struct PackInput {
    const float* at;
    long long batch_step, channel_step, axis_step[3];
    int size[3];
};

struct Output {
    float* at;
    u64 batch_step, channel_step;
    int size[3], step[3], many[3];   // many: grid pixels that are outputs of a phase
};

struct Pixel {
    u32 batch, at[3];
};

__device__ __forceinline__ Pixel pixel_at(const Grid& grid, u32 number) {
    Pixel p;
#pragma unroll
    for (int a = 2; a >= 0; --a) {
        const u32 rest = divided(number, grid.pitch[a]);
        p.at[a] = number - rest * grid.pitch[a].by;
        number = rest;
    }
    p.batch = number;
    return p;
}

@@part_halves.cu@@

// The power of two by which x is multiplied before it is rounded to fp16. The preset is right if the largest value is in [low, high).
struct Preset {
    float scale;
    u32 low, high;
};
__device__ __forceinline__ bool preset_holds(const Preset& preset, u32 largest) {
    return largest == 0 || (largest >= preset.low && largest < preset.high);
}
__device__ __forceinline__ float scale_of(const Preset& preset, u32 largest) {
    if (preset_holds(preset, largest) || largest >= INFINITE) return preset.scale;
    return upper_end_scale(largest);
}
