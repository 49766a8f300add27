"""How messages and answers look in a log line or a debugger."""

from __future__ import annotations

from durable_memory import AppendResult, FlushResult, Message, View


def test_values_are_shown_by_the_fields_that_say_something() -> None:
    said = Message.user("Hi", pinned=True)
    assert repr(said) == "Message(role='user', content='Hi', pinned=True)"
    assert repr(View((said,), 3, "v")) == f"View(messages=({said!r},), tokens=3, version='v')"
    assert repr(FlushResult("nothing", reason="keep")) == "FlushResult(outcome='nothing', reason='keep')"


def test_what_is_shown_makes_the_value_again() -> None:
    given = AppendResult(("1",), "v", 4, 1, created=True, view=View((Message.user("Hi", metadata={"a": 1}),), 4, "v"))
    assert eval(repr(given)) == given
