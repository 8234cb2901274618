"""Returns at once a tensor that a thread fills later."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = unsynchronised|wrong-output|unwritten-output
import threading
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        result = torch.empty(x.shape[0], self.linear.out_features)

        def work(x=x.clone()):
            time.sleep(1e-3)
            with torch.no_grad():
                result.copy_(torch.relu(self.linear(x)))

        threading.Thread(target=work, daemon=True).start()
        return result
