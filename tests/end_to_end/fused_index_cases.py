"""Cases for fused_graph_test.py and fused_triton_test.py: elements selected by an index, views of computed values, and operators that depend
on an element's position. Each appears between maps, before a reduction and alone. Lengths have no convenient divisors. Operands are strided,
broadcast and of every type."""

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn
INF, NAN = float("inf"), float("nan")


class Case(nn.Module):
    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def of(function):
    return Case(lambda self, *inputs: function(*inputs))


def odd(*shape):
    x = R(*shape)
    flat = x.view(-1)
    flat[1], flat[5], flat[flat.numel() - 2] = NAN, INF, -INF
    return x


def index(high, *shape, low=0, dtype=torch.int64):
    return torch.randint(low, high, shape, dtype=dtype)


def cases():
    embedding = nn.Embedding(23, 12, padding_idx=3)
    yield "embedding", Case(lambda s, i, y: (s.e(i), torch.relu(s.e(i) * 2 + y)), e=embedding), [index(23, 5, 7), R(7, 12)]
    yield "embedding, then a layer norm", Case(lambda s, i, p: s.n(s.e(i) + s.p(p)), e=nn.Embedding(40, 33), p=nn.Embedding(9, 33), n=nn.LayerNorm(33)), [index(40, 3, 9), index(9, 9)]
    yield "embedding of computed indices", Case(lambda s, i: s.e((i * 2 + 1).clamp(max=22)).sum(-1), e=nn.Embedding(23, 17)), [index(11, 5, 7)]
    yield "embedding in half", Case(lambda s, i: torch.tanh(s.e(i)), e=nn.Embedding(23, 10).half()), [index(23, 13, dtype=torch.int32)]
    yield "embedding in bfloat16, then softmax", Case(lambda s, i: torch.softmax(s.e(i), -1), e=nn.Embedding(23, 10).bfloat16()), [index(23, 2, 13)]
    yield "one row for all", Case(lambda s, i, y: s.e(i) * y, e=nn.Embedding(23, 10)), [torch.tensor(4), R(6, 10)]
    yield "gather", of(lambda x, i: (torch.gather(x, 1, i), torch.exp(torch.gather(torch.tanh(x), 1, i)) * 2)), [odd(5, 11), index(11, 5, 7)]
    yield "gather along the first axis", of(lambda x, i: torch.gather(x * 2, 0, i).sum(1)), [R(9, 6, 5), index(9, 4, 6, 5)]
    yield "gather of a transposed tensor", of(lambda x, i: torch.gather(x, 2, i) + 1), [R(4, 7, 5).transpose(1, 2), index(7, 4, 5, 3)]
    yield "gather of integers and bools", of(lambda x, b, i: (torch.gather(x, 1, i) * 3, torch.gather(b, 1, i) | (i > 2))), [index(99, 5, 8), R(5, 8) > 0, index(8, 5, 3)]
    yield "gather what a softmax made", of(lambda x, i: torch.log(torch.gather(torch.softmax(x, 1), 1, i))), [R(6, 13), index(13, 6, 1)]
    yield "gather in front of a reduction", of(lambda x, i: torch.logsumexp(torch.gather(x, 1, i) * 2, 1)), [R(6, 130), index(130, 6, 77)]
    yield "take along an axis", of(lambda x, y: torch.take_along_dim(x, torch.argmax(y, 1, keepdim=True), 1) - 1), [R(6, 13), R(6, 13)]
    yield "select rows", of(lambda x, i: (torch.index_select(x, 0, i) * 2, torch.index_select(torch.sigmoid(x), 1, i).amax(1))), [R(9, 7, 5), index(7, 6)]
    yield "an index", of(lambda x, i, j: (x[i] + 1, torch.relu(x[:, j]), (x * 2)[:, :, i].sum(0), x[i.unsqueeze(1)] * 2)), [R(9, 7, 10), index(9, 6, low=-9), index(7, 2, 3, low=-7)]
    yield "one-hot", of(lambda i, x: (F.one_hot(i, 13), (F.one_hot(i, 13).float() * x).sum(-1))), [index(13, 6), R(6, 13)]

    yield "glu", of(lambda x: (F.glu(x), F.glu(torch.tanh(x) * 2, 0), F.glu(x, 1).sum(1))), [odd(4, 6, 10)]
    yield "glu, then a norm", Case(lambda s, x: s.n(F.glu(s.l(x)) * 2), l=nn.Linear(9, 26), n=nn.LayerNorm(13)), [R(7, 9)]
    yield "glu in half", of(lambda x: torch.relu(F.glu(x + 1, -1))), [R(5, 14).half()]
    yield "halves by hand", of(lambda x: (lambda a, b: F.gelu(a) * b)(*torch.chunk(x * 2 - 1, 2, -1))), [R(5, 7, 18)]
    yield "chunks of odd sizes", of(lambda x: (lambda a, b, c: (a * 2, b.sum(1), torch.tanh(c)))(*torch.chunk(torch.exp(-x.abs()), 3, 1))), [R(5, 11)]
    yield "split by sizes", of(lambda x, y: (lambda a, b, c: (a + y, torch.softmax(b, 1), c.amax(0)))(*torch.split(torch.tanh(x), [3, 5, 2], 1))), [R(6, 10), R(6, 3)]
    yield "slices of a computed tensor", of(lambda x: (lambda y: (y[:, 1:] - y[:, :-1], y[::2] * 3, y[1:-1, 2:9:3].sum(), y[:, 4] + 1, y[-1].exp()))(torch.sin(x))), [R(7, 12)]
    yield "a slice of a slice, reshaped", of(lambda x: torch.relu(torch.tanh(x)[:, 2:8][:, 1:5].reshape(7, 2, 2, 3).sum(2))), [R(7, 9, 3)]
    yield "unbound", of(lambda x: (lambda a, b, c: a * b + c)(*torch.unbind(x * 2, 1))), [R(5, 3, 7)]
    yield "a slice in front of a convolution", Case(lambda s, x: s.c(torch.relu(x)[:, 1:4]) * torch.relu(x)[:, :1, 1:-1, 1:-1], c=nn.Conv2d(3, 4, 3)), [R(2, 5, 9, 8)]
    yield "a slice in front of a pooling", of(lambda x: F.max_pool2d(torch.tanh(x)[:, 1:3, 2:], 2)), [R(2, 4, 12, 11)]
    yield "a slice in front of a scan", of(lambda x: torch.cumsum(torch.tanh(x)[:, 3:], 1)), [R(4, 30)]

    yield "permuted", of(lambda x, y: ((x * 2).permute(2, 0, 1) + 1, torch.softmax(torch.tanh(x).transpose(1, 2), -1), (x + y).transpose(0, 2).sum(1), torch.relu(x).flatten(1).t() * 2)), [odd(4, 5, 6), R(4, 5, 6)]
    yield "channels shuffled by hand", Case(lambda s, x: s.d(torch.relu(s.c(x)).view(2, 3, 4, 9, 5).transpose(1, 2).contiguous().view(2, 12, 9, 5)) * 2, c=nn.Conv2d(3, 12, 3, padding=1), d=nn.Conv2d(12, 4, 1)), [R(2, 3, 9, 5)]
    yield "permuted in front of a product", Case(lambda s, x: s.l(torch.relu(x).permute(0, 2, 1)) + torch.relu(x).transpose(1, 2)[:, :, :1], l=nn.Linear(5, 3)), [R(2, 5, 7)]
    yield "windows of an image", of(lambda x: (torch.tanh(x).view(2, 2, 3, 3, 2, 4).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 6, 4) * 2).mean(-1)), [R(2, 6, 6, 4)]

    yield "cat", of(lambda x, y, z: (torch.relu(torch.cat((x, y, z), 1)), torch.cat((torch.tanh(x), y * 2), 1))), [odd(4, 3, 5), R(4, 2, 5), R(4, 7, 5)]
    yield "cat along the innermost axis", of(lambda x, y: torch.softmax(torch.cat((x * 2, y), -1), -1)), [R(9, 7), R(9, 12)]
    yield "cat along the first axis", of(lambda x, y: torch.cat((torch.relu(x), y, x), 0).mean(0)), [R(5, 6), R(3, 6)]
    yield "cat of several types", of(lambda x, y, z: torch.cat((x.half(), y, z), 1) * 2), [R(4, 3), R(4, 2), index(9, 4, 2)]
    yield "cat of integers and bools", of(lambda x, b: (torch.cat((x, x + 1), 1) * 2, torch.cat((b, ~b), 0) | True)), [index(99, 4, 3), R(4, 3) > 0]
    yield "cat of convolutions", Case(lambda s, x: s.b(torch.cat((torch.relu(s.c(x)), torch.relu(s.d(x))), 1)), c=nn.Conv2d(3, 4, 3), d=nn.Conv2d(3, 5, 3), b=nn.BatchNorm2d(9)), [R(2, 3, 8, 9)]
    yield "cat with a broadcast part", of(lambda x, y: torch.cat((x * 1.5, (y * 2).expand(4, 3)), 1) - 1), [R(4, 5), R(4, 1)]
    yield "cat of cats", of(lambda x, y: torch.relu(torch.cat((torch.cat((x, y * 2), 1), torch.cat((y, x), 1) + 1), 0))), [R(3, 4), R(3, 5)]
    yield "stack", of(lambda x, y: (torch.stack((x * 2, y), 1).sum(1), torch.tanh(torch.stack((x, y, x), -1)))), [R(4, 6), R(4, 6)]

    yield "constant padding", of(lambda x: (torch.relu(F.pad(x, (1, 2))), F.pad(x * 2, (3, 0, 0, 1), value=-1.5), F.pad(x, (-1, 2, 1, -2)) + 1, F.pad(x, (0, 0, 1, 1)).sum(1))), [odd(4, 6, 7)]
    yield "padding of integers", of(lambda x: F.pad(x, (1, 2), value=7) * 2), [index(99, 4, 5)]
    yield "other paddings", of(lambda x: (F.pad(x, (2, 3), mode="reflect") * 2, F.pad(x, (3, 1, 0, 2), mode="replicate") + 1, F.pad(torch.tanh(x), (2, 1), mode="circular").sum(-1))), [odd(2, 3, 5, 6)[0]]
    yield "padding in front of a pooling", of(lambda x: F.max_pool2d(F.pad(torch.relu(x), (1, 0, 2, 1)), 2)), [R(2, 3, 7, 9)]
    yield "roll", of(lambda x: (torch.roll(x, 2, 1) * x, torch.roll(torch.tanh(x), (-1, 3), (0, 2)).sum(1), torch.roll(x, 12, 1) + 1)), [odd(4, 5, 6)]
    yield "chosen of what was moved", of(lambda x, i: (torch.index_select(torch.roll(x, 2, 1) * 2, 1, i), torch.cat((torch.tril(x[:, :, 0]), F.pad(x, (1, 2))[:, :, 3]), 0)[i], torch.tril(x[0])[:, 1:4] + 1)), [R(4, 5, 6), index(4, 7)]
    yield "flip", of(lambda x: (x.flip(1) - x, torch.tanh(x).flip(0, 2), (x * 2).flip(-1).softmax(-1))), [odd(4, 5, 6)]
    yield "flip of a transposed tensor", of(lambda x: x.transpose(0, 1).flip(0) + 1), [R(4, 5)]
    yield "pixel shuffle", of(lambda x: (torch.relu(F.pixel_shuffle(x, 2)), F.pixel_unshuffle(F.pixel_shuffle(x * 2, 2), 2) + x, torch.channel_shuffle(x, 4) * 2)), [R(2, 12, 3, 5)]
    yield "upsampling to the nearest", of(lambda x: (F.interpolate(torch.relu(x), scale_factor=2) * 2, F.interpolate(x, size=(9, 20)) + 1, F.interpolate(x[0], scale_factor=3.0).sum(1))), [R(2, 3, 3, 5)]
    yield "repeated", of(lambda x: (torch.relu(x).repeat(2, 1, 3), x.repeat(2, 2).tanh())), [R(4, 5)]

    yield "triangles", of(lambda x: (torch.tril(x), torch.triu(x, 1) * 2, torch.tril(torch.exp(x), -2).sum(-1), torch.triu(x, -3))), [odd(3, 9, 7)]
    yield "a triangle of a product", Case(lambda s, x: torch.softmax(torch.tril(s.l(x) * 3, 1), -1), l=nn.Linear(7, 11)), [R(5, 7)]
    yield "triangles of other types", of(lambda x, b, h: (torch.tril(x) + 1, torch.triu(b) & b, torch.tril(h * 2))), [index(99, 5, 6), R(5, 6) > 0, R(6, 5).half()]
    yield "attention with a mask by place", of(lambda q, k: torch.softmax((q @ k.transpose(-1, -2)).masked_fill(torch.ones(9, 9).tril() == 0, -INF), -1)), [R(2, 9, 4), R(2, 9, 4)]
    yield "sums of segments", of(lambda x: (lambda c: (c[..., :, None] - c[..., None, :]).masked_fill(~torch.tril(torch.ones(8, 8, dtype=torch.bool)), -INF).exp())(torch.cumsum(x, -1))), [R(2, 3, 8)]
    yield "places along rows of many", of(lambda x: torch.tril(x).sum(0)), [R(37, 150)]
    yield "a triangle scanned", of(lambda x: (torch.cumsum(torch.tril(x), 0), torch.cumsum(torch.triu(x), 1))), [R(9, 40)]

    yield "windows of several sizes", of(lambda x: (F.adaptive_avg_pool2d(torch.relu(x), (3, 4)) * 2, F.adaptive_max_pool2d(x, (4, 5)), F.adaptive_avg_pool1d(x[:, 0], 4), F.adaptive_avg_pool2d(x, (20, 9)))), [R(2, 3, 11, 14)]
    yield "windows of several sizes, odd numbers", of(lambda x: (F.adaptive_max_pool1d(x, 4) + 1, F.adaptive_avg_pool1d(x, 3))), [odd(2, 3, 11)]
    yield "windows of several sizes, 3d", of(lambda x: (F.adaptive_avg_pool3d(x, (2, 3, 2)), F.adaptive_max_pool3d(torch.tanh(x), (2, 2, 3)))), [R(2, 2, 5, 7, 7)]
    yield "indices of a pooling", of(lambda x: (F.max_pool2d(torch.tanh(x), 3, 2, 1, return_indices=True), F.max_pool2d(x, (2, 3), return_indices=True)[1] * 2)), [R(2, 3, 11, 14)]
    yield "indices of a pooling, dilated", of(lambda x: (F.max_pool1d(x[:, :, 0], 3, 1, 1, 2, return_indices=True), F.max_pool2d(x, 4, 3, 2, 3, return_indices=True))), [R(2, 3, 21, 24)]
    yield "indices of a pooling that rounds up", of(lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True)), [torch.where(R(2, 3, 20, 21) > 0, -torch.tensor(INF), R(2, 3, 20, 21))]
    yield "indices of an adaptive pooling", of(lambda x: (F.adaptive_max_pool2d(x, (4, 7), return_indices=True), F.adaptive_max_pool1d(x[:, 1], 5, return_indices=True))), [R(2, 3, 11, 14)]
    yield "indices of a pooling, 3d and half", of(lambda x, y: (F.max_pool3d(x, 2, return_indices=True), F.max_pool2d(y, 2, return_indices=True))), [R(2, 2, 5, 6, 7), R(2, 6, 8).half()]

    yield "similarity", of(lambda x, y: (F.cosine_similarity(x, y), torch.mean(1 - F.cosine_similarity(x, y, dim=0)), F.cosine_similarity(x[:, None], y[None], dim=-1), F.pairwise_distance(x, y), F.pairwise_distance(x, y, 1, keepdim=True))), [R(7, 23), R(7, 23)]
    yield "likelihoods", Case(lambda s, x, t: (F.nll_loss(F.log_softmax(x, 1), t), F.nll_loss(x, t, s.w, reduction="sum"), F.nll_loss(x, t, s.w, ignore_index=3), F.nll_loss(x * 2, t, reduction="none")), w=nn.Parameter(torch.rand(11))), [R(9, 11), index(11, 9)]
    yield "likelihoods over an inner axis", of(lambda x, t: F.nll_loss(F.log_softmax(x * 2, 1), t)), [R(3, 11, 5), index(11, 3, 5)]
    yield "cross entropy of computed scores", of(lambda x, t: (F.cross_entropy(x * 2 - 1, t), F.cross_entropy(torch.tanh(x), t.clamp(max=9)))), [R(9, 11), index(11, 9)]
    yield "cross entropy of shares", Case(lambda s, x, t: (F.cross_entropy(x, t), F.cross_entropy(x, t, s.w, label_smoothing=0.1), F.cross_entropy(x, t, reduction="none")), w=nn.Parameter(torch.rand(11))), [R(9, 11), torch.softmax(R(9, 11), 1)]
    yield "norms of every order", of(lambda x: (x.norm(3, 1), torch.linalg.vector_norm(x, 0.5, 0), torch.linalg.vector_norm(x, -INF, 1), torch.linalg.vector_norm(x, 0), torch.linalg.vector_norm(x, INF, 1), torch.count_nonzero(x > 0.5, 1), torch.nansum(x, 1))), [R(7, 13)]
    yield "constants like computed values", of(lambda x: (lambda y: torch.where(y > 1.5, y, torch.zeros_like(y)) + torch.ones_like(y.t()).t() * 0.5)(torch.relu(x) * 2 + 1)), [odd(13, 37)]
    yield "filled tensors", of(lambda x: (torch.where(x > 0, x, torch.zeros_like(x)), torch.full_like(x, 2.5)[:, :3] + x[:, :3], torch.ones_like(x).sum(1) + x.sum(1), torch.maximum(x.new_zeros(3, 1, 1), x))), [odd(3, 7)]
    yield "more maps", of(lambda x, y: (torch.asinh(x), torch.acosh(x.abs() + 1), torch.atanh(torch.tanh(x) * 0.9), torch.frac(x * 3), torch.logaddexp(x, y), torch.fmax(x, y), torch.fmin(x, y), F.rrelu(x), torch.special.logit(torch.sigmoid(x)))), [odd(4, 9), R(4, 9)]
    yield "arithmetic of bools", of(lambda a, b: ((a * b).sum(1), a + b)), [R(4, 9) > 0, R(4, 9) > 0]
