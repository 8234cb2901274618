"""The first eight of all scores in order."""
# hone-test: task = tests/adversarial/tasks/top_values.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, scores):
        values, places = torch.sort(scores, dim=-1, descending=True)
        return values[..., :8].contiguous(), places[..., :8].contiguous()
