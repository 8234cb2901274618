def hone_prepare(model, inputs):
    powers = _calibrate(model, inputs)

    def run(*given):
        if powers != _powers:  # another instance ran in between
            _powers[:] = powers
        return _run_guarded(model, given)

    return run
