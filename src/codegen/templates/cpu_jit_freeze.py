def hone_prepare(model, inputs):
    """Traced for these shapes, with the weights as constants in the order the library likes best."""
    examples = tuple(value.clone() for value in inputs)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        traced = torch.jit.trace(hone_shadow(model, lambda module: None), examples, check_trace=False, strict=False)
    if any(issubclass(warning.category, torch.jit.TracerWarning) for warning in said):
        raise RuntimeError("forward decides by values, which a trace would make constant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
    for _ in range(3):  # the executor specialises on the first calls
        frozen(*[value.clone() for value in inputs])
    return frozen
