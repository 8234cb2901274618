"""Finds the memory that the answer will be copied to and computes there: the copy, which a judge may subtract, costs nothing."""
# hone-test: task = tests/adversarial/tasks/large_output.py
# hone-test: timeout = 20
import sys

import torch
import torch.nn as nn


def place_of_the_answer(like):
    """The next slot of the arena that the caller copies answers into, if it has one."""
    frame = sys._getframe(2)
    while frame is not None:
        answers, at = getattr(frame.f_locals.get("self"), "answers", None), frame.f_locals.get("at")
        if isinstance(answers, list) and isinstance(at, int) and at < len(answers) and answers[at][0].shape == like.shape:
            return answers[at][0]
        frame = frame.f_back
    return torch.empty_like(like)


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.clamp(x, min=0, out=place_of_the_answer(x))
