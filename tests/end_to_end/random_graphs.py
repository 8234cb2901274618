"""Random modules for tests of the path from graphs to kernels: chains of maps, reductions, norms, softmax, scans, views, broadcasts, slices,
moved and selected elements, by seed. Every operator keeps values at a moderate size, so that float32 and float64 can be compared."""

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
        self.steps.append(("map", self.draw.randrange(len(MAPS))))  # results of views alone have no kernel

    def _weight(self, shape):
        name = "w%d" % self.parameters_made
        self.parameters_made += 1
        setattr(self, name, nn.Parameter(self.noise(*shape)))
        return name

    def _add(self, shape):
        """Adds one operator and returns its output shape."""
        kind = self.draw.choice(("map", "map", "map", "join", "join", "keep", "reduce", "norm", "softmax", "scan", "view", "transpose", "twice", "slice", "glu", "cat", "move", "choose", "triangle"))
        axis = self.draw.randrange(len(shape)) if shape else 0
        if kind == "map" or not shape:
            self.steps.append(("map", self.draw.randrange(len(MAPS))))
        elif kind == "join":
            other = [size if self.draw.random() < 0.5 else 1 for size in shape][self.draw.randrange(len(shape)) :]
            self.steps.append(("join", self.draw.randrange(len(JOINS)), self._weight(other or [1])))
        elif kind == "keep":  # a reduction, then an operation over all elements again
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
        elif kind == "slice" and shape[axis] > 2:
            first, step = self.draw.randrange(shape[axis] // 2), self.draw.choice((1, 1, 2))
            self.steps.append(("slice", axis, first, shape[axis] - self.draw.randrange(2), step))
            shape = shape[:axis] + [len(range(*self.steps[-1][2:]))] + shape[axis + 1 :]
        elif kind == "glu" and shape[axis] > 1 and shape[axis] % 2 == 0:
            self.steps.append(("glu", axis, self.draw.random() < 0.5))
            shape = shape[:axis] + [shape[axis] // 2] + shape[axis + 1 :]
        elif kind == "cat" and math.prod(shape) < _MOST_ELEMENTS:
            size = self.draw.choice((1, 2, 5))
            self.steps.append(("cat", axis, self._weight(shape[:axis] + [size] + shape[axis + 1 :]), self.draw.randrange(len(MAPS))))
            shape = shape[:axis] + [shape[axis] + size] + shape[axis + 1 :]
        elif kind == "move" and math.prod(shape) < _MOST_ELEMENTS:
            how = self.draw.choice(("flip", "roll", "pad"))
            self.steps.append(("move", how, axis, self.draw.randint(1, 3)))
            if how == "pad":
                shape = shape[:-1] + [shape[-1] + self.steps[-1][3] + 1]
        elif kind == "choose":
            count = self.draw.choice((1, 3, 7))
            if math.prod(shape) // shape[axis] * count <= _MOST_ELEMENTS:
                name = "i%d" % self.parameters_made
                self.parameters_made += 1
                self.register_buffer(name, torch.tensor([self.draw.randrange(shape[axis]) for _ in range(count)]))
                self.steps.append(("choose", axis, name))
                shape = shape[:axis] + [count] + shape[axis + 1 :]
        elif kind == "triangle" and len(shape) > 1:
            self.steps.append(("triangle", self.draw.choice((torch.tril, torch.triu)), self.draw.randint(-2, 2)))
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
            elif kind == "slice":
                x = x[(slice(None),) * how[0] + (slice(*how[1:]),)]
            elif kind == "glu":
                a, b = torch.chunk(x, 2, how[0])
                x = F.glu(x, how[0]) if how[1] else a * torch.tanh(b)
            elif kind == "cat":
                x = torch.cat((x, MAPS[how[2]](getattr(self, how[1]))), how[0]) - 0.3
            elif kind == "move":
                x = x.flip(how[1]) if how[0] == "flip" else torch.roll(x, how[2], how[1]) if how[0] == "roll" else F.pad(x, (how[2], 1), value=0.5)
            elif kind == "choose":
                x = torch.index_select(x, how[0], getattr(self, how[1]))
            elif kind == "triangle":
                x = how[0](x, how[1])
            elif kind == "twice":
                x = MAPS[how[0]](x) + MAPS[how[1]](x)
                aside = x.sum()
        return x if aside is None else (x, aside)

    def inputs(self):
        return [self.noise(*self.shape)]
