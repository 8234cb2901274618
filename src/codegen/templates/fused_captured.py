def hone_folded(model, inputs):
    """The call that the CUDA graph captures: the fused kernels and ATen's operators between them."""
    return lambda *given: _run_graph(model, given)
