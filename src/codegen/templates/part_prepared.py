class ModelNew(Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.hone_kept = HoneKept()

    def forward(self, *inputs, **named):
        if torch.compiler.is_compiling() and hone_tells_compiler():
            return super().forward(*inputs, **named)
        kept = self.hone_kept
        if named or kept.failed or self.training:
            return super().forward(*inputs, **named)
        why, key = hone_why_plain(inputs), None
@if graph@
        if why is None and torch.cuda.is_current_stream_capturing():
            why = "a CUDA graph is being captured"
@end@
        if why is None:
            key = hone_signature(inputs)
        if key is None:
            hone_warn_once(why or "an argument is neither a plain tensor nor a plain value")
            return super().forward(*inputs)
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
