"""The running maximum in ten steps, each over twice as many numbers."""
# hone-test: task = tests/adversarial/tasks/running_maximum.py
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        values, places = x.clone(), torch.arange(x.shape[1]).expand(x.shape).clone()
        step = 1
        while step < x.shape[1]:
            later = values[:, step:] >= values[:, :-step]
            more = torch.where(later, values[:, step:], values[:, :-step])
            at = torch.where(later, places[:, step:], places[:, :-step])
            values, places = torch.cat([values[:, :step], more], 1), torch.cat([places[:, :step], at], 1)
            step *= 2
        return values, places
