"""Shares of a whole, calculated as they are written and not as floats round them."""

from __future__ import annotations

from fractions import Fraction


def written(share: float) -> Fraction:
    """Returns the number as it was written, which `repr` gives: 0.55 of 100 is 55, not 55.00000000000001."""
    return Fraction(repr(share))
