"""Wrong numbers, and every function of the worker that could say so is replaced: trees, digests, tampering checks."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|escaped|timer-tampering
import gc
import sys

import torch
import torch.nn as nn

for worker in gc.get_objects():
    if type(worker).__name__ == "Worker" and hasattr(worker, "verbs"):
        worker.verbs["tampering"] = lambda message, descriptors: {"changed": []}
        worker.watched = {}
main = sys.modules["__main__"]
main.set_poison = lambda on: None
main.describe = lambda error: {"type": "", "message": "all is well", "traceback": ""}


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(torch.nn.functional.linear(x, self.linear.weight))
