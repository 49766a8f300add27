"""An input of workflows and activities that holds references."""

from __future__ import annotations

from dataclasses import dataclass

from durable_memory import AgentRef


@dataclass(frozen=True)
class Question:
    """What is asked, and who is to remember it."""

    agents: list[AgentRef]
    text: str
