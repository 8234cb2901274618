"""The same hash on one buffer."""
# hone-test: task = tests/adversarial/tasks/hash_integers.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, ids):
        mixed = ids >> 31
        mixed ^= ids
        mixed *= 0x7FB5D329728EA185
        return mixed.bitwise_xor_(mixed >> 27).bitwise_and_(0x7FFFFFFFFFFFFFFF)
