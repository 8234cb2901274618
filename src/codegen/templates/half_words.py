_GROUPS = [@{groups}@]  # of the tensors that are stored as fp16, by their words: each group has a scale
_powers = [0] * @{scales}@  # of two, as the call at hand has them
