"""A turn, and what memories show of it."""

from __future__ import annotations

from durable_memory import MemoryClient, Message
from durable_memory.memory.agents.agent import DeclaredAgent
from durable_memory.memory.agents.turns import record_in_all

TURN = [Message.user("To Lyon, please."), Message.assistant("Booked.")]
ONE_TOO_LARGE = [Message.user("To Lyon, please."), Message.assistant("Booked. " * 90)]
OTHER_WORDS = [Message.user("To Lyon, please."), Message.assistant("It is done.")]


async def said(client: MemoryClient, resource: str, key: str) -> list[str]:
    """What a memory shows."""
    agent = "read-only" if resource == "vault" else None
    return [message.text for message in (await client.memory(resource, key, agent=agent).read()).messages]


async def record_in_one(agent: DeclaredAgent, position: int, messages: Message | list[Message]) -> None:
    """Records the turn `turn-1` of an agent as an attempt that reached one of its memories alone."""
    await record_in_all([agent.memories[position].writer], messages, "turn-1", agent.ref.id)
