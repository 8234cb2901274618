"""The CPU kernel for recurrent networks against float64, over generated configurations: cells, sizes (odd ones and ones that just miss a
vector), depths, directions, projections, layouts, given and absent states, outputs in use, numbers of threads and ways to split the work.

Usage: recurrent_cpu_test.py [--count 400] [--seed N]

One process and one compilation for all of them. The limit is the judge's: twice the error that PyTorch's own float32 makes on the same
numbers, with a floor of a few ulp. Every other configuration is under stress (larger weights, inputs from a normal distribution), where a
kernel that forgets a term errs by far more. The kernel must run: where it hands over to PyTorch, that is a failure here.
"""

import argparse
import copy
import os
import random
import shutil
import sys
import tempfile
import time
import warnings

import runtime_text
from torch_python import need_torch

SIZES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65)
ULP = 2.0**-23
ENOUGH = 64  # numbers in an output, over all draws, that make an error meaningful


def runtime():
    """The common part of all candidates."""
    return runtime_text.runtime_text(runtime_text.CPU)


def torch_cat(tensors):
    import torch

    return torch.cat([tensor.flatten() for tensor in tensors])


def configuration(rng):
    kind = rng.choice(("RNN", "RNN", "GRU", "GRU", "LSTM", "LSTM", "LSTM", "loop"))
    c = {
        "kind": kind, "inputs": rng.choice(SIZES), "hidden": rng.choice(SIZES), "layers": rng.choice((1, 1, 2, 3, 5)), "both": rng.random() < 0.4,
        "bias": rng.random() < 0.8, "batch_first": rng.random() < 0.4, "relu": rng.random() < 0.4, "batch": rng.choice((1, 1, 2, 3, 4, 7, 13, 16, 29)),
        "steps": rng.choice((1, 2, 3, 8, 17)), "state": rng.choice(("none", "given", "strided")), "layout": rng.choice(("plain", "strided", "unbatched", "grad")),
        "wanted": rng.choice((None, None, ("sequence",), ("last",), ("h_n",), ("last", "h_n"), ("h_n", "c_n"), ("sequence", "c_n"))),
        "threads": rng.choice((1, 2, 3, 4)), "split": rng.choice((None, None, (1, 1, 2), (2, 1, 1), (1, 2, 1), (2, 2, 2), (3, 1, 2))),
        "stress": rng.random() < 0.5, "head": rng.choice((0, 0, 3, 16, 21)),
    }  # fmt: skip
    c["proj"] = rng.randrange(1, c["hidden"]) if kind == "LSTM" and c["hidden"] > 1 and rng.random() < 0.4 else 0
    if c["layout"] == "unbatched":
        c["batch"] = 1
    return c


def regime(torch, tensors, rng_seed, scale):
    generator = torch.Generator().manual_seed(rng_seed)
    for tensor in tensors:
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * scale)


def limits(draws):
    """The largest ratio of an output's error to its limit, where PyTorch's own error is half a limit. All draws of an output count
    together, because PyTorch's error on a single number is random."""
    worst = 0.0
    for a, b, t in zip(*([torch_cat(tensors) for tensors in zip(*side)] for side in zip(*draws))):
        size = t.norm().clamp_min(1e-30)
        error, theirs = float((a.double() - t).norm() / size), float((b.double() - t).norm() / size)
        worst = max(worst, error / max(2 * theirs, 4 * ULP)) if error == error else float("inf")
    return worst


def module_case(torch, space, c, seed):
    """A function that draws inputs and returns the used outputs of the kernel, PyTorch and float64, and the call to repeat."""
    nn = torch.nn
    more = {"nonlinearity": "relu" if c["relu"] else "tanh"} if c["kind"] == "RNN" else {}
    if c["proj"]:
        more["proj_size"] = c["proj"]
    made = getattr(nn, c["kind"])(c["inputs"], c["hidden"], c["layers"], bias=c["bias"], batch_first=c["batch_first"], bidirectional=c["both"], **more).eval()
    if c["stress"]:
        regime(torch, made.parameters(), seed, 0.8 / max(1, c["hidden"]) ** 0.5)
    own = space["adopt"](nn.Sequential(made.__class__(c["inputs"], c["hidden"], c["layers"], bias=c["bias"], batch_first=c["batch_first"],
                                                      bidirectional=c["both"], **more)).eval())[0]  # fmt: skip
    own.load_state_dict(made.state_dict())
    own.hone_outputs = c["wanted"]
    exact = copy.deepcopy(made).double()
    return lambda: module_draw(torch, c, own, made, exact)


