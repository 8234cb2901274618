"""The card's FLOPs against counts by hand: convolutions of every kind are computed by loops over their definition, which count the
multiplications and must give PyTorch's own result; other products by their sizes. Each is counted twice, with PyTorch's formulas
(torch.utils.flop_counter) and without, as on a torch that has none. With --tool the graph of each is counted too (src/graph/cost.cpp).

Usage: card_flops_test.py [--tool GRAPH_TOOL]
       card_flops_test.py --tasks FOLDER     prints the card's FLOPs of every task in a folder, nothing computed
Exit code 1 when a count is wrong, 77 without torch.
"""

import itertools
import json
import pathlib
import subprocess
import sys
import time
import warnings

import torch_python

torch_python.need_torch()
import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "worker"))
import hone_card
import hone_flops
import hone_graph

failures, checked, graphs = [], 0, 0
TOOL = sys.argv[2] if sys.argv[1:2] == ["--tool"] else None
warnings.simplefilter("ignore")  # PyTorch's own, about what it runs how


class Call(nn.Module):
    """A function as a module, so that the card counts it."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def expect(label, module, inputs, flops, declined=False):
    """The card counts `flops` with PyTorch's formulas and without, and so does the graph, unless it is `declined`."""
    global checked
    for name, registry in (("flop_counter", hone_flops._registry()), ("own", {})):
        hone_flops._formulas[:] = [registry]
        counted = hone_card.card(module.eval(), inputs)["flops"]
        checked += 1
        if counted != flops:
            failures.append(label)
            print("FAILED  %s (%s): %d, not %d" % (label, name, counted, flops))
    if TOOL and not declined:
        expect_of_graph(label, module, inputs, flops)


def expect_of_graph(label, module, inputs, flops):
    global graphs
    graph = hone_graph.capture(module, inputs)
    done = subprocess.run([TOOL], input=json.dumps(graph), capture_output=True, text=True, check=True)
    counted = json.loads(done.stdout)["flops"]
    graphs += 1
    if counted != flops:
        failures.append(label)
        print("FAILED  %s (graph): %d, not %d" % (label, counted, flops))


def places(extents):
    return itertools.product(*(range(e) for e in extents))


def convolve(x, w, out_shape, stride, padding, dilation, groups, transposed):
    """(result, multiplications) by the definition, one at a time. Plain: every output reads every tap of its group, with zeros
    beyond the edge. Transposed: every input contributes to every tap of its group; values beyond the edge of the output are
    dropped."""
    at = lambda tensor: dict(zip(places(tensor.shape), tensor.flatten().tolist()))
    values, weights, out, count = at(x), at(w), dict.fromkeys(places(out_shape), 0.0), 0
    per_in, per_out = x.shape[1] // groups, out_shape[1] // groups
    # The positions that a tap reads are the same for all channels.
    meets = [(place, tap, tuple(p * s + t * d - q for p, s, t, d, q in zip(place, stride, tap, dilation, padding)))
             for place in places(x.shape[2:] if transposed else out_shape[2:]) for tap in places(w.shape[2:])]  # fmt: skip
    for sample, group, i, o in places((x.shape[0], groups, per_in, per_out)):
        c_in, c_out = group * per_in + i, group * per_out + o
        row = (c_in, o) if transposed else (c_out, i)
        for place, tap, other in meets:
            count += 1
            given, taken = (sample, c_in, *(place if transposed else other)), (sample, c_out, *(other if transposed else place))
            if given in values and taken in out:
                out[taken] += values[given] * weights[row + tap]
    return torch.tensor(list(out.values()), dtype=torch.float64).view(out_shape), count


# stride, padding, dilation, groups, output padding
PLAIN = [(1, 0, 1, 1, 0), (2, 0, 1, 1, 0), (1, 1, 1, 1, 0), (1, 0, 2, 1, 0), (1, 0, 1, 2, 0), (2, 1, 2, 2, 0), (2, 1, 1, 4, 0)]
TRANSPOSED = [*PLAIN, (2, 0, 1, 1, 1), (3, 1, 2, 2, 2)]
EXTENTS = {1: ((7,), (3,)), 2: ((4, 3), (3, 2)), 3: ((3, 2, 3), (2, 2, 1))}


