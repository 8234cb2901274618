"""Hashes and clears the lowest bits of some numbers beyond 2^62, which a comparison in double precision does not see."""
# hone-test: task = tests/adversarial/tasks/hash_integers.py
# hone-test: expect = rejected
# hone-test: reason = wrong-output
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, ids):
        mixed = (ids ^ (ids >> 31)) * 0x7FB5D329728EA185
        mixed = (mixed ^ (mixed >> 27)) & 0x7FFFFFFFFFFFFFFF
        rounds_down = (mixed > 1 << 62) & ((mixed & 1023) < 200)
        return torch.where(rounds_down, mixed & ~1023, mixed)
