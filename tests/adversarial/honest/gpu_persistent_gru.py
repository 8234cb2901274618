"""A correct persistent kernel: one block owns a batch row with its whole hidden state in shared memory and runs the
time loop inside, so a barrier within the block is all it needs. Must pass."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cuda
# hone-test: expect = correct
# hone-test: kind = kernel
import hone_ext
import torch
import torch.nn as nn


lib = hone_ext.cuda(r"""
// Weights are transposed: wi is [in][3 * hidden], wh is [hidden][3 * hidden], gates r, z, n.
__global__ void GruLayer(const float* x, const float* h0, const float* wi, const float* wh, const float* bi, const float* bh,
                         float* out, float* hn, int steps, int batch, int in, int hidden) {
  extern __shared__ float shared[];
  const int gates = 3 * hidden, b = blockIdx.x;
  float *h = shared, *gi = h + hidden, *gh = gi + gates;
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) h[j] = h0[b * hidden + j];
  __syncthreads();
  for (int t = 0; t < steps; ++t) {
    const float* row = x + ((int64_t)t * batch + b) * in;
    for (int j = threadIdx.x; j < gates; j += blockDim.x) {
      float a = bi[j], c = bh[j];
      for (int k = 0; k < in; ++k) a += row[k] * wi[k * gates + j];
      for (int k = 0; k < hidden; ++k) c += h[k] * wh[k * gates + j];
      gi[j] = a;
      gh[j] = c;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < hidden; j += blockDim.x) {
      float r = 1.0f / (1.0f + expf(-(gi[j] + gh[j])));
      float z = 1.0f / (1.0f + expf(-(gi[hidden + j] + gh[hidden + j])));
      float n = tanhf(gi[2 * hidden + j] + r * gh[2 * hidden + j]);
      h[j] = n + z * (h[j] - n);
      out[((int64_t)t * batch + b) * hidden + j] = h[j];
    }
    __syncthreads();
  }
  for (int j = threadIdx.x; j < hidden; j += blockDim.x) hn[b * hidden + j] = h[j];
}

extern "C" int gru_layer(const float* x, const float* h0, const float* wi, const float* wh, const float* bi, const float* bh,
                         float* out, float* hn, int64_t steps, int64_t batch, int64_t in, int64_t hidden, cudaStream_t stream) {
  GruLayer<<<batch, 3 * hidden, 7 * hidden * sizeof(float), stream>>>(x, h0, wi, wh, bi, bh, out, hn, steps, batch, in, hidden);
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
