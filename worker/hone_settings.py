"""Settings of the whole process that change how fast PyTorch computes: the allocator's thresholds, the number of threads, how denormal numbers are
treated. They are set again before every timed block, on both sides alike, so that a file gains nothing by changing them for all its calls.
"""

import ctypes

import torch

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4

try:
    _mallopt = ctypes.CDLL(None).mallopt
except (OSError, AttributeError):  # not glibc

    def _mallopt(name, value):
        return 0


def settle_allocator():
    """Fixes glibc's allocation thresholds, for reference and candidate alike. glibc adapts them to what a process has freed
    before; without this, two processes that compute the same differ by a fifth in page faults."""
    _mallopt(_M_MMAP_THRESHOLD, 32 << 20)
    _mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def settle_for_timing(threads):
    """As settle_allocator, and large tensors keep their pages too: PyTorch is timed with what the allocator can give it. `threads`: 0 leaves
    their number alone."""
    settle_allocator()
    _mallopt(_M_MMAP_MAX, 0)
    if threads and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
