hone_told = []


def hone_tells_compiler():
    """True, and one warning: a tracer sees the operators of the module, not launches of Hone's own, so it gets the module."""
    if not hone_told:
        hone_told.append(True)
        warnings.warn("Hone: torch.compile and torch.export trace the module as PyTorch has it, because they cannot see into Hone's kernels and replayed graphs", RuntimeWarning, stacklevel=3)
    return True


hone_tells_compiler._dynamo_marked_constant = True  # what torch.compiler.assume_constant_result sets, which imports torch._dynamo: 3 s

