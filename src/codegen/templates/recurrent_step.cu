// One step of a recurrent layer (tanh RNN, GRU, LSTM) after its product: gates, new state, output. sm_80 and later, no includes.
//
// For weights that do not fit the chip: W_hh h is a library product per step, and this kernel is all the rest of the step, one
// thread per state, both directions in one launch (blockIdx.y). Sums and states are float32; h goes to the next product in fp16.

#define RNN_TANH 0
#define GRU 2
#define LSTM 3
#define GATES (CELL < GRU ? 1 : CELL == GRU ? 3 : 4)

typedef unsigned int u32;

struct Direction {
    const float* product;     // [batch][GATES * hidden]
    const float* gates;       // the input part of this step
    const float* bias;        // [hidden][4], summed where the cell sums them; GRU: r, z, input n, hidden n
    float* h;                 // [batch][hidden]
    float* c;
    unsigned short* h16;
    void* y;                  // of this step, or null
    float unscale, unscale_gates;
};

struct Step {
    Direction direction[2];
    long long gates_b, y_b;   // strides in elements
    int batch, hidden, y_format, unused;
};

__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }
__device__ __forceinline__ float tanh_of(float x) {
    const float large = 1.f - 2.f / (1.f + __expf(2.f * x)), x2 = x * x;   // near zero this loses its digits
    const float c = fmaf(fmaf(fmaf(0.0157396831f, x2, -0.0523039624f), x2, 0.133152977f), x2, -0.333327681f);
    return fabsf(x) < 0.55f ? fmaf(c * x2, x, x) : large;
}

extern "C" __global__ void __launch_bounds__(256) recurrent_step(const __grid_constant__ Step s) {
    const Direction& d = s.direction[blockIdx.y];
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= (u32)(s.batch * s.hidden)) return;
    const int row = i / s.hidden, unit = i % s.hidden;
    const float4 bias4 = ((const float4*)d.bias)[unit];
    const float bias[4] = {bias4.x, bias4.y, bias4.z, bias4.w};
    float sum[GATES], in[GATES];
#pragma unroll
    for (int gate = 0; gate < GATES; ++gate) {
        sum[gate] = d.unscale * d.product[((size_t)row * GATES + gate) * s.hidden + unit];
        in[gate] = fmaf(d.gates[row * s.gates_b + gate * s.hidden + unit], d.unscale_gates, bias[gate]);
    }
    float h;
    if (CELL == RNN_TANH) {
        h = tanh_of(sum[0] + in[0]);
    } else if (CELL == GRU) {
        const float r = sigmoid(sum[0] + in[0]), z = sigmoid(sum[1 % GATES] + in[1 % GATES]);
        const float n = tanh_of(fmaf(r, sum[2 % GATES] + bias[3], in[2 % GATES]));
        h = fmaf(z, d.h[i] - n, n);
    } else {
        const float forget = sigmoid(sum[1 % GATES] + in[1 % GATES]), n = tanh_of(sum[2 % GATES] + in[2 % GATES]);
        const float c = fmaf(forget, d.c[i], sigmoid(sum[0] + in[0]) * n);
        d.c[i] = c;
        h = sigmoid(sum[3 % GATES] + in[3 % GATES]) * tanh_of(c);
    }
    d.h[i] = h;
    asm volatile("{ .reg .b16 half; cvt.rn.f16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"(d.h16 + i), "f"(h) : "memory");
    if (!d.y) return;
    const long long to = row * s.y_b + unit;
    if (s.y_format == 0) ((float*)d.y)[to] = h;
    else if (s.y_format == 1) asm volatile("{ .reg .b16 half; cvt.rn.f16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"((unsigned short*)d.y + to), "f"(h) : "memory");
    else asm volatile("{ .reg .b16 half; cvt.rn.bf16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"((unsigned short*)d.y + to), "f"(h) : "memory");
}
