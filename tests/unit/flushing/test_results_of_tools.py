"""What a rule-based summary calls the tool that a result comes from, where its call has an id that comes again."""

from __future__ import annotations

from durable_memory import Message
from durable_memory.memory.flushing.rule_based.units import units_of
from durable_memory.memory.types import ToolCall


def call(tool: str) -> Message:
    """A call of a model that gives all its calls the same id."""
    return Message.assistant(tool_calls=[ToolCall("call_0", tool)])


def result(text: str) -> Message:
    """The result of such a call."""
    return Message.tool(text, "call_0")


def told(*messages: Message) -> list[str]:
    """What is said of the results, in order."""
    return [f"{unit.speaker}: {unit.text}" for unit in units_of(messages) if unit.speaker.endswith(" result")]


def test_each_result_has_the_name_of_its_own_tool() -> None:
    seven, two = result("7 degrees"), result("2 seats")
    assert told(call("weather"), seven, call("seats"), two) == ["weather result: 7 degrees", "seats result: 2 seats"]


def test_a_call_that_was_given_up_gives_its_name_to_no_later_result() -> None:
    in_vain = call("weather"), Message.user("Never mind. Is there a seat?")
    assert told(*in_vain, call("seats"), result("2 seats")) == ["seats result: 2 seats"]


def test_calls_one_behind_the_other_have_their_results_in_order() -> None:
    pair = told(call("weather"), call("seats"), result("7 degrees"), result("2 seats"))
    assert pair == ["weather result: 7 degrees", "seats result: 2 seats"]


def test_a_call_inside_of_another_takes_the_first_result() -> None:
    asked = call("travel_agent"), Message.user("Is there a seat?"), call("seats")
    assert told(*asked, result("2 seats"), result("booked")) == ["seats result: 2 seats", "travel_agent result: booked"]


def test_a_result_whose_call_was_summarised_before_is_that_of_a_tool() -> None:
    assert told(result("7 degrees"), call("seats")) == ["tool result: 7 degrees"]
