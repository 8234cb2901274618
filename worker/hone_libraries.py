"""Libraries that take seconds to import and touch no device meanwhile: torch's compiler and Triton.

Where the first worker of a side has imported one, the zygote imports it too, so that later workers cost a fork.
"""

import gc
import importlib
import sys

import torch

LIBRARIES = ("torch._dynamo", "torch._inductor.compile_fx", "triton")


def imported():
    return [name for name in LIBRARIES if name in sys.modules]


def import_libraries(names, device):
    """Imports those of LIBRARIES that are named and not there yet, as the zygote imported torch."""
    is_available, torch.cuda.is_available = torch.cuda.is_available, lambda: device == "cuda"  # asking would touch the device
    gc.disable()
    try:
        for name in LIBRARIES:
            if name in names and name not in sys.modules:
                importlib.import_module(name)
    except Exception:  # a worker that needs it says so
        pass
    finally:
        torch.cuda.is_available = is_available
        gc.freeze()
        gc.enable()
