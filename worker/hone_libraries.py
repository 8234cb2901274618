"""Libraries whose import takes seconds but uses no device: torch's compiler and Triton.

If the first worker of a side has imported one, the zygote imports it too, so that later workers only cost a
fork.
"""

import gc
import importlib
import sys

import torch

LIBRARIES = ("torch._dynamo", "torch._inductor.compile_fx", "triton")


def imported():
    return [name for name in LIBRARIES if name in sys.modules]


def import_libraries(names, device):
    """Imports the named LIBRARIES that are not imported yet, as the zygote imported torch."""
    is_available, torch.cuda.is_available = torch.cuda.is_available, lambda: device == "cuda"  # asking would initialise the device
    gc.disable()
    try:
        for name in LIBRARIES:
            if name in names and name not in sys.modules:
                importlib.import_module(name)
    except Exception:  # a worker that needs it reports the error
        pass
    finally:
        torch.cuda.is_available = is_available
        gc.freeze()
        gc.enable()
