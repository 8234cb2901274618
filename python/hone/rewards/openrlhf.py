"""For OpenRLHF: --remote_rm_url .../hone/rewards/openrlhf.py --label_key task

The label of a sample is the task's name on the judge's server, or its source. The server and token are $HONE_JUDGE_URL and
$HONE_JUDGE_TOKEN. All queries of a batch are judged side by side.
"""

from __future__ import annotations

import concurrent.futures
from typing import Any, Sequence

# OpenRLHF loads this file by its path, so it names its package in full.
from hone.rewards._ask import FIGURES, judge, task_of

AT_ONCE = 64


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **kwargs: Any) -> "dict[str, Any]":
    """`rewards` for the advantages, `scores` from 0 to 1 for dynamic filtering, and the stages as `extra_logs`; all are tensors."""
    import torch

    settings = {name: kwargs[name] for name in ("url", "token", "timeout", "options", "shaping", "on_failure") if name in kwargs}

    def one(query: str, prompt: str, label: Any) -> "tuple[float, dict[str, float]]":
        # A query is the prompt and the reply; the prompt may hold code as well.
        reply = query[len(prompt):] if prompt and query.startswith(prompt) else query
        return judge(task_of(label), reply, **settings)

    with concurrent.futures.ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        judged = list(pool.map(one, queries, prompts, labels))
    rewards = torch.tensor([score for score, _ in judged], dtype=torch.float32)
    logs = {name: torch.tensor([figures[name] for _, figures in judged], dtype=torch.float32) for name in FIGURES}
    return {"rewards": rewards, "scores": logs["correct"], "extra_logs": logs}
