class ModelNew(Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.hone_kept = HoneKept()

    def forward(self, *inputs, **named):
        if torch.compiler.is_compiling() and hone_tells_compiler():
            return super().forward(*inputs, **named)
        kept = self.hone_kept
        plain = named or kept.failed or self.training or torch.is_grad_enabled() or _autocast("cuda") or not _convolutions_tf32()
        plain = plain or not all(value.is_cuda for value in inputs if isinstance(value, torch.Tensor)) or torch.cuda.is_current_stream_capturing()
        key = None if plain else hone_signature(inputs)
        if key is None:
            return super().forward(*inputs, **named)
        if kept.watched is None or not hone_unchanged(kept.watched):
            kept.prepared.clear()
            kept.watched = hone_watch(self)
        with _guard_lock:
            try:
                if key not in kept.prepared:
                    if len(kept.prepared) >= 16:
                        kept.prepared.pop(next(iter(kept.prepared)))
                    kept.prepared[key] = _Scales()
                return kept.prepared[key](self, inputs)
            except _REFUSALS as error:
                _warn_once(error)
            except Exception as error:
                @{warn_not_here}@
                kept.failed = True
        return super().forward(*inputs)
