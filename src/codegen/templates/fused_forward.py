class ModelNew(Model):
    def forward(self, *inputs, **named):
        if torch.compiler.is_compiling() and hone_tells_compiler():
            return super().forward(*inputs, **named)
        if not named and not self.training:
            try:
                return _run_graph(self, inputs)
            except _REFUSALS as error:
                _warn_once(error)
        return super().forward(*inputs, **named)
