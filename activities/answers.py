"""Answers of activities: results as JSON, and what of them Temporal can carry."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from temporalio import activity

from durable_memory.activities import wire
from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.types import FlushResult
from durable_memory.memory.types.answers import to_json

JsonObject: TypeAlias = dict[str, Any]
"""What an activity takes and answers."""

_IN_AN_ACTIVITY: Final = "in an activity of your own by reference"
READ_LESS: Final = f"read less with max_tokens or limit, or read it {_IN_AN_ACTIVITY}"
READ_AFTERWARDS: Final = f"what was appended stays; {READ_LESS}"
TAKE_UP_THE_TURN: Final = f"the turn is recorded; ask for it with recorded_turn {_IN_AN_ACTIVITY}"
ASK_FOR_THE_TURN: Final = f"ask for it {_IN_AN_ACTIVITY}"
GROUP_LESS: Final = f"group by something else, or ask {_IN_AN_ACTIVITY}"


def answer_of(result: object) -> JsonObject:
    """Returns a result as JSON."""
    data: JsonObject = to_json(result)
    return data


def carried(whose: str, result: object, advice: str = READ_LESS, *, limit: int = wire.MAX_ANSWER_BYTES) -> JsonObject:
    """Returns a result as JSON.

    whose: the resource or agent, for the error. advice: what its caller can do then. limit: in bytes. Raises
    MemoryOversize for a result that is too large for Temporal, which would refuse it on each attempt.
    """
    answer = answer_of(result)
    size = _encoded_size(answer)
    if size > limit:
        raise MemoryOversize(f"{whose}: the answer is {size:,} bytes encoded, the limit is {limit:,}: {advice}")
    return answer


def carried_turn(whose: str, turn: object, advice: str) -> JsonObject:
    """Returns the answer with a recorded turn, as `carried`."""
    return carried(whose, turn, advice, limit=wire.MAX_TURN_BYTES)


def carried_flush(result: FlushResult) -> JsonObject:
    """Returns the result of a flush as JSON; without the removed ids if they are too many for Temporal to carry."""
    answer = answer_of(result)
    if _encoded_size(answer) > wire.MAX_ANSWER_BYTES:
        answer["removed_ids"] = []
    return answer


def _encoded_size(answer: JsonObject) -> int:
    """Returns how large an answer is as the activity's result; 0 where nothing has to carry it."""
    if not activity.in_activity():
        return 0
    return sum(len(payload.data) for payload in activity.payload_converter().to_payloads([answer]))
