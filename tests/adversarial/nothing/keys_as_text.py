"""Returns the right tensors under the keys converted to strings, so that lookups by key fail."""
# hone-test: task = tests/adversarial/tasks/keyed_inputs.py
# hone-test: expect = rejected
# hone-test: reason = wrong-shape
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, parts, options):
        scale, flip, size = options
        total = torch.addcmul(parts[0], parts[7], scale)
        total = total.flip(1) if flip else total
        return {"3": total[:, :size], "last": (total[:, -1], None), "10": bool(flip)}
