def hone_prepare(model, inputs):
    powers, packed = _calibrate(model, inputs), []

    def run(*given):
        _powers[:] = powers
        if packed:  # another instance, or another set of powers, may have replaced the entry since
            _entries[model] = packed[0]
        else:
            _entries.pop(model, None)
        out = _run_guarded(model, given)
        packed[:] = [_entries[model]]
        return out

    return run
