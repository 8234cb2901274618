"""Random modules for tests of the graph's way into kernels: chains of maps, reductions, norms, softmax, scans, views and broadcasts, by seed.
Every operator keeps values of moderate size, so that float32 and float64 can be compared."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

_MOST_ELEMENTS = 20000
MAPS = (
    torch.relu, torch.sigmoid, torch.tanh, F.gelu, F.silu, F.mish, F.softplus, F.hardswish, F.leaky_relu, F.elu, torch.abs, lambda x: x * 0.5 + 1, lambda x: x.clamp(-2, 2),
    lambda x: 1 / (1 + x.abs()), lambda x: torch.exp(-x.abs()), lambda x: torch.sqrt(x.abs() + 0.1), lambda x: torch.where(x > 0, x, 0.1 * x), lambda x: x - 0.3)  # fmt: skip
JOINS = (torch.add, torch.mul, torch.maximum, torch.sub, lambda a, b: a * torch.sigmoid(b), lambda a, b: torch.where(a > b, a, b * 0.5))


class RandomModule(nn.Module):
    """The choices are made once; forward repeats them."""

    def __init__(self, seed):
        super().__init__()
        self.draw = random.Random(seed)
        rank = self.draw.choice((2, 2, 3, 4))
        self.shape = [self.draw.choice((1, 2, 3, 5, 8, 12, 16, 33, 64)) for _ in range(rank)]
        while math.prod(self.shape) > _MOST_ELEMENTS:  # kernels on a host are slow
            self.shape[self.shape.index(max(self.shape))] //= 2
        generator = torch.Generator().manual_seed(seed)
        self.noise = lambda *shape: torch.randn(*shape, generator=generator)
        self.steps, self.parameters_made = [], 0
        shape = list(self.shape)
        for _ in range(self.draw.randint(3, 9)):
            shape = self._add(shape)

    def _weight(self, shape):
        name = "w%d" % self.parameters_made
        self.parameters_made += 1
        setattr(self, name, nn.Parameter(self.noise(*shape)))
        return name

    def _add(self, shape):
        """One more operator; returns the shape behind it."""
        kind = self.draw.choice(("map", "map", "map", "join", "join", "keep", "reduce", "norm", "softmax", "scan", "view", "transpose", "twice"))
        axis = self.draw.randrange(len(shape)) if shape else 0
        if kind == "map" or not shape:
            self.steps.append(("map", self.draw.randrange(len(MAPS))))
        elif kind == "join":
            other = [size if self.draw.random() < 0.5 else 1 for size in shape][self.draw.randrange(len(shape)) :]
            self.steps.append(("join", self.draw.randrange(len(JOINS)), self._weight(other or [1])))
        elif kind == "keep":  # a reduction and back over all elements
            self.steps.append(("keep", self.draw.choice(("mean", "amax", "sum", "logsumexp")), axis))
        elif kind == "reduce" and len(shape) > 1:
            self.steps.append(("reduce", self.draw.choice(("mean", "amax", "amin", "sum", "logsumexp")), axis))
            shape = shape[:axis] + shape[axis + 1 :]
        elif kind == "norm" and shape[-1] > 2:
            self.steps.append(("norm", shape[-1:], self._weight(shape[-1:]), self._weight(shape[-1:])))
        elif kind == "softmax" and shape[axis] > 1:
            self.steps.append(("softmax", axis))
        elif kind == "scan":
            self.steps.append(("scan", axis))
        elif kind == "view" and len(shape) > 1:
            shape = shape[:axis] + [shape[axis] * shape[axis + 1]] + shape[axis + 2 :] if axis + 1 < len(shape) else shape + [1]
            self.steps.append(("view", list(shape)))
        elif kind == "transpose" and len(shape) > 1:
            shape = list(shape)
            shape[-1], shape[-2] = shape[-2], shape[-1]
            self.steps.append(("transpose",))
        elif kind == "twice":
            self.steps.append(("twice", self.draw.randrange(len(MAPS)), self.draw.randrange(len(MAPS))))
        return shape

    def forward(self, x):
        aside = None
        for kind, *how in self.steps:
            if kind == "map":
                x = MAPS[how[0]](x)
            elif kind == "join":
                x = JOINS[how[0]](x, getattr(self, how[1]))
            elif kind == "keep":
                row = getattr(torch, how[0])(x, how[1], keepdim=True)
                x = x - (row / x.shape[how[1]] if how[0] == "sum" else row)
            elif kind == "reduce":
                row = getattr(torch, how[0])(x, how[1])
                x = row / x.shape[how[1]] if how[0] == "sum" else row
            elif kind == "norm":
                x = F.layer_norm(x, how[0], getattr(self, how[1]), getattr(self, how[2]))
            elif kind == "softmax":
                x = torch.softmax(x, how[0])
            elif kind == "scan":
                x = torch.cumsum(x, how[0]) * 0.2
            elif kind == "view":
                x = x.reshape(how[0])
            elif kind == "transpose":
                x = x.transpose(-1, -2)
            elif kind == "twice":
                x = MAPS[how[0]](x) + MAPS[how[1]](x)
                aside = x.sum()
        return x if aside is None else (x, aside)

    def inputs(self):
        return [self.noise(*self.shape)]
