_GROUPS = [@{groups}@]  # groups of tensors that are stored as fp16, as numbers of their words; the tensors of a group have one scale
_powers = [0] * @{scales}@  # powers of two of the current call
