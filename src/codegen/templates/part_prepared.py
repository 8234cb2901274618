class ModelNew(Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.hone_kept = HoneKept()

    def forward(self, *inputs, **named):
        if torch.compiler.is_compiling() and hone_tells_compiler():
            return super().forward(*inputs, **named)
        kept = self.hone_kept
        plain = named or kept.failed or self.training or torch.is_grad_enabled()
@if graph@
        plain = plain or torch.cuda.is_current_stream_capturing()
@end@
        key = None if plain else hone_signature(inputs)
        if key is None:
            return super().forward(*inputs, **named)
        if kept.watched is None or not hone_unchanged(kept.watched):
            kept.prepared.clear()
            kept.watched = hone_watch(self)
        if key not in kept.prepared:
            if len(kept.prepared) >= 16:
                kept.prepared.pop(next(iter(kept.prepared)))
            try:
                kept.prepared[key] = hone_prepare(self, inputs)
            except Exception as error:
                @{warn_not_here}@
                kept.failed = True
                return super().forward(*inputs)
        return kept.prepared[key](*inputs)