def module_draw(torch, c, own, made, exact):
    first, second = (c["batch"], c["steps"]) if c["batch_first"] else (c["steps"], c["batch"])
    draw = torch.randn if c["stress"] else torch.rand
    x = draw(first, second, c["inputs"])
    if c["layout"] == "strided":
        x = draw(second, first, 2 * c["inputs"] + 1).transpose(0, 1)[:, :, 1 : 1 + c["inputs"]]
    if c["layout"] == "unbatched":
        x = draw(c["steps"], c["inputs"])
    x.requires_grad_(c["layout"] == "grad")
    directions = 2 if c["both"] else 1
    state = None
    if c["state"] != "none":
        parts = []
        for size in (c["proj"] or c["hidden"], c["hidden"])[: 2 if c["kind"] == "LSTM" else 1]:
            shape = [c["layers"] * directions, c["batch"], size]
            s = torch.randn(shape[1], shape[0], size).transpose(0, 1) if c["state"] == "strided" else torch.randn(shape)
            parts.append(s[:, 0] if c["layout"] == "unbatched" else s)
        state = tuple(parts) if c["kind"] == "LSTM" else parts[0]
    double = None if state is None else tuple(s.double() for s in state) if isinstance(state, tuple) else state.double()
    got, theirs, truth = own(x, state), made(x, state), exact(x.double(), double)
    wanted = c["wanted"] or ("sequence", "h_n", "c_n")

    def used(out):
        y, states = out
        h, cell = states if c["kind"] == "LSTM" else (states, None)
        picked = []
        if "sequence" in wanted:
            picked.append(y)
        elif "last" in wanted:
            picked.append(y[:, -1] if c["batch_first"] and c["layout"] != "unbatched" else y[-1])
        picked += [h] if "h_n" in wanted else []
        picked += [cell] if "c_n" in wanted and cell is not None else []
        return picked
    return used(got), used(theirs), used(truth), lambda: used(own(x, state))


def loop_case(torch, space, c):
    hidden, linear = c["hidden"], torch.nn.functional.linear
    scale = 0.8 / hidden**0.5
    w_x, w_h = torch.randn(hidden, c["inputs"]) * scale, torch.randn(hidden, hidden) * scale
    if c["layout"] == "strided":  # the strides of Linear(cat(x, h))
        joined = torch.randn(hidden, c["inputs"] + hidden) * scale
        w_x, w_h = joined[:, : c["inputs"]], joined[:, c["inputs"] :]
    b_x, b_h = (torch.randn(hidden) * scale, torch.randn(hidden) * scale) if c["bias"] else (None, None)
    head = (torch.randn(c["head"], hidden), torch.randn(c["head"])) if c["head"] else (None, None)
    activation = "relu" if c["relu"] else "tanh"

    def plain(kind, x, h0):
        to = lambda t: None if t is None else t.to(kind)
        h, ys = torch.zeros(c["batch"], hidden, dtype=kind) if h0 is None else h0.to(kind), []
        for step in x.to(kind):
            h = getattr(torch, activation)(linear(step, to(w_x), to(b_x)) + linear(h, to(w_h), to(b_h)))
            ys.append(linear(h, to(head[0]), to(head[1])) if c["head"] else h)
        return [torch.stack(ys), h]

    def draw():
        x, h0 = torch.randn(c["steps"], c["batch"], c["inputs"]), None if c["state"] == "none" else torch.randn(c["batch"], hidden)
        run = lambda: list(space["_elman"](x, h0, w_x, w_h, b_x, b_h, activation, *head))
        return run(), plain(torch.float32, x, h0), plain(torch.float64, x, h0), run
    return draw


def test(count, seed):
    import torch

    folder = tempfile.mkdtemp(prefix="hone-kernel-test-")
    os.environ["HONE_KERNEL_CACHE"] = folder
    space = {"__name__": "candidate"}
    exec(compile(runtime(), "runtime.py", "exec"), space)
    warnings.simplefilter("error", RuntimeWarning)  # "Hone's recurrent kernel is not used"
    began = time.monotonic()
    space["_library"]()
    print("compiled in %.1f s" % (time.monotonic() - began), flush=True)
    net_run = space["_Net"].run
    warnings.filterwarnings("ignore", message="LSTM with projections")
    rng, failures, worst, seen, began = random.Random(seed), 0, 0.0, set(), time.monotonic()
    for number in range(count):
        c = configuration(rng)
        torch.manual_seed(seed + number)
        torch.set_num_threads(1)  # for small shapes, PyTorch's own threads would only cost time
        space["_threads"] = lambda: c["threads"]
        space["_Net"].run = lambda net, *args, **more: net_run(net, *args, **{**more, **({"split": c["split"]} if c["split"] else {})})
        try:
            with torch.no_grad():
                draw = loop_case(torch, space, c) if c["kind"] == "loop" else module_case(torch, space, c, seed + number)
                got, own, truth, again = draw()
                draws = [(got, own, truth)]
                while len(draws) * min([t.numel() for t in truth], default=ENOUGH) < ENOUGH:
                    draws.append(draw()[:3])
                part = limits(draws)
                if [a.shape for a in got] != [t.shape for t in truth]:
                    raise AssertionError("shapes %s where %s are expected" % ([tuple(a.shape) for a in got], [tuple(t.shape) for t in truth]))
                if not part <= 1:
                    raise AssertionError("%.2f of the limit" % part)
                if number % 4 == 0 and any(not torch.equal(a, b) for _ in range(5) for a, b in zip(got, again())):
                    raise AssertionError("another answer to the same call")
                worst = max(worst, part)
        except (Exception, Warning) as problem:  # one line per configuration, whatever fails
            failures += 1
            print("FAILED %d: %s: %s\n       %s" % (number, type(problem).__name__, problem, c), flush=True)
        seen.update((name, value) for name, value in c.items() if name in ("kind", "layers", "both", "bias", "state", "layout", "wanted", "split", "stress"))
        seen.add(("proj", c["proj"] > 0))
    shutil.rmtree(folder)
    print("%d configurations (%d values of options), %d failed, the worst takes %.2f of its limit, %.1f s" % (count, len(seen), failures, worst, time.monotonic() - began))
    return 1 if failures or count == 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261115)
    options = parser.parse_args()
    need_torch()
    return test(options.count, options.seed)


if __name__ == "__main__":
    sys.exit(main())
