"""The support case as typed values: sessions of turns, ready to be played by two workflow types.

A turn is what one call of the model does: somebody says `incoming`, the agent of the turn answers with `recorded`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from durable_memory import Message

CONVERSATION = Path(__file__).with_name("conversation.yaml")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of one agent.

    speaker: who says `incoming`: `customer`, or the agent that hands over. recorded: what the agent adds, tool calls
    with their results and the answer at the end. workflow: the workflow type that plays `agent`.
    """

    id: str
    agent: str
    workflow: str
    speaker: str
    incoming: Message
    recorded: tuple[Message, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that the turn appends, in order."""
        return (self.incoming, *self.recorded)


@dataclass(frozen=True, slots=True)
class Session:
    """One visit of the customer. `starts_at` carries the customer's offset from UTC."""

    title: str
    starts_at: datetime
    turns: tuple[Turn, ...]

    def stretches(self) -> Iterator[tuple[Turn, ...]]:
        """Yields the turns between two handovers: each stretch is one agent's, and so one workflow's."""
        for _, turns in groupby(self.turns, key=lambda turn: turn.agent):
            yield tuple(turns)


@dataclass(frozen=True, slots=True)
class Fact:
    """A question about the case, to check that what was said early is still known late.

    words: all of them stand in every right answer, and in `said_in` they are said for the first time. needed_in: the
    turn whose answer depends on the fact. Both are ids of turns.
    """

    question: str
    words: tuple[str, ...]
    said_in: str
    needed_in: str

    def known_in(self, text: str) -> bool:
        """Tells whether `text` holds every word of the answer."""
        return all(word in text for word in self.words)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The whole case. `customer_id` is the key of the memory that both workflow types share."""

    customer_id: str
    system: Message
    sessions: tuple[Session, ...]
    facts: tuple[Fact, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of all sessions, in order."""
        return tuple(turn for session in self.sessions for turn in session.turns)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages in order, the system prompt first."""
        return (self.system, *(message for turn in self.turns for message in turn.messages))

    def turn(self, turn_id: str) -> Turn:
        """Returns the turn of that id.

        Raises KeyError if there is none.
        """
        for turn in self.turns:
            if turn.id == turn_id:
                return turn
        raise KeyError(turn_id)


def load_conversation() -> Conversation:
    """Reads the case from its YAML file.

    Raises InvalidValue for a message that no memory would take, KeyError for a field or an agent that is missing.
    """
    data: Mapping[str, Any] = yaml.safe_load(CONVERSATION.read_text(encoding="utf-8"))
    customer, workflows = data["customer"], data["agents"]
    return Conversation(
        customer_id=customer["id"],
        system=Message.system(data["system"]),
        sessions=tuple(
            Session(
                title=session["title"],
                starts_at=session["starts_at"],
                turns=tuple(_turn(turn, customer["name"], workflows) for turn in session["turns"]),
            )
            for session in data["sessions"]
        ),
        facts=tuple(Fact(**{**fact, "words": tuple(fact["words"])}) for fact in data["facts"]),
    )


def _turn(data: Mapping[str, Any], customer: str, workflows: Mapping[str, str]) -> Turn:
    agent, speaker = data["agent"], data["from"]
    if speaker == "customer":
        incoming = Message.user(data["text"], name=customer)
    else:
        incoming = Message.user(data["text"], name=speaker, agent=speaker)
    return Turn(
        id=data["id"],
        agent=agent,
        workflow=workflows[agent],
        speaker=speaker,
        incoming=incoming,
        recorded=tuple(_recorded(message, agent, data["id"]) for message in data["record"]),
    )


def _recorded(data: Mapping[str, Any], agent: str, turn_id: str) -> Message:
    # What a tool returned was written by nobody; what the model said bears the name of its agent.
    author = {"agent": agent} if data["role"] == "assistant" else {}
    return Message.from_dict({**data, **author}, path=turn_id)
