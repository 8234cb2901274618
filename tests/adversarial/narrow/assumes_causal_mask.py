"""Takes the mask for causal without looking at it."""
# hone-test: task = tests/adversarial/tasks/mask_input.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output|cannot_judge
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, q, k, v, mask):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
