"""Computes half of the rows and describes the same bytes twice in the tree that it sends."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: expect = rejected
# hone-test: reason = escaped|wrong-output|wrong-shape|crashed
import sys

import torch
import torch.nn as nn

main = sys.modules["__main__"]
original = getattr(main, "write_tree", None)


def write_tree(tree, descriptor, *args, **kwargs):
    description = original(tree, descriptor, *args, **kwargs)
    if isinstance(description, dict) and description.get("shape") == [128, 512]:
        description.update(shape=[256, 512], stride=[0, 1], bytes=256 * 512 * 4)
    return description


if original is not None:
    main.write_tree = write_tree


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x[: x.shape[0] // 2]))
