"""How one budget is divided between several parts: by weight, and what one does not need goes to the others."""

from __future__ import annotations

from collections.abc import Sequence


def weights_of(shares: Sequence[int | None], budget: int) -> list[int]:
    """Returns the weight of each part: the share it declares, else an even part of what the shares leave.

    A part without a share weighs at least as much as the smallest share, so that a budget below the sum of the shares
    shrinks all parts alike and starves none.
    """
    declared = [share for share in shares if share is not None]
    silent = len(shares) - len(declared)
    rest = (budget - sum(declared)) // silent if silent else 0
    default = max(rest, min(declared, default=1), 1)
    return [default if share is None else share for share in shares]


def divide(budget: int, demands: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Returns what each part gets of `budget`: its demand where the sum allows it, else a part by its weight.

    This is weighted max-min fairness: whoever needs less than its part leaves the rest to the others.
    """
    allotted = [0] * len(demands)
    open_parts = set(range(len(demands)))
    left = budget
    while open_parts:
        total = sum(weights[part] for part in open_parts)
        content = [part for part in open_parts if demands[part] * total <= left * weights[part]]
        if not content:
            for part in open_parts:
                allotted[part] = left * weights[part] // total
            return allotted
        for part in content:
            allotted[part] = demands[part]
        left -= sum(demands[part] for part in content)
        open_parts.difference_update(content)
    return allotted
