"""A persistent kernel in which each block owns four hidden units and exchanges them with the others through global
memory with no barrier, so that a step may read units of the step before. This is the mistake behind a much quoted
speed-up."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = nondeterministic|wrong-output
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
constexpr int kUnits = 4;  // hidden units per block

__global__ void GruLayer(const float* x, const float* wi, const float* wh, const float* bi, const float* bh, float* out,
                         float* hn, int steps, int batch, int in, int hidden) {
  const int gates = 3 * hidden, j = blockIdx.x * kUnits + threadIdx.x % kUnits;
  volatile float* shared = hn;  // every block reads all of it and writes its units
  for (int t = 0; t < steps; ++t) {
    for (int b = threadIdx.x / kUnits; b < batch && j < hidden; b += blockDim.x / kUnits) {
      float g[6];
      for (int q = 0; q < 3; ++q) {
        float a = bi[q * hidden + j], c = bh[q * hidden + j];
        for (int k = 0; k < in; ++k) a += x[((int64_t)t * batch + b) * in + k] * wi[k * gates + q * hidden + j];
        for (int k = 0; k < hidden; ++k) c += shared[b * hidden + k] * wh[k * gates + q * hidden + j];
        g[q] = a;
        g[3 + q] = c;
      }
      float r = 1.0f / (1.0f + expf(-(g[0] + g[3]))), z = 1.0f / (1.0f + expf(-(g[1] + g[4])));
      float n = tanhf(g[2] + r * g[5]), value = n + z * (shared[b * hidden + j] - n);
      __syncthreads();
      shared[b * hidden + j] = value;
      out[((int64_t)t * batch + b) * hidden + j] = value;
    }
    __syncthreads();
  }
}

extern "C" int gru_layer(const float* x, const float* h0, const float* wi, const float* wh, const float* bi, const float* bh,
                         float* out, float* hn, int64_t steps, int64_t batch, int64_t in, int64_t hidden, cudaStream_t stream) {
  cudaMemcpyAsync(hn, h0, batch * hidden * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  GruLayer<<<(hidden + kUnits - 1) / kUnits, kUnits * batch, 0, stream>>>(x, wi, wh, bi, bh, out, hn, steps, batch, in, hidden);
  return cudaGetLastError();
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
            out = torch.empty(steps, batch, hidden, device=x.device)
            lib.gru_layer(layer, h0[i], *weights, out, h_n[i], steps, batch, layer.shape[2], hidden)
            layer = out
        return layer, h_n
