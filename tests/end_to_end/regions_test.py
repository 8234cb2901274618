#!/usr/bin/env python3
"""Tests worker/hone_regions.py: tensors that wait for memory of the parent, and inputs in such memory. Host memory replaces the
device's."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from torch_python import need_torch  # noqa: E402

need_torch()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker"))
import torch  # noqa: E402

import hone_regions  # noqa: E402


def region_of(size):
    descriptor = os.memfd_create("region")
    os.ftruncate(descriptor, size)
    return hone_regions.HostRegion(descriptor, size)


def place(tree):
    """The tree's layout and a region that holds its values."""
    held = hone_regions.Held()
    description = held.add(tree)
    region = region_of(max(held.size, 1))
    held.move_into(region)
    return description, region


def check_round_trip():
    tree = [torch.arange(6.0).view(2, 3), {"b": torch.tensor([1, 2]), "a": 4}, (torch.zeros(0), 2.5, None)]
    description, region = place(tree)
    back = hone_regions.rebuild(description, region, 0, torch.device("cpu"))
    assert torch.equal(back[0], tree[0]) and torch.equal(back[1]["b"], tree[1]["b"]), back
    assert back[1]["a"] == 4 and back[2][1:] == (2.5, None) and back[2][0].numel() == 0, back


def check_several_trees_follow_each_other():
    held = hone_regions.Held()
    first, second = held.add([torch.ones(3)]), held.add([torch.full((3,), 2.0)])
    region = region_of(held.size)
    held.move_into(region)
    assert first["items"][0]["offset"] == second["items"][0]["offset"] == 0
    assert region.tensor(second["items"][0], 64).tolist() == [2.0, 2.0, 2.0]
    assert held.size == 0 and not held.tensors


def check_copies_are_of_the_moment():
    value, held = torch.ones(2), hone_regions.Held()
    description = held.add(value, copy=True)
    value.fill_(7)
    region = region_of(held.size)
    held.move_into(region)
    assert region.tensor(description, 0).tolist() == [1.0, 1.0]


def check_layouts():
    """Non-contiguous, conjugated and sparse tensors arrive as their values in order."""
    sparse = torch.eye(3).to_sparse()
    conjugate = torch.tensor([1 + 2j, 3 - 1j]).conj()
    description, region = place([torch.arange(6.0).view(2, 3).t(), sparse, conjugate])
    items = description["items"]
    assert region.tensor(items[0], 0).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert torch.equal(region.tensor(items[1], 0), torch.eye(3))
    assert region.tensor(items[2], 0).tolist() == [1 - 2j, 3 + 1j]


def check_placed_inputs_follow_the_region():
    strided = torch.arange(6.0).view(2, 3).t()
    description, region = place([torch.zeros(4), strided, 3])
    placed = hone_regions.Placed(region, description, torch.device("cpu"))
    plain, other, number = placed.tree
    assert other.stride() == strided.stride() and torch.equal(other, strided) and number == 3
    # The parent writes other values; the tensors keep their addresses.
    region.tensor(description["items"][0], 0).fill_(5)
    region.tensor(description["items"][1], 0).fill_(6)
    addresses = plain.data_ptr(), other.data_ptr()
    description["items"][2]["value"] = 9
    tree = placed.update(description)
    assert (tree[0].data_ptr(), tree[1].data_ptr()) == addresses
    assert tree[0].tolist() == [5.0] * 4 and bool((tree[1] == 6).all()) and tree[2] == 9
    # The effect of a call on a copy is visible in the region.
    other[0, 0] = -1
    placed.write_back()
    assert float(region.tensor(description["items"][1], 0)[0, 0]) == -1


for name, check in sorted(globals().items()):
    if name.startswith("check_"):
        check()
        print("ok", name)
