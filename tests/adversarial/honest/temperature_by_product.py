"""Multiplies by the inverse of the temperature."""
# hone-test: task = tests/adversarial/tasks/temperature_input.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, temperature):
        return torch.softmax(x * (1.0 / temperature), dim=-1)