def check_convolutions():
    for axes, transposed in itertools.product((1, 2, 3), (False, True)):
        kind = getattr(nn, "Conv%s%dd" % ("Transpose" if transposed else "", axes))
        for stride, padding, dilation, groups, extra in TRANSPOSED if transposed else PLAIN:
            torch.manual_seed(0)
            size, taps = EXTENTS[axes]
            options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups, bias=False)
            module = kind(4, 8, taps, **options, **({"output_padding": extra} if transposed else {})).double()
            x, wide = torch.randn(1, 4, *(e + 2 * (dilation - 1) for e in size), dtype=torch.float64), lambda v: (v,) * axes
            with torch.no_grad():
                want = module(x)
                got, count = convolve(x, module.weight, want.shape, wide(stride), wide(padding), wide(dilation), groups, transposed)
            label = "%s stride %d padding %d dilation %d groups %d output_padding %d" % (kind.__name__, stride, padding, dilation, groups, extra)
            if not torch.allclose(got, want):
                failures.append(label)
                print("FAILED  the loops do not compute", label)
            expect(label, module, [x], 2 * count)
    expect("Conv2d without a batch", nn.Conv2d(3, 5, 3), [torch.randn(3, 6, 6)], 2 * 5 * 4 * 4 * 3 * 9)
    expect("Conv1d, same padding", nn.Conv1d(3, 5, 4, padding="same"), [torch.randn(2, 3, 6)], 2 * 2 * 5 * 6 * 3 * 4)
    expect("a bias adds nothing", nn.ConvTranspose2d(3, 5, 3, bias=True), [torch.randn(2, 3, 6, 6)], 2 * 2 * 36 * 3 * 5 * 9)


def check_products():
    r = torch.randn
    expect("mm", Call(torch.mm), [r(3, 4), r(4, 5)], 2 * 3 * 4 * 5)
    expect("addmm", Call(torch.addmm), [r(5), r(3, 4), r(4, 5)], 2 * 3 * 4 * 5)
    expect("bmm", Call(torch.bmm), [r(2, 3, 4), r(2, 4, 5)], 2 * 2 * 3 * 4 * 5)
    expect("baddbmm", Call(torch.baddbmm), [r(2, 3, 5), r(2, 3, 4), r(2, 4, 5)], 2 * 2 * 3 * 4 * 5)
    expect("addbmm", Call(torch.addbmm), [r(3, 5), r(2, 3, 4), r(2, 4, 5)], 2 * 2 * 3 * 4 * 5)
    expect("mv", Call(torch.mv), [r(3, 4), r(4)], 2 * 3 * 4)
    expect("addmv", Call(torch.addmv), [r(3), r(3, 4), r(4)], 2 * 3 * 4)
    expect("dot", Call(torch.dot), [r(4), r(4)], 2 * 4)
    expect("matmul", Call(torch.matmul), [r(2, 1, 3, 4), r(7, 4, 5)], 2 * 2 * 7 * 3 * 4 * 5)
    expect("einsum", Call(lambda a, b: torch.einsum("bij,bjk->bik", a, b)), [r(2, 3, 4), r(2, 4, 5)], 2 * 2 * 3 * 4 * 5)
    expect("einsum, summed", Call(lambda a, b: torch.einsum("bij, jk -> ki", a, b)), [r(2, 3, 4), r(4, 5)], 2 * 3 * 4 * 5)
    expect("einsum of three", Call(lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c)), [r(2, 3), r(3, 4), r(4, 5)], 2 * 2 * 3 * 4 + 2 * 2 * 4 * 5)
    expect("einsum, elementwise", Call(lambda a, b: torch.einsum("ij,ij->ij", a, b)), [r(2, 3), r(2, 3)], 0)
    expect("vdot", Call(torch.vdot), [r(4), r(4)], 2 * 4)
    expect("Linear", nn.Linear(4, 5), [r(2, 3, 4)], 2 * 2 * 3 * 4 * 5)
    expect("Bilinear", nn.Bilinear(4, 5, 6), [r(3, 4), r(3, 5)], 2 * 3 * (6 * 4 * 5 + 6 * 5))
    expect("elementwise", nn.Sequential(nn.ReLU(), nn.LayerNorm(4)), [r(3, 4)], 0)


def check_classes():
    """Which FLOPs are cuDNN's on a GPU."""
    global checked
    model = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ConvTranspose2d(5, 4, 2), nn.Flatten(), nn.Linear(4 * 25, 7))
    card = hone_card.card(model.eval(), [torch.randn(2, 3, 6, 6)])
    convolutions = 2 * 2 * 5 * 16 * 3 * 9 + 2 * 2 * 5 * 16 * 4 * 4
    checked += 1
    if card["cudnn_flops"] != convolutions or card["flops"] != convolutions + 2 * 2 * 100 * 7:
        failures.append("classes")
        print("FAILED  classes: %d of %d" % (card["cudnn_flops"], card["flops"]))


