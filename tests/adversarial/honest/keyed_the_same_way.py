"""The same by addcmul, with the keys in another order."""
# hone-test: task = tests/adversarial/tasks/keyed_inputs.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, parts, options):
        scale, flip, size = options
        total = torch.addcmul(parts[0], parts[7], scale)
        total = total.flip(1) if flip else total
        return {"last": (total[:, -1].clone(), None), 10: bool(flip), 3: total[:, :size].contiguous()}
