"""Process-wide settings that affect PyTorch's speed: the allocator's thresholds, the number of threads, the treatment of denormal numbers. They
are set again before every timed block on both sides, so that a file gains nothing by changing them.
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
    """Fixes glibc's allocation thresholds, for reference and candidate alike. By default glibc adapts them to what a process has freed; then the
    page faults of two processes with the same computation differ by a fifth."""
    _mallopt(_M_MMAP_THRESHOLD, 32 << 20)
    _mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def settle_for_timing(threads):
    """Like settle_allocator, and large tensors also keep their pages: PyTorch is timed with the allocator's best settings. `threads`: 0 leaves
    the number of threads unchanged."""
    settle_allocator()
    _mallopt(_M_MMAP_MAX, 0)
    if threads and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
