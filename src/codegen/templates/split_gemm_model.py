@{runtime}@


class ModelNew(Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        adopt(self, [
@for layer in layers@
            "@{layer.path}@",
@end@
        ])
