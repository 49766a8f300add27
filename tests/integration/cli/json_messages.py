"""Messages as `append --json -` reads them."""

from __future__ import annotations

import json


def json_messages(count: int) -> str:
    """So many messages of a user, each with a text of its own that takes some twenty tokens."""
    texts = [f"Order {number} was sent on day {number} to the address in Lyon" for number in range(count)]
    return json.dumps([{"role": "user", "content": text} for text in texts])
