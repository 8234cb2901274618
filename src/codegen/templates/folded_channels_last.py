def hone_prepare(model, inputs):
    return hone_folded(model, inputs)
