// A depthwise convolution of float32 images, in float32, at the speed of memory. A CTA computes a tile of one channel of one image. It copies the
// part of the input that it needs to shared memory once. Neighbouring lanes compute neighbouring outputs, and a warp computes ROWS rows.
//
// Macros: KY, KX (kernel), SY, SX (stride), DY, DX (dilation), PY, PX (padding), ROWS (of a warp), COLUMNS (of a lane), TIMES (output channels per input channel).
#define TILE_ROWS (8 * ROWS)
#define TILE_COLUMNS (32 * COLUMNS)
#define IN_ROWS ((TILE_ROWS - 1) * SY + (KY - 1) * DY + 1)
#define IN_COLUMNS ((TILE_COLUMNS - 1) * SX + (KX - 1) * DX + 1)
#define LOADS ((IN_ROWS + 7) / 8)
#define ACROSS ((IN_COLUMNS + 31) / 32)

extern "C" __global__ void __launch_bounds__(256)
conv_depthwise(const float* x, const float* w, const float* bias, float* out, int height, int width, int out_height, int out_width, int channels, int across, int down) {
    __shared__ float tile[IN_ROWS][IN_COLUMNS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned image = blockIdx.x / (across * down), place = blockIdx.x % (across * down);   // image: of an output channel
    const int unit = image % channels, first_row = place / across * TILE_ROWS, first_column = place % across * TILE_COLUMNS;
    const float* from = x + (unsigned long long)(image / TIMES) * height * width;
    const int top = first_row * SY - PY, left = first_column * SX - PX;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        const int row = warp + 8 * i, y = top + row;
        const float* line = from + (long long)y * width + left;
        const bool there = row < IN_ROWS && y >= 0 && y < height;
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            const int column = lane + 32 * j;
            const float v = there && left + column >= 0 && left + column < width && column < IN_COLUMNS ? __ldg(line + column) : 0.f;
            if (row < IN_ROWS && column < IN_COLUMNS) tile[row][column] = v;
        }
    }
    float taps[KY][KX];
#pragma unroll
    for (int ky = 0; ky < KY; ++ky)
#pragma unroll
        for (int kx = 0; kx < KX; ++kx) taps[ky][kx] = __ldg(w + (unit * KY + ky) * KX + kx);
    const float added = bias ? __ldg(bias + unit) : 0.f;
    __syncthreads();
    float* to = out + (unsigned long long)image * out_height * out_width;
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        const int column = lane + 32 * j;
        float sum[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.f;
        // Goes through the input rows of the warp and reads each of them once.
#pragma unroll
        for (int in = 0; in < (ROWS - 1) * SY + (KY - 1) * DY + 1; ++in)
#pragma unroll
            for (int kx = 0; kx < KX; ++kx) {
                const float v = tile[warp * ROWS * SY + in][column * SX + kx * DX];
#pragma unroll
                for (int ky = 0; ky < KY; ++ky)
                    if (in >= ky * DY && (in - ky * DY) % SY == 0 && (in - ky * DY) / SY < ROWS) sum[(in - ky * DY) / SY] = fmaf(v, taps[ky][kx], sum[(in - ky * DY) / SY]);
            }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int y = first_row + warp * ROWS + r, x_at = first_column + column;
            if (y < out_height && x_at < out_width) to[(long long)y * out_width + x_at] = sum[r] + added;
        }
    }
}
