"""The module captured in a CUDA graph, one per input shape, with fresh inputs copied in and the results copied out.
Right, and a rearrangement of library calls: it must pass as kind "library"."""
# hone-test: task = tasks/small_gru.py
# hone-test: target = cuda
# hone-test: expect = correct
# hone-test: kind = library
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers):
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers)
        self.graphs = {}

    def capture(self, x, h0):
        x, h0 = x.clone(), h0.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.gru(x, h0)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output, h_n = self.gru(x, h0)
        return graph, x, h0, output, h_n

    def forward(self, x, h0):
        if x.shape not in self.graphs:
            self.graphs[x.shape] = self.capture(x, h0)
        graph, static_x, static_h0, output, h_n = self.graphs[x.shape]
        static_x.copy_(x)
        static_h0.copy_(h0)
        graph.replay()
        return output.clone(), h_n.clone()
