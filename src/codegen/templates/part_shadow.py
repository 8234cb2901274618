def hone_shadow(module, replace, seen=None):
    """The same tree of modules over the same tensors, with some modules replaced. ModelNew becomes Model."""
    seen = {} if seen is None else seen
    if id(module) not in seen:
        made = replace(module)
        if made is None:
            kind = Model if type(module) is ModelNew else type(module)
            made = kind.__new__(kind)
            made.__dict__ = {name: value for name, value in vars(module).items() if not isinstance(value, HoneKept)}
            seen[id(module)] = made
            made.__dict__["_modules"] = type(module._modules)(
                (name, None if child is None else hone_shadow(child, replace, seen)) for name, child in module._modules.items()
            )
        seen[id(module)] = made
    return seen[id(module)]
