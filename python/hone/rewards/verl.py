"""For verl: a custom reward function.

    custom_reward_function.path=.../hone/rewards/verl.py  custom_reward_function.name=compute_score
    +custom_reward_function.reward_kwargs.url=http://judge:8377      # or $HONE_JUDGE_URL; the token is $HONE_JUDGE_TOKEN

`ground_truth` is the task's name on the server (or its source); `extra_info` may hold `task` or `task_source` instead.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

# verl loads this file by its path, so it names its package in full.
from hone.rewards._ask import judge, task_of


def compute_score(data_source: str, solution_str: str, ground_truth: Any, extra_info: Optional[Mapping[str, Any]] = None,
                  **settings: Any) -> "dict[str, float]":
    """The reward as `score`, and the stages beside it: verl logs every other member. `settings` are those of hone.rewards._ask.judge."""
    score, figures = judge(task_of(ground_truth, extra_info), solution_str, **settings)
    return {"score": score, "acc": figures["correct"], **figures}
