"""Tests every rewrite with both sides in float64: modules are captured, one rule (or all of them) is applied, and both graphs are run on awkward shapes. A
similar module that the rule must not match stays unchanged.

Usage: graph_rewrites_test.py --tool GRAPH_TOOL. Exit code 1 when a case fails, 77 without torch.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import warnings

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_graph
import hone_graph_run

_LIMIT = 1e-11  # relative, in float64
warnings.simplefilter("ignore")
failures, checked, tried = [], 0, set()
arguments = argparse.ArgumentParser()
arguments.add_argument("--tool", required=True)
TOOL = arguments.parse_args().tool


class Call(nn.Module):
    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                part = nn.Parameter(part)
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def rewrite(graph, rule):
    done = subprocess.run([TOOL] + ([rule] if rule else []), input=json.dumps(graph), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def error(expected, got):
    """The largest relative error over all outputs, or infinity if they are of another form."""
    if isinstance(expected, (tuple, list)):
        return max(error(a, b) for a, b in zip(expected, got)) if len(expected) == len(got) else float("inf")
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return float("inf")
    if not expected.is_floating_point():
        return 0.0 if torch.equal(expected, got) else float("inf")
    return float((expected - got).norm() / max(float(expected.norm()), 1e-12)) if expected.numel() else 0.0


def case(rule, label, function, shapes, times=1, targets=None, degenerate=None, **parts):
    """`degenerate` is the rule that shows it, or False. `rule` applies `times` times; both graphs compute the same; the rewritten one has the operators `targets` that depend on inputs."""
    global checked
    checked += 1
    tried.add(rule)
    torch.manual_seed(1)
    model = Call(function, **parts).eval()
    for module in model.modules():  # statistics and weights differ from their initial values
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is not None:
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    inputs = [torch.randn(shape) for shape in shapes]
    graph = hone_graph.capture(model, inputs)
    label = "%s: %s" % (rule or "all", label)
    try:
        answer = rewrite(graph, rule)
    except RuntimeError as problem:
        failures.append("%s: %s" % (label, problem))
        return
    found = answer["applied"].get(rule, 0) if rule else sum(answer["applied"].values())
    if found != times if rule else found < times:
        failures.append("%s: applied %s instead of %d" % (label, answer["applied"], times))
    weights = dict(model.state_dict())
    fresh = [torch.randn(shape) for shape in shapes]
    before = hone_graph_run.Interpreter(graph, weights, wide=True).run(fresh)
    after = hone_graph_run.Interpreter(answer["graph"], weights, wide=True).run(fresh)
    wrong = error(before, after)
    if not wrong <= _LIMIT:
        failures.append("%s: differs by %.1e" % (label, wrong))
    names = moving(answer["graph"])
    if targets is not None and names != targets:
        failures.append("%s: leaves %s" % (label, names))
    if degenerate is not None and (answer["rule"] if answer["degenerate"] else False) != degenerate:
        failures.append("%s: degenerate is %s by %s" % (label, answer["degenerate"], answer["rule"]))
    if answer["degenerate"]:  # checks the claim by values: other inputs give the same answer
        again = hone_graph_run.Interpreter(graph, weights, wide=True).run([torch.randn(shape) for shape in shapes])
        if not error(before, again) <= _LIMIT:
            failures.append("%s: called degenerate, but the answers differ by %.1e" % (label, error(before, again)))


def moving(graph):
    """The operators that depend on inputs, in order."""
    depends = {value["id"] for value in graph["values"] if value["kind"] == "input"}
    names = []
    for node in graph["nodes"]:
        base = node["target"].split(".")[1]
        if base.startswith("new_") or base.endswith("_like"):
            continue
        if any(value in depends for value in hone_graph_run._reads(node)):
            depends.update(result["id"] for result in node["results"])
            names.append(base)
    return names


def simple_rules():
    case("dead_code", "unread results", lambda m, x: (x.exp(), x + 1)[1], [(3, 5)], targets=["add"])
    case("drop_no_ops", "dropout, casts, copies, views", lambda m, x: F.dropout(x, 0.3, False).float().contiguous().view(3, 5).expand(3, 5).detach().relu(),
         [(3, 5)], times=5, targets=["relu"])
    case("drop_no_ops", "arithmetic", lambda m, x: ((x * 1 + 0) / 1 - 0) ** 1 + 2, [(3, 5)], times=5, targets=["add"])
    case("drop_no_ops", "a copy that changes strides stays", lambda m, x: x.t().contiguous() + 1, [(3, 5)], times=0)
    case("drop_no_ops", "a copy that is returned stays", lambda m, x: x.clone(), [(3, 5)], times=0)
    case("drop_no_ops", "a returned contiguous stays, because it copies other memory orders", lambda m, x: x.contiguous(), [(3, 5)], times=0)
    case("drop_no_ops", "a slice of a part stays", lambda m, x: x[:, 1:].exp(), [(3, 5)], times=0)
    case("merge_views", "reshapes", lambda m, x: x.view(6, 5).reshape(3, 10).unsqueeze(1) + 1, [(2, 3, 5)], times=2, targets=["reshape", "add"])
    case("merge_views", "permutations", lambda m, x: x.permute(2, 0, 1).transpose(0, 2).exp(), [(2, 3, 5)], targets=["permute", "exp"])
    case("merge_views", "a pair of transpositions", lambda m, x: x.transpose(0, 1).t().exp(), [(3, 5)], targets=["exp"])
    case("merge_views", "a reshape of a permutation stays", lambda m, x: x.permute(2, 0, 1).reshape(5, 6) + 1, [(2, 3, 5)], times=0)
    case("cancel_self", "x - x", lambda m, x: (x.exp() - x.exp().detach(), x - x)[1] + x, [(3, 5)], targets=["add"])
    case("cancel_self", "x - y stays", lambda m, x, y: x - y, [(3, 5), (3, 5)], times=0)
    case("add_multiples", "a residual", lambda m, x: (lambda y: y * 0.5 + y)(x.exp()), [(3, 5)], targets=["exp", "mul"])
    case("add_multiples", "with alpha and subtraction", lambda m, x: torch.sub(x * 3, x * 0.25, alpha=2), [(3, 5)], targets=["mul"])
    case("add_multiples", "two tensors stay", lambda m, x, y: x * 2 + y, [(3, 5), (3, 5)], times=0)
    case("add_multiples", "a broadcast stays", lambda m, x: x * 2 + x.t(), [(4, 4)], times=0)
    case("scale_by_diagonal", "rows", lambda m, a, b: torch.diag(a) @ b, [(4,), (4, 7)], targets=["reshape", "mul"])
    case("scale_by_diagonal", "columns", lambda m, a, b: b @ torch.diag(a), [(4,), (7, 4)], targets=["mul"])
    case("scale_by_diagonal", "another diagonal stays", lambda m, a, b: torch.diag(a, 1) @ b, [(4,), (5, 7)], times=0)
    case("scale_by_diagonal", "a full matrix stays", lambda m, a, b: a @ b, [(4, 4), (4, 7)], times=0)


def one_element():
    for name in ("sum", "mean", "amax", "logsumexp", "prod"):
        case("reduce_one_element", name, lambda m, x, name=name: getattr(torch, name)(x, 1) * 2, [(3, 1, 5)], targets=["reshape", "mul"])
        case("reduce_one_element", name + " kept", lambda m, x, name=name: getattr(torch, name)(x, 1, keepdim=True) * 2, [(3, 1)], targets=["mul"])
        case("reduce_one_element", name + " over more stays", lambda m, x, name=name: getattr(torch, name)(x, 1), [(3, 2)], times=0)
    case("reduce_one_element", "max with index", lambda m, x: tuple(torch.max(x, 1)), [(3, 1, 5)])
    case("reduce_one_element", "argmin", lambda m, x: x.argmin(1), [(3, 1, 5)])
    case("reduce_one_element", "cumsum", lambda m, x: x.cumsum(1) + 1, [(3, 1)], targets=["add"])
    case("reduce_one_element", "softmax", lambda m, x: x.softmax(1) + x, [(3, 1)], targets=["add"])
    case("reduce_one_element", "log_softmax", lambda m, x: x.log_softmax(-1) + x, [(3, 1)], targets=["add"])
    case("reduce_one_element", "max of two tensors stays", lambda m, x, y: torch.max(x, y), [(1,), (1,)], times=0)


def numbers():
    case("fold_scalars", "a chain", lambda m, x: (x * 3 / 4 + 2 - 0.5) * 2, [(3, 5)], targets=["mul", "add"])
    case("fold_scalars", "negation and reversed subtraction", lambda m, x: 1 - (-(x * 2)) + 4, [(3, 5)], targets=["mul", "add"])
    case("fold_scalars", "a chain that is read inside", lambda m, x: (lambda y: y * 2 + y)(x * 3), [(3, 5)], times=0)
    case("fold_scalars", "integers stay", lambda m, x: (x.long() * 3 + 1) * 2, [(3, 5)], times=0)
    activations = (torch.relu, torch.tanh, torch.sigmoid, F.gelu, F.mish, F.silu, F.hardswish, F.leaky_relu, F.hardtanh, torch.exp)
    for activation in activations:
        case("fold_constants", activation.__name__, lambda m, x, f=activation: f(torch.zeros_like(x) + 0.7) * 2 + x, [(3, 5)], times=3, targets=["add"])
    case("fold_constants", "clamp, mean, views", lambda m, x: torch.full((4, 6), -2.5).clamp(-1, 2).mean(1).view(2, 2).div(3) + x, [(2, 2)], times=4, targets=["add"])
    case("fold_constants", "zeros like a computed value", lambda m, x: torch.where(x > 0, x.exp(), torch.zeros_like(x.exp())), [(3, 5)], times=1, targets=["gt", "exp", "where"])
    case("fold_constants", "ones of integers like a computed value", lambda m, x: x.exp().long() + torch.full_like(x.exp().long(), 3), [(3, 5)], times=1, targets=["exp", "to", "add"])
    case("fold_constants", "like a computed value in other strides", lambda m, x: torch.zeros_like(x.exp().t()) + x.t(), [(3, 5)], times=0)
    case("fold_constants", "a sum stays", lambda m, x: torch.ones_like(x).sum() * x, [(3, 5)], times=0)


def folded_weights():
    case("fold_batch_norm", "linear", lambda m, x: m.b(m.f(x)), [(3, 5)], targets=["linear"], f=nn.Linear(5, 7), b=nn.BatchNorm1d(7))
    case("fold_batch_norm", "linear without bias, norm without weights", lambda m, x: m.b(m.f(x)), [(3, 5)], times=0, f=nn.Linear(5, 7, bias=False),
         b=nn.BatchNorm1d(7, track_running_stats=False))
    for rank, conv, transposed, norm in ((1, nn.Conv1d, nn.ConvTranspose1d, nn.BatchNorm1d), (2, nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d),
                                         (3, nn.Conv3d, nn.ConvTranspose3d, nn.BatchNorm3d)):
        shape = (2, 6) + (5, 7, 4)[:rank]
        for bias in (True, False):
            case("fold_batch_norm", "conv%dd" % rank, lambda m, x: m.b(m.c(x)).relu(), [shape], targets=["conv%dd" % rank, "relu"],
                 c=conv(6, 4, 3, padding=1, stride=2, groups=2, bias=bias), b=norm(4))
            case("fold_batch_norm", "conv_transpose%dd" % rank, lambda m, x: m.b(m.c(x)), [shape], targets=["conv_transpose%dd" % rank],
                 c=transposed(6, 5, 3, stride=2, padding=1, bias=bias), b=norm(5))
        case("fold_batch_norm", "grouped conv_transpose%dd stays" % rank, lambda m, x: m.b(m.c(x)), [shape], times=0, c=transposed(6, 4, 3, groups=2), b=norm(4))
    case("fold_batch_norm", "read twice stays", lambda m, x: (lambda y: m.b(y) + y)(m.c(x)), [(2, 3, 6, 5)], times=0, c=nn.Conv2d(3, 4, 3), b=nn.BatchNorm2d(4))
    case("fold_batch_norm", "over time stays", lambda m, x: m.b(m.f(x)), [(2, 3, 5)], times=0, f=nn.Linear(5, 7), b=nn.BatchNorm1d(3))
    for bias in (True, False):
        case("fold_affine", "numbers", lambda m, x: (m.f(x) * 3 + 0.25) / 4 - 1, [(3, 5)], times=4, targets=["linear"], f=nn.Linear(5, 7, bias=bias))
        case("fold_affine", "vectors", lambda m, x: (m.f(x) * m.s + m.t) / m.s - m.t, [(2, 3, 5)], times=4, targets=["linear"],
             f=nn.Linear(5, 7, bias=bias), s=torch.rand(7) + 0.5, t=torch.randn(7))
        case("fold_affine", "channels of a convolution", lambda m, x: (m.c(x) * m.s - m.t) / 2, [(2, 4, 6, 5)], times=3, targets=["conv2d"],
             c=nn.Conv2d(4, 6, 3, groups=2, bias=bias), s=torch.randn(6, 1, 1), t=torch.randn(1, 6, 1, 1))
        case("fold_affine", "channels of a transposed convolution", lambda m, x: m.c(x) * m.s + m.t, [(2, 4, 6)], times=2, targets=["conv_transpose1d"],
             c=nn.ConvTranspose1d(4, 6, 3, stride=2, bias=bias), s=torch.randn(6, 1), t=torch.randn(1))
    case("fold_affine", "a grouped transposed convolution takes a shift only", lambda m, x: (m.c(x) + m.t) * 2, [(2, 4, 6)], times=1,
         c=nn.ConvTranspose1d(4, 6, 3, groups=2), t=torch.randn(6, 1))
    case("fold_affine", "a position-dependent shift stays", lambda m, x: m.c(x) + m.t, [(2, 4, 6)], times=0, c=nn.Conv1d(4, 6, 3), t=torch.randn(6, 4))
    case("fold_affine", "an input stays", lambda m, x, y: m.f(x) * y, [(3, 5), (7,)], times=0, f=nn.Linear(5, 7))
    case("fold_affine", "broadcast to more rows stays", lambda m, x: m.f(x) + m.t, [(5,)], times=0, f=nn.Linear(5, 7), t=torch.randn(3, 7))


def smaller_products():
    for bias in (True, False):
        case("sum_product_columns", "sum", lambda m, x: m.f(x).sum(1, keepdim=True).relu(), [(3, 5)], targets=["linear", "relu"], f=nn.Linear(5, 7, bias=bias))
        case("sum_product_columns", "mean", lambda m, x: m.f(x).mean(-1).relu(), [(2, 3, 5)], targets=["linear", "reshape", "relu"], f=nn.Linear(5, 7, bias=bias))
        case("sum_product_columns", "all axes", lambda m, x: m.f(x).sum(), [(2, 3, 5)], targets=["linear", "sum", "reshape"], f=nn.Linear(5, 7, bias=bias))
        case("pull_mean", "mean over rows", lambda m, x: m.f(x).mean(1), [(2, 3, 5)], targets=["mean", "linear"], f=nn.Linear(5, 7, bias=bias))
        case("pull_mean", "sum over rows", lambda m, x: m.f(x).sum((0, 1), keepdim=True), [(2, 3, 5)], targets=["sum", "linear"], f=nn.Linear(5, 7, bias=bias))
    case("sum_product_columns", "two axes", lambda m, x: m.f(x).sum((1, 2)), [(2, 3, 5)], targets=["linear", "sum", "reshape"], f=nn.Linear(5, 7))
    case("sum_product_columns", "a product of inputs", lambda m, x, y: (x @ y).sum(1), [(3, 5), (5, 7)], targets=["sum", "matmul", "reshape"])
    case("sum_product_columns", "rows stay", lambda m, x: m.f(x).sum(0), [(3, 5)], times=0, f=nn.Linear(5, 7))
    case("sum_product_columns", "an activation between stays", lambda m, x: m.f(x).relu().sum(1), [(3, 5)], times=0, f=nn.Linear(5, 7))
    case("pull_mean", "columns stay", lambda m, x: m.f(x).mean(2), [(2, 3, 5)], times=0, f=nn.Linear(5, 7))


def pooled_convolutions():
    for rank, conv, transposed, pool in ((1, nn.Conv1d, nn.ConvTranspose1d, F.adaptive_avg_pool1d), (2, nn.Conv2d, nn.ConvTranspose2d, F.adaptive_avg_pool2d),
                                         (3, nn.Conv3d, nn.ConvTranspose3d, F.adaptive_avg_pool3d)):
        shape, axes = (2, 3) + (9, 7, 6)[:rank], tuple(range(2, 2 + rank))
        for options in ({}, {"stride": 2, "padding": 1, "bias": False}, {"dilation": 2, "padding": 2, "stride": 3}):
            case("pool_convolution", "conv%dd %s" % (rank, options), lambda m, x: m.c(x).mean(axes).relu(), [shape], c=conv(3, 4, 3, **options))
            case("pool_convolution", "sum of conv%dd %s" % (rank, options), lambda m, x: m.c(x).sum(axes, keepdim=True), [shape], c=conv(3, 4, 2, **options))
            case("pool_convolution", "conv_transpose%dd %s" % (rank, options), lambda m, x: m.c(x).mean(axes, keepdim=True), [shape], c=transposed(3, 4, 3, **options))
        case("pool_convolution", "output padding %dd" % rank, lambda m, x: pool(m.c(x), 1), [shape], c=transposed(3, 4, 3, stride=2, padding=1, output_padding=1))
        case("pool_convolution", "grouped conv%dd stays" % rank, lambda m, x: m.c(x).mean(axes), [shape], times=0, c=conv(3, 6, 3, groups=3))
    case("pool_convolution", "one axis stays", lambda m, x: m.c(x).mean(3), [(2, 3, 9, 7)], times=0, c=nn.Conv2d(3, 4, 3))
    case("pool_convolution", "a larger pool stays", lambda m, x: F.adaptive_avg_pool2d(m.c(x), 2), [(2, 3, 9, 7)], times=0, c=nn.Conv2d(3, 4, 3))
    case("pool_convolution", "an activation between stays", lambda m, x: m.c(x).relu().mean((2, 3)), [(2, 3, 9, 7)], times=0, c=nn.Conv2d(3, 4, 3))
    case("", "norm and scale, then pooled", lambda m, x: F.adaptive_avg_pool2d(m.b(m.c(x) * 2), 1), [(2, 3, 9, 7)], c=nn.ConvTranspose2d(3, 4, 3, stride=2), b=nn.BatchNorm2d(4))


    large = [(2, 3, 40000)]
    case("pool_convolution", "a long axis stays, because its matrix would be large", lambda m, x: m.c(x).mean(2), large, times=0, c=nn.Conv1d(3, 4, 3))
    case("pool_convolution", "a long axis with one tap", lambda m, x: m.c(x).mean(2), large, c=nn.Conv1d(3, 4, 1))


def paddings():
    for rank, conv in ((1, nn.Conv1d), (2, nn.Conv2d), (3, nn.Conv3d)):
        shape, name = (2, 4) + (9, 7, 6)[:rank], "conv%dd" % rank
        for options in ({}, {"dilation": 2, "groups": 2}, {"bias": False}):
            case("number_padding", "same, %s %s" % (name, options), lambda m, x: m.c(x).relu(), [shape], targets=[name, "relu"], c=conv(4, 6, 3, padding="same", **options))
            case("number_padding", "valid, %s %s" % (name, options), lambda m, x: m.c(x), [shape], targets=[name], c=conv(4, 6, 2, padding="valid", **options))
        case("number_padding", "an even kernel, " + name, lambda m, x: m.c(x), [shape], targets=["constant_pad_nd", name], c=conv(4, 6, 2, padding="same"))
        case("number_padding", "an even kernel, dilated, " + name, lambda m, x: m.c(x), [shape], targets=[name], c=conv(4, 6, 4, padding="same", dilation=2))
        case("number_padding", "numbers stay, " + name, lambda m, x: m.c(x), [shape], times=0, c=conv(4, 6, 3, padding=1))
    case("number_padding", "kernels of both kinds", lambda m, x: m.c(x), [(2, 4, 9, 7)], targets=["constant_pad_nd", "conv2d"], c=nn.Conv2d(4, 6, (4, 3), padding="same"))
    case("number_padding", "strided, valid", lambda m, x: m.c(x), [(2, 4, 9, 7)], targets=["conv2d"], c=nn.Conv2d(4, 6, 3, padding="valid", stride=2))
    case("number_padding", "without a batch", lambda m, x: m.c(x), [(4, 9)], targets=["constant_pad_nd", "conv1d"], c=nn.Conv1d(4, 6, 2, padding="same"))
    case("", "pooled", lambda m, x: m.c(x).mean((2, 3)), [(2, 4, 9, 7)], times=2, c=nn.Conv2d(4, 6, 4, padding="same"))


def einsums():
    def einsum(equation, sizes, times=1, targets=None):
        shapes = [tuple(sizes[letter] for letter in operand) for operand in equation.split("->")[0].replace(" ", "").split(",")]
        case("open_einsum", equation, lambda m, *given: torch.einsum(equation, *given), shapes, times=times, targets=targets)

    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 7}
    einsum("ab,bc,cd->ad", sizes)
    einsum("ab, bc, cd -> da", sizes)
    einsum("ab,bc,cd,de->ae", sizes)
    einsum("ab,bc,cd,de,ef->fa", sizes)
    einsum("abc,abd,ace->abde", sizes)  # a batch
    einsum("abc,bcd->ad", sizes, targets=["reshape", "reshape", "matmul"])
    einsum("abcd,cdbe->ae", sizes)
    einsum("abcd,aecd->abe", sizes)
    einsum("abcd,aecd->eba", sizes)
    einsum("abc,abc->a", sizes, targets=["mul", "sum"])
    einsum("abc,cba->", sizes)
    einsum("abc,ac->", sizes)  # b has only one operand
    einsum("abc,ade->be", sizes)
    einsum("a,b,c->cab", sizes, targets=["reshape", "reshape", "mul", "reshape", "reshape", "mul"])  # nothing is summed
    einsum("ab,ab,ab->ab", sizes)
    einsum("ab,ab,ab->ba", sizes)
    einsum("ab,bc,ca", sizes)
    einsum("ab,cb,dc", sizes)  # without an arrow: ad
    einsum("abcde,adcfe,bda,acfb->adbe", sizes)  # as in a chunked scan
    einsum("ab,bc->ac", sizes, times=0)
    einsum("abc,cd->abd", sizes, times=0)
    einsum("ab,ab->ab", sizes, times=0)
    einsum("abc->ca", sizes, times=0)
    case("open_einsum", "an ellipsis stays", lambda m, x, y, z: torch.einsum("...a,ab,bc->...c", x, y, z), [(2, 3, 4), (4, 5), (5, 6)], times=0)
    case("open_einsum", "a diagonal stays", lambda m, x, y, z: torch.einsum("aa,ab,bc->c", x, y, z), [(3, 3), (3, 5), (5, 6)], times=0)
    case("open_einsum", "a length that broadcasts stays", lambda m, x, y, z: torch.einsum("ab,bc,cd->ad", x, y, z), [(2, 1), (3, 5), (5, 6)], times=0)
    case("open_einsum", "a permuted operand", lambda m, x, y: torch.einsum("abc,cbd->ad", x.transpose(0, 2), y), [(4, 3, 2), (4, 3, 5)])
    case("open_einsum", "with a weight", lambda m, x, y: torch.einsum("abc,dc,bde->ae", x, m.w, y).relu(), [(4, 3, 2), (3, 5, 6)], w=torch.randn(5, 2))


def triangles():
    shapes = [(259, 300), (300, 270)]
    same = lambda x: x
    for keep in (torch.tril, torch.triu, same):
        for left in (torch.tril, torch.triu, same):
            for right in (torch.tril, torch.triu, same):
                case("skip_zeros", "%s(%s(x) @ %s(y))" % (keep, left, right), lambda m, x, y: keep(left(x) @ right(y)), shapes,
                     times=0 if keep is same and left is same else 1)
    case("skip_zeros", "tall", lambda m, x, y: torch.triu(x @ y), [(700, 256), (256, 257)])
    case("skip_zeros", "wide", lambda m, x, y: torch.tril(x @ torch.triu(y)), [(257, 256), (256, 900)])
    case("skip_zeros", "mm beyond the diagonal", lambda m, x, y: torch.triu(torch.mm(x, y), 3), shapes)
    case("skip_zeros", "more than the triangle stays", lambda m, x, y: torch.triu(x @ y, -2), shapes, times=0)
    case("skip_zeros", "small products stay", lambda m, x, y: torch.triu(x @ y), [(40, 50), (50, 60)], times=0)
    case("skip_zeros", "another reader needs all", lambda m, x, y: (lambda z: torch.triu(z) + z)(x @ y), shapes, times=0)
    case("skip_zeros", "batches stay", lambda m, x, y: torch.triu(x @ y), [(2, 256, 256), (2, 256, 256)], times=0)


def normalised_means():
    bias = torch.randn(6) + 2
    case("mean_of_norm", "layer norm", lambda m, x: F.layer_norm(x, (6,), None, m.t).mean(-1, keepdim=True) * x, [(2, 3, 6)], t=bias)
    case("mean_of_norm", "layer norm over two axes and more", lambda m, x: F.layer_norm(x, (3, 6), None, m.t).mean() + x, [(2, 3, 6)], t=torch.randn(3, 6) + 1)
    case("mean_of_norm", "group norm", lambda m, x: F.group_norm(x, 3, None, m.t).mean((1, 2, 3)), [(2, 6, 4, 5)], t=bias)
    case("mean_of_norm", "sum of a group norm", lambda m, x: F.group_norm(x, 2, None, m.t).sum((1, 2), keepdim=True), [(2, 6, 7)], t=bias)
    instance = nn.InstanceNorm2d(6, affine=True)
    nn.init.normal_(instance.weight)
    nn.init.normal_(instance.bias)
    for axes in ((2, 3), (1, 2, 3), (0, 2, 3), (0, 1, 2, 3)):
        for keep in (False, True):
            case("mean_of_norm", "instance norm over %s" % (axes,), lambda m, x: m.n(x).mean(axes, keepdim=keep), [(2, 6, 4, 5)], n=instance)
    case("mean_of_norm", "sum of an instance norm", lambda m, x: m.n(x).sum((2, 3)), [(2, 6, 4, 5)], n=instance)
    case("mean_of_norm", "without a bias", lambda m, x: F.layer_norm(x, (6,)).mean(-1) + 1, [(2, 3, 6)])
    case("mean_of_norm", "a weight stays", lambda m, x: F.layer_norm(x, (6,), m.t).mean(-1), [(2, 3, 6)], times=0, t=bias)
    case("mean_of_norm", "a part of the group stays", lambda m, x: F.layer_norm(x, (3, 6)).mean(-1), [(2, 3, 6)], times=0)
    case("mean_of_norm", "a part of the channels stays", lambda m, x: F.group_norm(x, 3).mean((2, 3)), [(2, 6, 4, 5)], times=0)
    case("mean_of_norm", "the largest stays", lambda m, x: F.layer_norm(x, (6,)).amax(-1), [(2, 3, 6)], times=0)


def degenerate_tasks():
    norm = nn.GroupNorm(3, 6)
    case("", "the mean of a norm as it is built", lambda m, x: m.n(x).mean((1, 2)) + 1, [(2, 6, 5)], times=0, degenerate="mean_of_norm", n=norm)
    other = nn.GroupNorm(3, 6)
    nn.init.normal_(other.weight)
    case("", "the mean of a norm with other weights", lambda m, x: m.n(x).mean((1, 2)), [(2, 6, 5)], times=0, degenerate=False, n=other)
    token = torch.randn(1, 1, 8)

    def encoder(batch_first):
        return nn.TransformerEncoderLayer(8, 2, 12, batch_first=batch_first)

    def first(m, x):
        return m.e(torch.cat([m.t.expand(x.shape[0], 1, 8), x], 1))[:, 0] * 2

    # Attention along the first axis never mixes the token with its neighbours.
    case("", "a token beside the inputs", first, [(3, 4, 8)], times=0, degenerate="unread_elements", e=encoder(False), t=token)
    case("", "a token that attends to the inputs", first, [(3, 4, 8)], times=0, degenerate=False, e=encoder(True), t=token)
    case("", "the place beside the token", lambda m, x: m.e(torch.cat([m.t.expand(x.shape[0], 1, 8), x], 1))[:, 1], [(3, 4, 8)], times=0,
         degenerate=False, e=encoder(False), t=token)


def together():
    case("", "a degenerate task", lambda m, x: F.gelu((lambda y: y - y.mean(1, keepdim=True))(m.f(x).max(1, keepdim=True)[0])), [(3, 5)],
         degenerate="cancel_self", targets=[], f=nn.Linear(5, 7))
    case("", "softmax of a scalar per row", lambda m, x: m.f(x).sum(1, keepdim=True).softmax(1), [(3, 5)], degenerate="reduce_one_element", f=nn.Linear(5, 7))
    case("", "convolution, norm, scale, dropout", lambda m, x: F.dropout(m.b(m.c(x)) * 2 + m.t, 0.1, False), [(2, 3, 6, 5)], degenerate=False,
         targets=["conv2d"], c=nn.Conv2d(3, 4, 3), b=nn.BatchNorm2d(4), t=torch.randn(4, 1, 1))


for part in (simple_rules, one_element, numbers, folded_weights, smaller_products, pooled_convolutions, paddings, einsums, triangles, normalised_means, degenerate_tasks, together):
    part()
rules = subprocess.run([TOOL, "--list"], capture_output=True, text=True).stdout.split()
failures += ["no case for the rule %s" % rule for rule in rules if rule not in tried]
for failure in failures:
    print("FAILED", failure)
print("%d graphs checked, %d failed" % (checked, len(failures)))
sys.exit(1 if failures else 0)
