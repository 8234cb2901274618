"""Tests fused kernels on a GPU: the modules of fused_graph_test.py and random ones, in CUDA and in Triton, compared with float64. The files are
those that users get, and the driver is real.

Usage: fused_device_test.py --tool hone_expert_tool [--device cuda|triton] [--count 60] [--jobs 8] [--only WORD]
Exit code 1 when an answer is wrong or two runs differ, 77 without a GPU.
"""

import argparse
import concurrent.futures
import copy
import itertools
import multiprocessing
import pathlib
import sys
import tempfile
import time

import torch_python

torch_python.need_torch()
import torch

import fused_graph_test
import fused_house


def to_device(x):
    return x.cuda() if x.is_contiguous() else torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cuda").copy_(x)


def on_device(bundle, device):
    """What is wrong with each case of a bundle."""
    model, inputs = bundle.model, bundle.inputs
    candidate = fused_house._import(*bundle.files[device])
    before = [x.clone() for x in inputs]
    with torch.no_grad():
        answers = [candidate._run_graph(model, inputs) for _ in range(2)]
        plain = model(*inputs)
        wide = copy.deepcopy(model).double()(*[x.double() if x.is_floating_point() else x for x in inputs])
    torch.cuda.synchronize()
    changed = [not torch.equal(a, b) and not bool(a.isnan().any()) for a, b in zip(before, inputs)]
    said = []
    for (name, _, _), got, again, p, w, own in zip(bundle.cases, *answers, plain, wide, model.split(changed)):
        differs = any(not torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8)) for a, b in zip(fused_graph_test.flat(got), fused_graph_test.flat(again)))
        what = "two runs differ" if differs else "an input was changed" if any(own) else fused_graph_test.complaint(got, p, w)
        if what:
            said.append("%s, %s: %s" % (device, name, what))
    return said


def check(cases, options, device, folder):
    """The errors of some cases. Runs them one by one if the bundle as a whole fails."""
    options.devices = [device]
    try:
        bundle = fused_graph_test.Bundle(copy.deepcopy(cases), options, folder)
        bundle.model, bundle.inputs = bundle.model.cuda(), [to_device(x) for x in bundle.inputs]
        with torch.device("cuda"):  # tensors that forward creates
            return on_device(bundle.write(), device)
    except Exception as error:
        if len(cases) == 1:
            return ["%s, %s: %s: %s" % (device, cases[0][0], type(error).__name__, str(error)[-600:])]
    return [line for i, case in enumerate(cases) for line in check([case], options, device, folder / str(i))]


def listed(options):
    torch.manual_seed(0)
    cases = itertools.chain(fused_graph_test.cases(), fused_graph_test.random_cases(options.random))
    return [case for case in cases if options.only in case[0]]


def check_group(job):
    options, device, first = job
    torch.set_num_threads(1)
    group = listed(options)[first : first + options.together]
    with tempfile.TemporaryDirectory(prefix="hone-device-") as folder:
        return check(group, options, device, pathlib.Path(folder) / "bundle")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--device", choices=("cuda", "triton"), help="one language alone")
    parser.add_argument("--only", default="")
    parser.add_argument("--random", "--count", type=int, default=60, help="how many random modules, from seed 0 on")
    parser.add_argument("--together", type=int, default=12, help="modules in one file")
    parser.add_argument("--jobs", type=int, default=4, help="processes")
    options = parser.parse_args()
    options.show = False
    if not torch.cuda.is_available():
        print("there is no GPU")
        return 77
    begun = time.time()
    devices = [options.device] if options.device else ["cuda", "triton"]
    count = len(listed(options))
    jobs = [(options, device, first) for device in devices for first in range(0, count, options.together)]
    wrong = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done, said in enumerate(pool.map(check_group, jobs), 1):
            wrong += said
            print("%d of %d files, %d wrong, %.0f s" % (done, len(jobs), len(wrong), time.time() - begun), flush=True)
    for line in wrong:
        print("FAILED  " + line)
    print("%d modules in %s, %d wrong, %.0f s" % (count, " and ".join(devices), len(wrong), time.time() - begun))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
