warnings.warn("Hone: @{recipe}@ does not work here, so the module runs as it is: %s" % error)
