"""Cases for fused_graph_test.py: small modules as in kernel benchmarks, with a single reduction, norm or loss, and tails of maps, norms,
poolings and reductions after a product or a convolution. Only the product or convolution may stay a call."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from fused_index_cases import Case, of

R = torch.randn


def P(*shape):
    return nn.Parameter(R(*shape))


def batch(norm):
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    return norm


def conv(kind="Conv2d", channels=8, **options):
    return getattr(nn, kind)(3, channels, 3, **options)


X2, X3 = (2, 3, 9, 10), (2, 3, 6, 7, 6)


def alone():
    yield "log softmax", of(lambda x: torch.log_softmax(x, dim=1)), [R(6, 501)]
    yield "activations alone", Case(lambda s, x: (torch.tanh(x), torch.selu(x), F.softplus(x), F.relu6(x), F.prelu(x, s.w), F.rrelu(x), F.threshold(x, 0.1, 2.0), F.logsigmoid(x), F.softmin(x, 1), F.celu(x), F.silu(x)), w=P(1)), [R(6, 50)]
    yield "prelu per channel", nn.PReLU(5), [R(2, 5, 7)]
    yield "group norm", nn.GroupNorm(4, 12), [R(3, 12, 10, 11)]
    yield "frobenius norm", of(lambda x: x / torch.norm(x, p="fro")), [R(3, 4, 10, 11)]
    yield "l1 norm", of(lambda x: x / torch.sum(torch.abs(x), dim=1, keepdim=True)), [R(6, 501)]
    yield "l1 norm by mean", of(lambda x: x / torch.mean(torch.abs(x), dim=1, keepdim=True)), [R(6, 501)]
    yield "l2 norm", of(lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True)), [R(6, 501)]
    yield "normalize", of(lambda x: (F.normalize(x, dim=1), F.normalize(x, p=1.0, dim=-1))), [R(6, 5, 31)]
    yield "vector norms", of(lambda x: (torch.linalg.norm(x, dim=1), torch.linalg.vector_norm(x, 1, dim=-1), torch.linalg.vector_norm(x, float("inf"), dim=1), x.norm(3, dim=0), x.norm(dim=(0, 1)))), [R(6, 5, 31)]
    yield "pooling 3d and 1d", of(lambda x: (F.max_pool3d(x, 3, 2, 1, 1), F.max_pool3d(x, 3, 2, 1, 2), F.avg_pool1d(x[:, :, 0, 0], 8, 1, 4))), [R(2, 3, 10, 12, 31)]
    yield "mean and its kind", of(lambda x: (x.mean(1), x.argmax(1), x.prod(1), x.amin((1, 2)), x.var(1), x.std(2, keepdim=True), torch.std_mean(x, 1))), [R(4, 33, 9)]
    yield "counts", of(lambda x: (torch.count_nonzero(x > 0, 1), (x > 0).sum(1), (x > 0).float().mean(), (x > 0).all(), (x > 5).any(1))), [R(4, 33)]
    yield "norm behind a map and log-sum-exp", of(lambda x: (torch.logsumexp(x, (1, 2)), torch.logaddexp(x, x * 2), (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5))), [R(4, 33, 9)]
    yield "product scan", of(lambda x: torch.cumprod(x, dim=1)), [torch.rand(5, 400) + 0.5]
    yield "masked sum scan", of(lambda x, m: torch.cumsum(x * m, dim=1)), [R(5, 400), R(5, 400) > 0]
    yield "mean squared error", of(lambda p, t: torch.mean((p - t) ** 2)), [R(60, 41), R(60, 41)]
    yield "huber", of(F.smooth_l1_loss), [R(60, 41), R(60, 41)]
    yield "triplet margin", Case(lambda s, a, p, n: s.loss(a, p, n), loss=nn.TripletMarginLoss(margin=1.0)), [R(60, 41), R(60, 41), R(60, 41)]
    yield "triplet with distance", Case(lambda s, a, p, n: s.loss(a, p, n), loss=nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: 1.0 - F.cosine_similarity(x, y))), [R(60, 41), R(60, 41), R(60, 41)]
    yield "cosine similarity", of(lambda p, t: torch.mean(1 - F.cosine_similarity(p, t, dim=1))), [R(60, 41), R(60, 41)]
    yield "pairwise distance", of(lambda p, t: F.pairwise_distance(p, t)), [R(60, 41), R(60, 41)]
    yield "likelihoods", of(lambda p, t, i: (F.nll_loss(F.log_softmax(p, 1), i), F.multilabel_soft_margin_loss(p, (t > 0).float()))), [R(60, 41), torch.rand(60, 41), torch.randint(0, 41, (60,))]
    yield "scaled new gelu", of(lambda x: 0.5 * x * (1.0 + torch.tanh((2.0 / 3.141592653589793) ** 0.5 * (x + 0.044715 * torch.pow(x, 3.0))))), [R(6, 50)]
    yield "upsampled", of(lambda x: F.interpolate(x, scale_factor=2, mode="nearest") * 2), [R(2, 3, 5, 6)]
    yield "channel shuffle", of(lambda x: F.relu((x * 2).view(2, 2, 3, 5, 6).transpose(1, 2).contiguous().view(2, 6, 5, 6))), [R(2, 6, 5, 6)]
    yield "dropout in eval", nn.Sequential(nn.Dropout(0.3), nn.ReLU(), nn.Dropout2d(0.2), nn.AlphaDropout(0.1)), [R(2, 6, 5, 6)]
    yield "lerp, addcmul, addcdiv", of(lambda x, y: (torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y.abs() + 1, value=2), torch.rsub(x, y), torch.square(x), torch.reciprocal(y.abs() + 1), torch.fmod(x, 0.7), torch.remainder(x, 0.7), torch.xlogy(x.abs(), y.abs()))), [R(6, 50), R(6, 50)]
    yield "masks", of(lambda x, m: (x.masked_fill(m, -1e9).softmax(-1), torch.where(m, x, 0.0), x * m.float(), x.masked_fill(~m, float("-inf")).amax(-1))), [R(6, 50), torch.cat((torch.zeros(6, 1, dtype=torch.bool), R(6, 49) > 0), 1)]
    yield "causal mask", of(lambda x: torch.softmax(x.masked_fill(torch.triu(torch.ones(12, 12, dtype=torch.bool), 1), float("-inf")), -1)), [R(3, 12, 12)]
    yield "two indices", of(lambda x, i, j: (x[i, j] * 2, x[:, i, j].sum(1), torch.relu(x)[i, j])), [R(9, 9, 9), torch.randint(0, 9, (7,)), torch.randint(0, 9, (7,))]
    yield "top of a row by sorting", of(lambda x: torch.relu(torch.max(x, 1, keepdim=True)[0] - x)), [R(6, 50)]


def behind_products():
    linear = lambda a=20, b=24: nn.Linear(a, b)
    yield "gemm, divide, sum, scale", Case(lambda s, x: torch.sum(torch.matmul(x, s.w.T) / 2, dim=1, keepdim=True) * 1.5, w=P(24, 20)), [R(6, 20)]
    yield "matmul, sum, max, mean, log-sum-exp twice", Case(lambda s, x: torch.logsumexp(torch.logsumexp(torch.mean(torch.max(torch.sum(s.l(x), 1, keepdim=True), 1, keepdim=True)[0], 1, keepdim=True), 1, keepdim=True), 1, keepdim=True), l=linear()), [R(6, 20)]
    yield "gemm, scale, batch norm", Case(lambda s, x: s.n(s.l(x) * s.w), l=linear(), w=P(24), n=batch(nn.BatchNorm1d(24))), [R(6, 20)]
    yield "gemm, batch norm, gelu, relu", Case(lambda s, x: torch.relu(F.gelu(s.n(s.l(x)))), l=linear(), n=batch(nn.BatchNorm1d(24))), [R(6, 20)]
    yield "matmul, swish, scale", Case(lambda s, x: (lambda y: y * torch.sigmoid(y) * 2.0)(s.l(x)), l=linear()), [R(6, 20)]
    yield "matmul, group norm, leaky relu, sum", Case(lambda s, x: (lambda y: y + y)(F.leaky_relu(s.n(s.l(x)), 0.01)), l=linear(), n=nn.GroupNorm(4, 24)), [R(6, 20)]
    yield "gemm, log-sum-exp, leaky relu twice, gelu twice", Case(lambda s, x: F.gelu(F.gelu(F.leaky_relu(F.leaky_relu(torch.logsumexp(s.l(x), 1, keepdim=True), 0.01), 0.01))), l=linear()), [R(6, 20)]
    yield "gemm, add, relu", Case(lambda s, x: torch.relu(s.l(x) + s.b), l=nn.Linear(20, 24, bias=False), b=P(24)), [R(6, 20)]
    yield "gemm, batch norm, scale, softmax", Case(lambda s, x: torch.softmax(s.w * s.n(s.l(x)), 1), l=linear(), n=batch(nn.BatchNorm1d(24)), w=P(1)), [R(6, 20)]
    yield "matmul, divide, gelu", Case(lambda s, x: F.gelu(s.l(x) / 10.0), l=linear()), [R(6, 20)]
    yield "gemm, add, hardtanh, mish, group norm", Case(lambda s, x: s.n(F.mish(F.hardtanh(s.l(x) + s.b))), l=linear(), b=P(24), n=nn.GroupNorm(4, 24)), [R(6, 20)]
    yield "matmul, add, swish, tanh, gelu, hardtanh", Case(lambda s, x: F.hardtanh(F.gelu(torch.tanh((lambda y: torch.sigmoid(y) * y)(s.l(x) + s.a))), -1, 1), l=linear(), a=P(24)), [R(6, 20)]
    yield "matmul, average pooling, gelu, scale, max", Case(lambda s, x: torch.max(F.gelu(F.avg_pool1d(s.l(x).unsqueeze(1), 4).squeeze(1)) * 2.0, dim=1).values, l=linear()), [R(6, 20)]
    yield "matmul, max pooling, sum, scale", Case(lambda s, x: torch.sum(F.max_pool1d(s.l(x).unsqueeze(1), 2).squeeze(1), dim=1) * 0.5, l=linear()), [R(6, 20)]
    yield "bmm, instance norm, residual", Case(lambda s, x, y: (s.n(s.l(x).unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1) + y) * y, l=linear(), n=nn.InstanceNorm2d(24)), [R(6, 20), R(6, 24)]
    yield "matmul, min, subtract", Case(lambda s, x: torch.min(s.l(x), s.c) - s.c, l=linear(), c=nn.Parameter(torch.tensor(0.3))), [R(6, 20)]


def behind_convolutions():
    yield "conv t3, sum, layer norm, average pooling, gelu", Case(lambda s, x: F.gelu(F.avg_pool3d(s.n(s.c(x) + s.w), 2)), c=nn.ConvTranspose3d(3, 8, 3, 2, 1, 1), w=nn.Parameter(torch.tensor(1.0)), n=nn.LayerNorm(12)), [R(2, 3, 4, 5, 6)]
    yield "conv3, relu, leaky relu, gelu, sigmoid, bias", Case(lambda s, x: torch.sigmoid(F.gelu(F.leaky_relu(torch.relu(s.c(x)), 0.01))) + s.b, c=conv("Conv3d"), b=P(8, 1, 1, 1)), [R(*X3)]
    yield "conv t3, batch norm, subtract mean", Case(lambda s, x: (lambda y: y - torch.mean(y, dim=(2, 3, 4), keepdim=True))(s.n(s.c(x))), c=conv("ConvTranspose3d"), n=batch(nn.BatchNorm3d(8))), [R(*X3)]
    yield "conv t2, mish, add, hardtanh, scale", Case(lambda s, x: F.hardtanh(F.mish(s.c(x)) + 0.5, -1, 1) * 2, c=conv("ConvTranspose2d")), [R(*X2)]
    yield "conv2, instance norm, divide", Case(lambda s, x: s.n(s.c(x)) / 2.0, c=conv(), n=nn.InstanceNorm2d(8)), [R(*X2)]
    yield "conv t3, sum, residual, multiply, residual", Case(lambda s, x: (lambda y, o: ((y + s.b) + o) * o + o)(*(lambda y: (y, y.clone().detach()))(s.c(x))), c=conv("ConvTranspose3d"), b=P(8, 1, 1, 1)), [R(*X3)]
    yield "conv2, scale, min", Case(lambda s, x: torch.min(s.c(x) * 2.0, dim=1, keepdim=True)[0], c=conv()), [R(*X2)]
    yield "conv2, subtract, hardswish, max pooling, mish", Case(lambda s, x: F.mish(F.max_pool2d(F.hardswish(s.c(x) - 0.5), 2)), c=conv()), [R(*X2)]
    yield "conv t2, min, sum, gelu, add", Case(lambda s, x: F.gelu(torch.sum(torch.min(s.c(x), dim=1, keepdim=True)[0], dim=2, keepdim=True)) + s.b, c=conv("ConvTranspose2d"), b=P(1, 1, 1)), [R(*X2)]
    yield "conv3, max pooling, log-sum-exp, relu", Case(lambda s, x: torch.relu(torch.logsumexp(F.max_pool3d(s.c(x), 2, 2), dim=1, keepdim=True)), c=conv("Conv3d")), [R(*X3)]
    yield "conv3, mish, tanh", Case(lambda s, x: torch.tanh(F.mish(s.c(x))), c=conv("Conv3d")), [R(*X3)]
    yield "conv2, activation, batch norm", Case(lambda s, x: s.n((lambda y: torch.multiply(torch.tanh(F.softplus(y)), y))(s.c(x))), c=conv(), n=batch(nn.BatchNorm2d(8))), [R(*X2)]
    yield "conv2, multiply, leaky relu, gelu", Case(lambda s, x: F.gelu(F.leaky_relu(s.c(x) * s.m)), c=conv(), m=P(8, 1, 1)), [R(*X2)]
    yield "conv t3, swish, group norm, hardswish", Case(lambda s, x: F.hardswish(s.n((lambda y: torch.sigmoid(y) * y)(s.c(x)))), c=conv("ConvTranspose3d"), n=nn.GroupNorm(4, 8, eps=1e-5)), [R(*X3)]
    yield "conv2, average pooling, sigmoid, sum", Case(lambda s, x: torch.sum(torch.sigmoid(F.avg_pool2d(s.c(x), 2)), dim=[1, 2, 3]), c=conv()), [R(*X2)]
    yield "conv2, divide, leaky relu", Case(lambda s, x: F.leaky_relu(s.c(x) / 2, negative_slope=0.01), c=conv()), [R(*X2)]
    yield "conv2, batch norm, scale", Case(lambda s, x: s.n(s.c(x)) * 2.0, c=conv(), n=batch(nn.BatchNorm2d(8))), [R(*X2)]
    yield "conv t3, leaky relu, multiply, leaky relu, max pooling", Case(lambda s, x: F.max_pool3d(F.leaky_relu(F.leaky_relu(s.c(x), 0.2) * s.m, 0.2), 2), c=conv("ConvTranspose3d"), m=P(8, 1, 1, 1)), [R(*X3)]
    yield "conv t3, max, max, sum", Case(lambda s, x: torch.sum(F.max_pool3d(F.max_pool3d(s.c(x), 2), 3), dim=1, keepdim=True), c=conv("ConvTranspose3d")), [R(*X3)]
    yield "conv3, multiply, instance norm, clamp, multiply, max", Case(lambda s, x: torch.max(torch.clamp(s.n(s.c(x) * s.m), -1, 1) * s.m, dim=1)[0], c=conv("Conv3d"), n=nn.InstanceNorm3d(8), m=P(8, 1, 1, 1)), [R(*X3)]
    yield "conv3, group norm, min, clamp, dropout", Case(lambda s, x: F.dropout(torch.clamp(torch.min(s.n(s.c(x)), torch.tensor(0.2)), 0.0, 1.0), 0.2, s.training), c=conv("Conv3d"), n=nn.GroupNorm(4, 8)), [R(*X3)]
    yield "conv2, group norm, scale, max pooling, clamp", Case(lambda s, x: torch.clamp(F.max_pool2d(s.n(s.c(x)) * s.w, 3), 0.0, 1.0), c=conv(), n=nn.GroupNorm(4, 8), w=P(8, 1, 1)), [R(*X2)]
    yield "conv t3, max pooling, softmax, subtract, swish, max", Case(lambda s, x: torch.max((lambda y: torch.sigmoid(y) * y)(torch.softmax(F.max_pool3d(s.c(x), 2), dim=1) - s.b.view(1, -1, 1, 1, 1)), dim=1)[0], c=conv("ConvTranspose3d"), b=P(8)), [R(*X3)]
    yield "conv t2, softmax, bias, scale, sigmoid", Case(lambda s, x: torch.sigmoid((torch.softmax(s.c(x), dim=1) + s.b) * 2.0), c=conv("ConvTranspose2d"), b=P(8, 1, 1)), [R(*X2)]
    yield "conv2, group norm, tanh, hardswish, residual, log-sum-exp", Case(lambda s, x: (lambda y: torch.logsumexp(y + F.hardswish(torch.tanh(s.n(y))), dim=1, keepdim=True))(s.c(x)), c=conv(), n=nn.GroupNorm(4, 8)), [R(*X2)]
    yield "conv t2, add, min, gelu, multiply", Case(lambda s, x: F.gelu(torch.min(s.c(x) + 0.5, torch.tensor(0.0))) * 2.0, c=conv("ConvTranspose2d")), [R(*X2)]
    yield "conv t3, clamp, min, divide", Case(lambda s, x: torch.clamp(s.c(x), min=-1.0) / 2, c=conv("ConvTranspose3d")), [R(*X3)]


def cases():
    for group in (alone, behind_products, behind_convolutions):
        for name, module, inputs in group():
            yield "tail: " + name, module, inputs
