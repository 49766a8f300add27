"""What a request gets wrong is named by its place, in the words of JSON, and its value is never repeated."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.activities import requests
from durable_memory.activities.parsing import parse
from durable_memory.memory.errors import MemoryInvalid

MEMORY = {"resource": "desk", "key": "user:42"}
HELLO = {"role": "user", "content": "Hello."}


@pytest.mark.parametrize(
    ("kind", "wrong", "words"),
    [
        (requests.AppendRequest, {"messages": [HELLO, "secret"]}, "messages[1]: must be an object"),
        (requests.AppendRequest, {"messages": "secret"}, "messages: must be a list"),
        (requests.AppendRequest, {}, "messages: is missing"),
        (requests.AppendRequest, {"messages": [HELLO], "want_view": "secret"}, "want_view: must be true or false"),
        (requests.DeleteRequest, {"ids": ["a", 4711]}, "ids[1]: must be text"),
        (requests.ReadRequest, {"limit": "secret"}, "limit: must be a whole number"),
        (requests.FlushRequest, {"threshold": "secret"}, "threshold: must be a number"),
        (requests.ReadRequest, {"limits": 1}, "limits: is not a field of this request; did you mean 'limit'?"),
    ],
)
def test_what_a_request_gets_wrong_is_named_by_its_place(kind: type[Any], wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(MemoryInvalid) as refused:
        parse(kind, {"memory": MEMORY, **wrong})
    assert str(refused.value) == words
