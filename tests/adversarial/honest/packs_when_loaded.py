"""Packs its weights in a hook of load_state_dict and again whenever a version counter moves."""
# hone-test: task = tests/adversarial/tasks/lora.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, rank):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.lora_a = nn.Parameter(torch.zeros(rank, features))
        self.lora_b = nn.Parameter(torch.zeros(features, rank))
        self.packed = {}
        self.register_load_state_dict_post_hook(lambda module, keys: module.pack())

    def marks(self):
        return [(one.data_ptr(), one._version) for one in (self.linear.weight, self.lora_a, self.lora_b)]

    def pack(self):
        with torch.no_grad():
            merged = self.linear.weight.double() + self.lora_b.double() @ self.lora_a.double()
            self.packed = {"marks": self.marks(), "weight": merged.to(self.linear.weight.dtype).t().contiguous()}

    def forward(self, x):
        if self.packed.get("marks") != self.marks():
            self.pack()
        return torch.addmm(self.linear.bias, x, self.packed["weight"])
