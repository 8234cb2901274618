def hone_prepare(model, inputs):
    powers, packed = _calibrate(model, inputs), []

    def run(*given):
        _powers[:] = powers
        if packed:  # its own: other powers, or another instance, may have been used in between
            _entries[model] = packed[0]
        else:
            _entries.pop(model, None)
        out = _run_guarded(model, given)
        packed[:] = [_entries[model]]
        return out

    return run
