"""A correct persistent kernel: one thread owns a batch row with its whole hidden state and runs the time loop inside.
Must pass."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cpu
# hone-test: expect = accepted
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

// Weights are transposed (inner loops run over the 3 * hidden gates r, z, n).
extern "C" int gru_layer(const float* x, const float* h0, const float* wi, const float* wh, const float* bi, const float* bh,
                         float* out, float* hn, int64_t steps, int64_t batch, int64_t in, int64_t hidden) {
  const int64_t gates = 3 * hidden;
#pragma omp parallel for
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<float> h(h0 + b * hidden, h0 + (b + 1) * hidden), gi(gates), gh(gates);
    for (int64_t t = 0; t < steps; ++t) {
      const float* row = x + (t * batch + b) * in;
      for (int64_t j = 0; j < gates; ++j) gi[j] = bi[j], gh[j] = bh[j];
      for (int64_t k = 0; k < in; ++k)
        for (int64_t j = 0; j < gates; ++j) gi[j] += row[k] * wi[k * gates + j];
      for (int64_t k = 0; k < hidden; ++k)
        for (int64_t j = 0; j < gates; ++j) gh[j] += h[k] * wh[k * gates + j];
      float* y = out + (t * batch + b) * hidden;
      for (int64_t j = 0; j < hidden; ++j) {
        float r = Sigmoid(gi[j] + gh[j]), z = Sigmoid(gi[hidden + j] + gh[hidden + j]);
        float n = Tanh(gi[2 * hidden + j] + r * gh[2 * hidden + j]);
        h[j] = n + z * (h[j] - n);
        y[j] = h[j];
      }
    }
    std::memcpy(hn + b * hidden, h.data(), hidden * sizeof(float));
  }
  return 0;
}
""")


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)
        self.packed = []

    def pack(self):
        for i in range(self.gru.num_layers):
            names = ("weight_ih_l%d", "weight_hh_l%d", "bias_ih_l%d", "bias_hh_l%d")
            self.packed.append([getattr(self.gru, name % i).detach().t().contiguous() for name in names])

    def forward(self, x, h0):
        if not self.packed:
            self.pack()
        steps, batch, hidden = x.shape[0], x.shape[1], self.gru.hidden_size
        layer, h0 = x.contiguous(), h0.contiguous()
        h_n = torch.empty_like(h0)
        for i, weights in enumerate(self.packed):
            out = torch.empty(steps, batch, hidden)
            lib.gru_layer(layer, h0[i], *weights, out, h_n[i], steps, batch, layer.shape[2], hidden)
            layer = out
        return layer, h_n
