"""Convolutions with odd sizes and settings, for tests without and with a GPU."""

import torch

# name, x, w, settings of the functional
CASES = [
    ("3x3", (2, 16, 9, 11), (8, 16, 3, 3), dict(padding=1)), ("no padding", (2, 8, 9, 11), (70, 8, 3, 3), {}), ("one", (1, 1, 1, 1), (1, 1, 1, 1), {}),
    ("1x1", (2, 40, 7, 5), (33, 40, 1, 1), {}), ("1x1, stride", (2, 40, 7, 5), (33, 40, 1, 1), dict(stride=2)), ("stride", (2, 16, 13, 17), (130, 16, 3, 3), dict(stride=2, padding=1)),
    ("few channels", (2, 3, 13, 17), (20, 3, 3, 3), dict(padding=1)), ("few, wide", (1, 3, 13, 37), (20, 3, 5, 7), {}), ("few, stride", (2, 3, 35, 35), (10, 3, 11, 11), dict(stride=4, padding=2)),
    ("one channel", (2, 1, 13, 17), (5, 1, 5, 5), dict(padding=2)), ("33 channels", (1, 33, 7, 7), (7, 33, 3, 3), dict(padding=1)), ("dilation", (1, 9, 17, 17), (7, 9, 3, 3), dict(padding=2, dilation=2)),
    ("dilation, stride", (1, 9, 17, 17), (7, 9, 3, 3), dict(padding=(2, 1), dilation=(2, 3), stride=(3, 2))), ("groups", (2, 12, 9, 9), (9, 4, 3, 3), dict(groups=3, padding=1)), ("groups of 8", (2, 32, 9, 9), (16, 8, 3, 3), dict(groups=4)),
    ("much padding", (1, 8, 3, 3), (4, 8, 3, 3), dict(padding=4)), ("stride beyond kernel", (2, 8, 11, 11), (4, 8, 2, 2), dict(stride=3)), ("few, stride beyond kernel", (2, 2, 11, 11), (4, 2, 2, 2), dict(stride=3)),
    ("1d", (3, 5, 41), (6, 5, 4), dict(padding=2)), ("1d long", (2, 16, 1200), (16, 16, 3), {}), ("3d", (2, 3, 7, 8, 9), (6, 3, 3, 3, 3), {}), ("3d, settings", (1, 10, 7, 8, 9), (6, 10, 3, 2, 1), dict(stride=(1, 2, 3), padding=(2, 1, 0))),
    ("many taps", (1, 16, 23, 23), (4, 16, 9, 9), dict(padding=4)), ("127 channels", (1, 127, 5, 5), (129, 127, 3, 3), dict(padding=1)),
]  # fmt: skip
TRANSPOSED = [
    ("2d", (2, 16, 9, 11), (16, 8, 3, 3), {}), ("padding", (2, 9, 9, 11), (9, 70, 3, 3), dict(padding=1)), ("stride", (2, 16, 9, 11), (16, 8, 3, 3), dict(stride=2, padding=1, output_padding=1)),
    ("stride, dilation", (1, 8, 9, 5), (8, 6, 3, 5), dict(stride=(2, 3), padding=(1, 2), dilation=(2, 1))), ("groups", (2, 12, 5, 7), (12, 5, 3, 3), dict(groups=3, stride=2)), ("stride beyond kernel", (1, 8, 5, 5), (8, 4, 2, 2), dict(stride=3, output_padding=1)),
    ("1d", (2, 5, 31), (5, 6, 3), dict(stride=2, padding=1, dilation=2)), ("3d", (1, 3, 4, 5, 6), (3, 7, 3, 3, 3), dict(stride=2, padding=1)), ("3d, groups", (1, 8, 3, 4, 5), (8, 2, 3, 5, 7), dict(stride=2, padding=(1, 2, 3), output_padding=1, groups=4)),
    ("few channels", (1, 3, 9, 9), (3, 5, 4, 4), {}), ("more padding than kernel", (1, 8, 9, 9), (8, 5, 3, 3), dict(padding=3)), ("one", (1, 1, 1), (1, 1, 1), {}), ("4x4 stride 2", (1, 16, 8, 8), (16, 16, 4, 4), dict(stride=2, padding=1)),
]  # fmt: skip


DEPTHWISE = [
    ("depthwise", (2, 5, 40, 130), (5, 1, 3, 3), dict(groups=5)), ("depthwise, padding", (2, 5, 33, 37), (5, 1, 3, 7), dict(groups=5, padding=(1, 3))),
    ("depthwise, stride", (1, 7, 41, 67), (7, 1, 5, 5), dict(groups=7, padding=2, stride=2)), ("depthwise, dilation", (1, 4, 19, 67), (4, 1, 3, 3), dict(groups=4, padding=2, dilation=2)),
    ("depthwise, twice", (2, 3, 9, 9), (6, 1, 3, 3), dict(groups=3, padding=1)), ("depthwise, large stride", (1, 2, 130, 260), (2, 1, 5, 5), dict(groups=2, padding=2, stride=2)), ("depthwise, small", (3, 4, 1, 1), (4, 1, 3, 3), dict(groups=4, padding=1)), ("depthwise, asymmetric", (2, 3, 31, 65), (3, 1, 3, 1), dict(groups=3, stride=(1, 2), padding=(1, 0))),
]  # fmt: skip


def functional(x, transposed):
    return getattr(torch.nn.functional, "conv%s%dd" % ("_transpose" if transposed else "", x.dim() - 2))
