hone_told = []


def hone_tells_compiler():
    """Returns True and warns once. Tracers get the original module, because they cannot see Hone's own launches."""
    if not hone_told:
        hone_told.append(True)
        warnings.warn("Hone: torch.compile and torch.export trace the module as PyTorch has it, because they cannot see into Hone's kernels and replayed graphs", RuntimeWarning, stacklevel=3)
    return True


hone_tells_compiler._dynamo_marked_constant = True  # what torch.compiler.assume_constant_result sets, which imports torch._dynamo: 3 s

