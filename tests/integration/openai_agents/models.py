"""A model that answers from a script and notes what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agents import Model, ModelResponse, Usage
from temporalio.openai_agents.testing import ResponseBuilders

Given = list[dict[str, Any]]


class Scripted(Model):
    """answers: made of the items that the model is given, one for each request; the last one for all that follow."""

    def __init__(self, *answers: Callable[[Given], ModelResponse]) -> None:
        self.given = list[Given]()
        self._answers = answers

    async def get_response(
        self,
        system_instructions: str | None,  # noqa: ARG002 - the names of the overridden method
        input: Any,
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        """See base class."""
        items: Given = [{"role": "user", "content": input}] if isinstance(input, str) else json.loads(json.dumps(input))
        self.given.append(items)
        return self._answers[min(len(self.given), len(self._answers)) - 1](items)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """See base class."""
        raise AssertionError("no run here streams")


def says(text: str) -> Callable[[Given], ModelResponse]:
    """Answers with this text."""
    return lambda _: ResponseBuilders.output_message(text)


def calls(name: str, arguments: str, call_id: str) -> Callable[[Given], ModelResponse]:
    """Calls a tool."""
    return lambda _: ResponseBuilders.tool_call(arguments, name, call_id=call_id)


def tracks_and_pays(order: str) -> Callable[[Given], ModelResponse]:
    """Calls both tools at once."""
    arguments = json.dumps({"order": order})
    both = [("track", f"call_{order}"), ("pay", f"pay_{order}")]
    made = [ResponseBuilders.tool_call(arguments, name, call_id=call_id) for name, call_id in both]
    return lambda _: ModelResponse([item for one in made for item in one.output], Usage(), None)


def counts(given: Given) -> ModelResponse:
    """Says how many items it was given, in a sentence that fills a budget."""
    return ResponseBuilders.output_message(f"I was given {len(given)} items. " + "All of them speak of parcels. " * 5)
