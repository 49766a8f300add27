"""Appends drawn at random, and limits that they meet often."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import get_args

from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, system, user


def any_limits(dice: random.Random) -> Limits:
    """Budgets that are met often, by tokens or messages, with and without overflow and expiry."""
    made = dice.choice([summarising, dropping])(
        policy=dice.choice(get_args(PolicyName)),
        max_tokens=dice.choice([None, 60, 100]),
        max_messages=dice.choice([None, 5, 9]),
        ttl_ms=dice.choice([None, 3_600_000]),
        due_tokens=dice.choice([None, 50]),
        oldest_share=dice.choice([0, 0.6]),
    )
    return replace(
        made, overflow_tokens=made.max_tokens and made.overflow_tokens, overflow_messages=dice.choice([None, 30])
    )


def any_entries(dice: random.Random, number: int) -> list[Entry]:
    """Returns the entries of the append of this number: mostly plain messages; now and then one that is not."""
    entries = [
        user(f"{number}.{place}", dice.choice([1, 10, 10, 30]), band=dice.choice([1, 1, 1, 0, 2, 3]))
        for place in range(dice.choice([1, 1, 1, 2, 6]))
    ]
    if dice.random() < 0.1:
        entries.append(system(f"{number} system", 1))
    if dice.random() < 0.1:
        entries += [call(f"{number} call", f"id{number}"), result(f"{number} result", f"id{number}")]
    if dice.random() < 0.05:
        entries.append(user(f"{number} pinned", 1, pinned=True))
    return entries
