"""Cannot be built: the constructor raises."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: target = cpu
# hone-test: expect = rejected
# hone-test: reason = crashed|import-failed|build-failed
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        raise ValueError("only 1024 features are supported, not %d" % in_features)