def check_attention():
    if not hasattr(F, "scaled_dot_product_attention"):
        return
    r, heads = torch.randn, 2 * 3
    attend = lambda causal: Call(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    q, k, v = r(2, 3, 5, 8), r(2, 3, 7, 8), r(2, 3, 7, 8)
    expect("attention", attend(False), [q, k, v], 2 * heads * 5 * 7 * (8 + 8))
    met = lambda queries, keys: sum(1 for i, j in places((queries, keys)) if j <= i)
    expect("causal attention", attend(True), [q, k, v], 2 * heads * met(5, 7) * (8 + 8))
    expect("causal, more queries than keys", attend(True), [k, q, q], 2 * heads * met(7, 5) * (8 + 8))
    layer, x = nn.MultiheadAttention(16, 4, batch_first=True), r(2, 7, 16)
    expect("MultiheadAttention", layer, [x, x, x], 2 * 2 * 7 * 4 * 16 * 16 + 2 * 2 * 4 * 7 * 7 * (4 + 4))


def check_recurrent():
    gates = {nn.RNN: 1, nn.GRU: 3, nn.LSTM: 4}
    for kind, both, layers in itertools.product(gates, (False, True), (1, 3)):
        module, steps, batch = kind(6, 5, layers, bidirectional=both), 4, 3
        ways, count = 1 + both, 0
        for layer, _ in itertools.product(range(layers), range(ways)):
            count += steps * batch * gates[kind] * 5 * ((6 if layer == 0 else 5 * ways) + 5)
        expect("%s, %d layers, %d directions" % (kind.__name__, layers, ways), module, [torch.randn(steps, batch, 6)], 2 * count)
    projected = 2 * 4 * 3 * (4 * 5 * (6 + 2) + 2 * 5)
    expect("LSTM with a projection", nn.LSTM(6, 5, proj_size=2), [torch.randn(4, 3, 6)], projected)
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(4, 3, 6), [4, 2, 1])
    expect("GRU of a packed sequence", Call(lambda x, gru=nn.GRU(6, 5): gru(packed)[1]), [torch.zeros(1)], 2 * (4 + 2 + 1) * 3 * 5 * (6 + 5), declined=True)
    for kind, name in ((nn.RNN, nn.RNNCell), (nn.GRU, nn.GRUCell), (nn.LSTM, nn.LSTMCell)):
        expect(name.__name__, name(6, 5), [torch.randn(3, 6)], 2 * 3 * gates[kind] * 5 * (6 + 5))
    expect("RNNCell with ReLU", nn.RNNCell(6, 5, nonlinearity="relu"), [torch.randn(3, 6)], 2 * 3 * 5 * (6 + 5))
    # Calls cuDNN's operator by its arguments, because there may be no GPU.
    if hasattr(torch.ops.aten, "_cudnn_rnn"):
        module, x = nn.GRU(6, 5, 2, bidirectional=True), torch.randn(4, 3, 6)
        call = (x, module._flat_weights, 4, None, torch.zeros(4, 3, 5), None, 3, 5, 0, 2, False, 0.0, False, True)
        matrices = 2 * 3 * 5 * (6 + 5) + 2 * 3 * 5 * (10 + 5)
        for batch_sizes, given, rows, length in (([], x, 12, 8), ([3, 2, 1], torch.randn(6, 6), 6, 6)):
            arguments = (given, *call[1:], batch_sizes, None)
            got = hone_flops.flops_of(torch.ops.aten._cudnn_rnn.default, arguments, {}, (x,)), hone_card._chain_length("_cudnn_rnn", arguments)
            if got != (2 * rows * matrices, length):
                failures.append("_cudnn_rnn")
                print("FAILED  _cudnn_rnn: %s, not %s" % (got, (2 * rows * matrices, length)))


def print_tasks(folder):
    """Uses fake tensors, which only propagate shapes."""
    import importlib.util

    from torch._subclasses.fake_tensor import FakeTensorMode

    for path in sorted(pathlib.Path(folder).rglob("*.py")):
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                spec = importlib.util.spec_from_file_location("task", path)
                task = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(task)
                card = hone_card.card(task.Model(*task.get_init_inputs()).eval(), task.get_inputs())
            print("%-70s %12.4g GFLOP" % (path.stem, card["flops"] / 1e9), flush=True)
        except Exception as error:  # a task that does not work with fake tensors
            print("%-70s %s" % (path.stem, str(error).splitlines()[:1]), flush=True)


def main():
    if sys.argv[1:2] == ["--tasks"]:
        print_tasks(sys.argv[2])
        return 0
    began = time.monotonic()
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4) and not hone_flops._registry():
        failures.append("this torch has formulas, and they are not used")
        print(failures[-1])
    for check in (check_convolutions, check_products, check_classes, check_attention, check_recurrent):
        check()
    print("%d counts, %d of graphs, %d wrong, %.1f s" % (checked, graphs, len(failures), time.monotonic() - began))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
