"""A CUDA graph that reads the tensors of its first call for ever and never looks at what comes in later."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cuda
# hone-test: expect = rejected
# hone-test: reason = stale-result
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)
        self.graphs = {}

    def forward(self, x, h0):
        if x.shape not in self.graphs:
            x, h0 = x.clone(), h0.clone()
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.gru(x, h0)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                output, h_n = self.gru(x, h0)
            self.graphs[x.shape] = graph, x, h0, output, h_n
        graph, _, _, output, h_n = self.graphs[x.shape]
        graph.replay()
        return output.clone(), h_n.clone()
