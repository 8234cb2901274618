def hone_folded(model, inputs):
    """What the CUDA graph is captured of: the fused kernels and ATen's operators between them."""
    return lambda *given: _run_graph(model, given)
