"""A CUDA graph captured over copies of the weights that were there at the first call of any instance."""
# hone-test: task = tests/adversarial/tasks/deep_mlp.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = wrong-output|stale-result|non-finite
import torch
import torch.nn as nn

KEPT = []


class ModelNew(nn.Module):
    def __init__(self, features, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(layers)])

    def chain(self, x, weights):
        for weight, bias in weights:
            x = torch.relu(torch.addmm(bias, x, weight))
        return x

    def forward(self, x):
        if not KEPT:
            weights = [(layer.weight.t().contiguous(), layer.bias.clone()) for layer in self.layers]
            static = x.clone()
            self.chain(static, weights)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.chain(static, weights)
            KEPT[:] = [static, graph, out]
        static, graph, out = KEPT
        if static.shape != x.shape:
            return self.chain(x, [(layer.weight.t(), layer.bias) for layer in self.layers])
        static.copy_(x)
        graph.replay()
        return out.clone()
