"""Makes one call of a candidate between cudaProfilerStart and cudaProfilerStop, for Nsight Compute around this
process.

Started as `python hone_profile.py TASK CANDIDATE`, in the sandbox. Inputs and weights are the task's own, drawn
from a fixed seed: a kernel's load hardly depends on values, and no results are compared here.
"""

import sys

import torch

from hone_wire import map_tensors
from hone_worker import load_file


def main():
    task = load_file(sys.argv[1], "task")
    candidate = load_file(sys.argv[2], "candidate")
    torch.manual_seed(0)
    model = candidate.ModelNew(*task.get_init_inputs()).cuda().eval()
    inputs = map_tensors(list(task.get_inputs()), lambda tensor: tensor.cuda())
    with torch.no_grad():
        for _ in range(2):  # compiles and prepares what the first use needs
            model(*inputs)
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        model(*inputs)
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main()
