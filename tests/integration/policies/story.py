"""500 appends and 50 reads, always the same ones, and what each policy's definition says that is kept of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

CAPACITY: Final = 40
APPENDS: Final = 500
READS: Final = 50
PRIORITIES: Final = ("low", "normal", "high", "critical")

DECLARATION: Final = """
resource: memory
id: NAME
max_tokens: 1000000
max_messages: 40
flushing: {type: drop, keep_last: 0}
eviction_policy: {type: POLICY KEYWORDS}
persistence: {type: PERSISTENCE}
scope: user
"""


def declarations(policies: Sequence[str], persistence: str) -> str:
    """One memory resource for each policy, named after it, whose budget is 40 messages."""
    return "---".join(
        DECLARATION.replace("NAME", name_of(policy))
        .replace("POLICY", policy)
        .replace("KEYWORDS", ", priority_keywords: [refund]" if policy == "priority" else "")
        .replace("PERSISTENCE", persistence)
        for policy in policies
    )


def name_of(policy: str) -> str:
    """The id of the resource with this policy."""
    return policy.replace("_", "-")


@dataclass(frozen=True)
class Step:
    """An append of one message, or a read of earlier ones by their places in the order of appends."""

    text: str = ""
    priority: str = "normal"
    read: tuple[int, ...] = ()

    def message(self) -> dict[str, Any]:
        """The message of an append, as callers write it."""
        return {"role": "user", "content": self.text, "priority": self.priority}

    @property
    def band(self) -> int:
        """What the message counts as, with its keyword."""
        return max(PRIORITIES.index(self.priority), 2 if "refund" in self.text else 0)


def story(appends: int = APPENDS, reads: int = READS) -> list[Step]:
    """The steps: reads come in between, some of messages that have left long ago, most of some that are there."""
    dice = random.Random(4)
    steps: list[Step] = []
    after = set(dice.sample(range(20, appends), reads))
    for number in range(appends):
        words = "refund" if dice.random() < 0.03 else "hello"
        priority = dice.choices(PRIORITIES, weights=(40, 54, 5, 1))[0]
        steps.append(Step(f"{words} {number}", priority))
        if number in after:
            favourites = [number // 100 * 100, min(number // 100 * 100 + 7, number)]
            some = dice.sample(range(max(0, number - 60), number), 3)
            steps.append(Step(read=tuple(dict.fromkeys([*favourites, *some]))))
    return steps


@dataclass
class _Kept:
    number: int
    band: int
    used: int
    uses: int = 1


def kept_by(policy: str, steps: Sequence[Step]) -> list[str]:
    """Returns the texts that stay, by the words of the definition: the obvious way, over a plain list."""
    order = {
        "fifo": lambda one: one.number,
        "lru": lambda one: one.used,
        "token_aware_lru": lambda one: one.used,
        "lfu": lambda one: (one.uses, one.number),
        "priority": lambda one: (one.band, one.number),
    }[policy]
    texts = [step.text for step in steps if not step.read]
    kept: list[_Kept] = []
    appended = 0
    for now, step in enumerate(steps):
        if step.read:
            for place, number in enumerate(step.read):
                for one in kept:
                    if one.number == number:
                        one.used, one.uses = now * 10 + place, one.uses + 1
            continue
        if len(kept) == CAPACITY:
            kept.remove(min(kept, key=order))
        kept.append(_Kept(appended, step.band, now * 10))
        appended += 1
    return [texts[one.number] for one in kept]
