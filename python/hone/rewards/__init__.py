"""Rewards from Hone's judge, for reinforcement learning of models that write kernels (docs/SERVICE.md).

    from hone.rewards import Client, reward
    client = Client("http://127.0.0.1:8377", token)                 # `hone serve --judge`
    job = client.evaluate(task="39_GRU", reply=text_of_the_model)   # waits for the verdict
    reward(job)                                                     # one number; what a stage is worth is a Shaping

`hone.rewards.verl`, `hone.rewards.openrlhf` and `hone.rewards.verifiers` have the functions that these trainers call.
Nothing here needs torch but openrlhf, whose trainer expects tensors.
"""

from __future__ import annotations

from ._client import Client, JudgeUnavailable
from ._shaping import Shaping, reward

__all__ = ["Client", "JudgeUnavailable", "Shaping", "reward"]
