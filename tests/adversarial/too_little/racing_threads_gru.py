"""The CPU twin of a persistent kernel without a barrier: two threads own half of the hidden state each and exchange
it through memory with nothing that makes one wait for the other, so a step may read halves of different steps."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = nondeterministic|wrong-output
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cpp(r"""
#include <cstdint>
#include <cstring>
#include <vector>

// exp for the gates, in double so that only the sums round; a polynomial, so that it vectorises.
static inline double Exp(double x) {
  x = x < -87.0 ? -87.0 : (x > 87.0 ? 87.0 : x);
  double n = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;
  double r = x - n * 0.6931471805599453;
  double p = 1 + r * (1 + r / 2 * (1 + r / 3 * (1 + r / 4 * (1 + r / 5 * (1 + r / 6 * (1 + r / 7 * (1 + r / 8)))))));
  int64_t bits = ((int64_t)n + 1023) << 52;
  double scale;
  std::memcpy(&scale, &bits, 8);
  return p * scale;
}
static inline float Sigmoid(float x) { return (float)(1 / (1 + Exp(-(double)x))); }
static inline float Tanh(float x) { return (float)(2 / (1 + Exp(-2 * (double)x)) - 1); }
#include <thread>

extern "C" int gru_layer(const float* x, const float* h0, const float* wi, const float* wh, const float* bi, const float* bh,
                         float* out, float* hn, int64_t steps, int64_t batch, int64_t in, int64_t hidden) {
  const int64_t gates = 3 * hidden;
  std::memcpy(hn, h0, batch * hidden * sizeof(float));
  volatile float* shared = hn;  // both threads read all of it and write their half
  auto half = [&](int64_t first, int64_t last) {
    for (int64_t t = 0; t < steps; ++t)
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t j = first; j < last; ++j) {
          float g[6];
          for (int q = 0; q < 3; ++q) {
            float a = bi[q * hidden + j], c = bh[q * hidden + j];
            for (int64_t k = 0; k < in; ++k) a += x[(t * batch + b) * in + k] * wi[k * gates + q * hidden + j];
            for (int64_t k = 0; k < hidden; ++k) c += shared[b * hidden + k] * wh[k * gates + q * hidden + j];
            g[q] = a, g[3 + q] = c;
          }
          float r = Sigmoid(g[0] + g[3]), z = Sigmoid(g[1] + g[4]), n = Tanh(g[2] + r * g[5]);
          float value = n + z * (shared[b * hidden + j] - n);
          shared[b * hidden + j] = value;
          out[(t * batch + b) * hidden + j] = value;
        }
  };
  std::thread other(half, hidden / 2, hidden);
  half(0, hidden / 2);
  other.join();
  return 0;
}
""")


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)

    def forward(self, x, h0):
        steps, batch, hidden = x.shape[0], x.shape[1], self.gru.hidden_size
        layer, h_n = x.contiguous(), torch.empty_like(h0)
        names = ("weight_ih_l%d", "weight_hh_l%d", "bias_ih_l%d", "bias_hh_l%d")
        for i in range(self.gru.num_layers):
            weights = [getattr(self.gru, name % i).detach().t().contiguous() for name in names]
            out = torch.empty(steps, batch, hidden)
            lib.gru_layer(layer, h0[i], *weights, out, h_n[i], steps, batch, layer.shape[2], hidden)
            layer = out
        return layer, h_n
