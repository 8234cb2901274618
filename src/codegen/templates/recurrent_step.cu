// One step of a recurrent layer (tanh RNN, GRU, LSTM) after its product: gates, new state, output. sm_80 and later, no includes.
//
// For weights that do not fit the chip. W_hh h is a library product per step, and this kernel computes the rest of the step, with
// one thread per state and both directions in one launch (blockIdx.y). Sums and states are float32; the next product reads h in fp16.

@@part_gates.cu@@

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

extern "C" __global__ void __launch_bounds__(256) recurrent_step(const __grid_constant__ Step s) {
    const Direction& d = s.direction[blockIdx.y];
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= (u32)(s.batch * s.hidden)) return;
    const int row = i / s.hidden, unit = i % s.hidden;
    const float4 bias4 = ((const float4*)d.bias)[unit];
    const float bias[4] = {bias4.x, bias4.y, bias4.z, bias4.w};
    float product[GATES], in[GATES];
#pragma unroll
    for (int gate = 0; gate < GATES; ++gate) {
        product[gate] = d.product[((size_t)row * GATES + gate) * s.hidden + unit];
        in[gate] = fmaf(d.gates[row * s.gates_b + gate * s.hidden + unit], d.unscale_gates * gate_scale(gate), bias[gate] * gate_scale(gate));
    }
    auto argument = [&](int gate) { return fmaf(product[gate % GATES], d.unscale * gate_scale(gate), in[gate % GATES]); };
    float h;
    if (CELL == RNN_TANH) {
        h = rnn_state(argument);
    } else if (CELL == GRU) {
        auto hidden = [&] { return fmaf(product[2 % GATES], d.unscale * kTanh, kTanh * bias[3]); };
        h = gru_state(argument, hidden, [&] { return in[2 % GATES]; }, d.h[i]);
    } else {
        float c = d.c[i];
        h = lstm_state(argument, c);
        d.c[i] = c;
    }
    d.h[i] = h;
    asm volatile("{ .reg .b16 half; cvt.rn.f16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"(d.h16 + i), "f"(h) : "memory");
    if (!d.y) return;
    const long long to = row * s.y_b + unit;
    if (s.y_format == 0) ((float*)d.y)[to] = h;
    else if (s.y_format == 1) asm volatile("{ .reg .b16 half; cvt.rn.f16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"((unsigned short*)d.y + to), "f"(h) : "memory");
    else asm volatile("{ .reg .b16 half; cvt.rn.bf16.f32 half, %1; st.global.b16 [%0], half; }" ::"l"((unsigned short*)d.y + to), "f"(h) : "memory");
}
