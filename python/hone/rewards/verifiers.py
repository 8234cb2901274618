"""For verifiers: a reward function, and a Rubric made of it.

    import verifiers as vf
    from hone.rewards.verifiers import make_rubric
    environment = vf.SingleTurnEnv(dataset=dataset, rubric=make_rubric())

The task's name on the judge's server is `answer`, or `task` or `task_source` in `info`.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any, Callable, Mapping, Optional

from ._ask import judge, task_of


def _text_of(completion: Any) -> str:
    """The model's last text: completions are a string, or messages whose content is a string or a list of parts."""
    if isinstance(completion, str):
        return completion
    for message in reversed(list(completion or [])):
        role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
        if role not in (None, "assistant"):
            continue
        content = message.get("content") if isinstance(message, Mapping) else getattr(message, "content", None)
        if isinstance(content, str):
            return content
        if content:
            return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


async def kernel_reward(completion: Any, answer: Any = "", info: Optional[Mapping[str, Any]] = None, state: Any = None, **kwargs: Any) -> float:
    """The reward of one rollout. The stages are left in state["hone"], so that other functions of the rubric can read them."""
    settings = {name: kwargs[name] for name in ("url", "token", "timeout", "options", "shaping", "on_failure") if name in kwargs}
    ask = functools.partial(judge, task_of(answer, info), _text_of(completion), **settings)
    score, figures = await asyncio.get_running_loop().run_in_executor(None, ask)
    if isinstance(state, dict):
        state["hone"] = figures
    return score


def make_reward(**settings: Any) -> "Callable[..., Any]":
    """kernel_reward with other settings: url, token, timeout, options, shaping, on_failure."""

    async def kernel_reward_with_settings(completion: Any, answer: Any = "", info: Optional[Mapping[str, Any]] = None,
                                          state: Any = None) -> float:
        return await kernel_reward(completion, answer, info, state, **settings)

    kernel_reward_with_settings.__name__ = "kernel_reward"
    return kernel_reward_with_settings


def make_rubric(**settings: Any) -> Any:
    """A verifiers.Rubric with this one reward function."""
    import verifiers

    return verifiers.Rubric(funcs=[make_reward(**settings)], weights=[1.0])
