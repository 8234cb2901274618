# Plans a convolution as products on a grid (part_conv.cu): the place of the input on the grid, the taps, and the content of every stage of the ring.
import itertools

_CONV = @@h200.json:convolution@@
_HALF_CHUNK = 8  # values of a plane at one pixel: 16 bytes


class _ConvAxis:
    """One axis. Grid pixel g and phase r of the input are position step * g + r + low; an output of a phase of taps is start + out_step * g."""

    def __init__(self, size, out, kernel, stride, padding, dilation, transposed, spread=False):
        self.size, self.out, self.spread = size, out, stride if spread else 1
        if transposed:
            self.step, self.out_step = 1, stride
            first, reach = padding // stride, (kernel - 1) * dilation // stride
            self.low, self.many = first - reach, (padding + out - 1) // stride - first + 1
            # The taps of every remainder, as (tap, shift on the grid, phase of the input), and the start of its outputs. Spread: all remainders together.
            taps = [[(k, reach - k * dilation // stride, 0) for k in range(kernel) if k * dilation % stride == r] for r in range(stride)]
            starts = [stride * first + r - padding for r in range(stride)]
            self.phases = [(taps, starts[0])] if spread else [([t], start) for t, start in zip(taps, starts)]
        else:
            self.step, self.out_step, self.low, self.many = stride, 1, -padding, out
            reach = (kernel - 1) * dilation // stride
            self.phases = [([[(k, k * dilation // stride, k * dilation % stride) for k in range(kernel)]], 0)]
        self.reach = reach
        # The zeros at the end of a row are also those at the beginning of the next.
        before = max(0, -self.low // self.step)
        behind = max(0, self.many + reach - -(-(size - self.low) // self.step))
        self.pitch = self.many + reach - min(before, behind, reach)


class _ConvGeometry:
    """The part of the plan that does not depend on tiles. Sizes of x and out: batch, channels, axes. kernel: sizes of the axes only."""

    def __init__(self, x, out, kernel, stride, padding, dilation, groups, transposed, terms=1):
        full = lambda values, filler: (filler,) * (3 - len(values)) + tuple(values)
        self.batch, self.groups, self.transposed, self.terms = x[0], groups, transposed, terms
        self.channels, self.units = x[1] // groups, out[1] // groups  # of a group
        self.kernel = full(kernel, 1)
        settings = zip(full(x[2:], 1), full(out[2:], 1), self.kernel, full(stride, 1), full(padding, 0), full(dilation, 1))
        settings = list(settings)
        # The outputs of all remainders along x are rows of one product, so they can be stored next to each other.
        self.spread = settings[2][3] if transposed and settings[2][3] in (2, 4) else 1
        self.axes = [_ConvAxis(*values, transposed, self.spread > 1 and i == 2) for i, values in enumerate(settings)]
        self.rows = self.units * self.spread  # of the product
        # A vector of pixels is stored at once if a row of the output and a row of the grid consist of whole vectors.
        across = self.axes[2]
        self.vector = 1 if across.out_step > 1 else 4 if across.out % 4 == 0 else 2 if across.out % 2 == 0 else 1
        across.pitch = -(-across.pitch // self.vector) * self.vector
        pitch = [axis.pitch for axis in self.axes]
        self.pixels = self.batch * math.prod(pitch)
        self.flat = lambda shifts: (shifts[0] * pitch[1] + shifts[1]) * pitch[2] + shifts[2]
        self.reach = self.flat([axis.reach for axis in self.axes])
        self._plan_planes()

    def _plan_planes(self):
        z, y, x = self.axes
        taps_of = lambda axis: [tap for lists, _ in axis.phases for taps in lists for tap in taps]
        used = [sorted({phase for _, _, phase in taps_of(axis)}) for axis in self.axes]
        shifts = sorted({shift for _, shift, _ in taps_of(x)})
        few, most_fold = self.channels < _HALF_CHUNK, 1
        self.regular = not few  # a plane is eight channels of one phase
        if few and len(used[2]) == 1:
            most_fold = x.reach + 1
        lines = len(used[0]) * len(used[1]) * len(used[2])

        def cost(fold):  # of tensor cores, and of memory
            planes = -(-lines * fold * self.channels // _HALF_CHUNK)
            bases = len({shift // fold for shift in shifts})
            return planes * bases * math.prod(k for k in self.kernel[:2]) * -(-self.rows // 64) * _CONV["chunk_cost"] + planes * _CONV["plane_cost"]

        self.fold = min(range(1, most_fold + 1), key=cost) if few else 1
        combinations = list(itertools.product(*used, range(self.fold)))
        self.sources, self.plane_of = [], {}  # [plane] -> eight (channel, moves) or None; (phases, dx, channel) -> plane, slot
        if few:
            flat = [(*c, channel) for c in combinations for channel in range(self.channels)]
            rows = [flat[i : i + _HALF_CHUNK] for i in range(0, len(flat), _HALF_CHUNK)]
        else:
            rows = [[(*c, i) for i in range(first, min(first + _HALF_CHUNK, self.channels))] for c in combinations for first in range(0, self.channels, _HALF_CHUNK)]
        for number, row in enumerate(rows):
            for slot, key in enumerate(row):
                self.plane_of[key] = number, slot
            moved = [(c, (rz, ry, rx + x.step * dx)) for rz, ry, rx, dx, c in row]
            self.sources.append(moved + [None] * (_HALF_CHUNK - len(moved)))
        self.base_planes = len(rows)  # planes of the first term; those of the second follow
        self.planes = self.terms * len(rows)
        # For every phase of the taps: (plane, offset, kind) -> eight (tap of each row of a channel, channel) or None. kind: the term of the weights that is multiplied with the plane.
        self.phases = []
        for picked in itertools.product(*(axis.phases for axis in self.axes)):
            entries = {}
            for row, taps in ((row, taps) for row, last in enumerate(picked[2][0]) for taps in itertools.product(picked[0][0][0], picked[1][0][0], last)):
                tap = (taps[0][0] * self.kernel[1] + taps[1][0]) * self.kernel[2] + taps[2][0]
                dx = taps[2][1] % self.fold
                offset = self.flat((taps[0][1], taps[1][1], taps[2][1] - dx))
                for channel in range(self.channels):
                    plane, slot = self.plane_of[(taps[0][2], taps[1][2], taps[2][2], dx, channel)]
                    slots = entries.setdefault((plane, offset), [None] * _HALF_CHUNK)
                    slots[slot] = slots[slot] or ([None] * self.spread, channel)
                    slots[slot][0][row] = tap
            entries = entries or {(0, 0): [None] * _HALF_CHUNK}  # no tap reaches these outputs, so they are the bias
            with_terms = {}
            for (plane, offset), slots in entries.items():
                with_terms[plane, offset, 0] = slots
                if self.terms == 2:
                    with_terms[plane, offset, 1] = slots
                    with_terms[plane + self.base_planes, offset, 0] = slots
            self.phases.append((with_terms, [start for _, start in picked]))


    def follows(self, plane, further):
        """Whether the plane `further` places behind holds the next channels of the same phase."""
        if plane + further >= self.base_planes:
            return False
        (channel, moves), (next_channel, next_moves) = self.sources[plane][0], self.sources[plane + further][0]
        return moves == next_moves and next_channel == channel + _HALF_CHUNK * further


class _ConvTables:
    """Stages of at most `budget` bytes for tiles of `rows` channels and `pixels` pixels, as conv_product reads them."""

    def __init__(self, geometry, rows, pixels, budget):
        most_entries = 2 * _CONV["precise_steps"] if geometry.terms == 2 else 1 << 30
        self.phases, self.stages, self.windows, self.steps, self.slots = [], [], [], [], []
        known, weights = {}, 0
        for entries, start in geometry.phases:
            # Takes two planes at a time with all their taps, so that windows that overlap are fetched once.
            base = geometry.base_planes
            ordered = sorted(entries, key=lambda e: (e[0] % base // 2, e[1], e[0] // base, e[2], e[0]))
            first, steps = len(self.stages), 0
            pairs = []  # entries that must stay together
            for entry in ordered:
                if pairs and len(pairs[-1]) == 1 and pairs[-1][0][1:] == entry[1:] and pairs[-1][0][0] + 1 == entry[0] != base:
                    pairs[-1].append(entry)
                else:
                    pairs.append([entry])
            held = []
            groups = []
            for pair in pairs:
                if held and (self._bytes(held + pair, rows, pixels) > budget or len(held) + len(pair) > most_entries):
                    groups.append(held)
                    held = []
                held = held + pair
            groups.append(held)
            for held in groups:
                if geometry.terms == 2 and len(held) % 2 == 0:  # products of second terms come first, because their sums lose little to truncation
                    two = [held[i : i + 2] for i in range(0, len(held), 2)]
                    held = [e for pair in sorted(two, key=lambda p: all(e[0] < base and e[2] == 0 for e in p)) for e in pair]
                windows, at = self._windows(held, pixels)
                count = -(-len(held) // 2)
                slots = [(entries[e], e[2]) for e in held]
                places = [at[e[:2]] for e in held]
                if len(held) % 2:
                    slots.append(([None] * _HALF_CHUNK, 0))
                    places.append(places[0])
                form = []
                for i in range(0, len(held), 2):
                    if places[i] > places[i + 1]:
                        places[i], places[i + 1], slots[i], slots[i + 1] = places[i + 1], places[i], slots[i + 1], slots[i]
                    form.append(places[i] >> 4 | places[i + 1] - places[i] >> 4 << 16 | 128 >> 4 << 32)
                form = tuple(form)
                if form not in known:
                    known[form] = len(self.steps)
                    self.steps.extend(form)
                window_bytes = sum(w[2] for w in windows) * 16
                self.stages.append((len(self.windows), len(windows), known[form], count, window_bytes, steps))
                self.windows.extend(self._described(windows, geometry))
                self.slots.extend(slots)
                steps += count
            self.phases.append((first, len(self.stages) - first, steps, weights, *start))
            weights += steps * geometry.groups * -(-geometry.rows // rows)
        self.stage_bytes = -(-max(s[4] + s[3] * rows * 32 for s in self.stages) // 128) * 128
        self.weight_steps = weights
        # How often each value of the planes is read, over all channels and phases.
        self.rereads = sum(s[4] for s in self.stages) * -(-geometry.rows // rows) / (16 * pixels * geometry.planes)

    def _windows(self, entries, pixels):
        """The windows that the entries read, as (plane, offset, pixels, at), and the byte at which each begins."""
        made, at, place = [], {}, 0
        for plane in sorted({e[0] for e in entries}):
            runs = []
            for offset in sorted({e[1] for e in entries if e[0] == plane}):
                if runs and offset <= runs[-1][1]:
                    runs[-1][1] = offset + pixels
                else:
                    runs.append([offset, offset + pixels])
                at[plane, offset] = place + sum(end - begin for begin, end in runs[:-1]) * 16 + (offset - runs[-1][0]) * 16
            for begin, end in runs:
                made.append((plane, begin, end - begin, place))
                place += (end - begin) * 16
        return sorted(made, key=lambda w: (w[1], w[0])), at

    def _described(self, windows, geometry):
        """Adds what DIRECT needs to each window: how many windows from this one on differ only in their plane, and the content of these planes."""
        made = []
        for i, (plane, offset, pixels, at) in enumerate(windows):
            alike = 1
            while alike < 4 and i + alike < len(windows) and windows[i + alike][:3] == (plane + alike, offset, pixels) and geometry.follows(plane, alike):
                alike += 1
            (channel, moves), many = geometry.sources[plane % geometry.base_planes][0], sum(source is not None for source in geometry.sources[plane % geometry.base_planes])
            made.append((plane, offset, pixels, at, alike, channel, many, moves[0] & 0xFF | (moves[1] & 0xFF) << 8 | (moves[2] & 0xFF) << 16))
        return made

    def _bytes(self, entries, rows, pixels):
        windows, _ = self._windows(entries, pixels)
        return sum(w[2] for w in windows) * 16 + -(-len(entries) // 2) * rows * 32
