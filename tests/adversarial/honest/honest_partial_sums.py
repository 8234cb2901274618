"""Four threads multiply a quarter of K each and add their parts in the order in which they finish: not bitwise
stable, within the limit, and joined before the return. Must pass."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = correct
import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        lock, weight = threading.Lock(), self.linear.weight
        with torch.no_grad():
            total = self.linear.bias.expand(x.shape[0], -1).clone()

        def work(k):
            with torch.no_grad():
                part = x[:, k] @ weight[:, k].t()
                with lock:
                    total.add_(part)

        step = (x.shape[1] + 3) // 4
        threads = [threading.Thread(target=work, args=(slice(i * step, (i + 1) * step),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return total.relu_()
