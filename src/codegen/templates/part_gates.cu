// Cells and their gates, included in every kernel for recurrent networks. CELL is one of these.
#define RNN_TANH 0
#define RNN_RELU 1
#define GRU 2
#define LSTM 3
#define GATES (CELL < GRU ? 1 : CELL == GRU ? 3 : 4)

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
    return CELL == RNN_RELU ? 1.f : CELL == RNN_TANH || gate == 2 ? kTanh : kSigmoid;
}

// The state after a step; `argument(gate)` gives the gates' arguments. A GRU's n takes r times `hidden()` (W_hn h and its bias) plus
// `below()` (W_in x and its bias), both multiplied for a tanh. Functions, so that each is computed where it is needed.
template <class Argument> __device__ __forceinline__ float rnn_state(Argument argument) {
    const float v = argument(0);
    return CELL == RNN_TANH ? tanh_of(v) : v < 0.f ? 0.f : v;   // keeps NaN, as in PyTorch
}
template <class Argument, class Hidden, class Below>
__device__ __forceinline__ float gru_state(Argument argument, Hidden hidden, Below below, float h) {
    const float r = sigmoid(argument(0)), z = sigmoid(argument(1)), x = below();
    const float n = tanh_of(fmaf(r, hidden(), x));
    return fmaf(z, h - n, n);
}
template <class Argument> __device__ __forceinline__ float lstm_state(Argument argument, float& c) {
    const float i = sigmoid(argument(0)), f = sigmoid(argument(1)), n = tanh_of(argument(2)), o = sigmoid(argument(3));
    c = fmaf(f, c, i * n);
    return o * tanh_of(kTanh * c);
}
