"""Objects of the SDKs are read as what the API sent, whatever else the SDK has made of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from anthropic.types.beta import BetaMessage
from openai.types.chat import ParsedChatCompletionMessage
from openai.types.responses import (
    ParsedResponseFunctionToolCall,
    ParsedResponseOutputMessage,
    ParsedResponseOutputText,
    ResponseCustomToolCall,
)
from pydantic import BaseModel

from durable_memory import (
    Message,
    ToolCall,
    messages_from_anthropic,
    messages_from_openai,
    messages_from_openai_responses,
)
from tests.unit.chat.conversations import text, view_of


class Delivery(BaseModel):
    """What a program asks for in place of text."""

    at: datetime


SAID = '{"at": "2026-03-01T12:00:00"}'
DELIVERY = Delivery.model_validate_json(SAID)


def test_a_structured_answer_of_chat_completions_is_the_text_that_the_model_wrote() -> None:
    parsed: Any = DELIVERY
    answer = ParsedChatCompletionMessage[None].model_construct(role="assistant", content=SAID, parsed=parsed)
    assert messages_from_openai(answer) == (Message.assistant(SAID),)


def test_a_structured_answer_of_responses_is_the_text_that_the_model_wrote() -> None:
    part: Any = ParsedResponseOutputText.model_construct(type="output_text", text=SAID, annotations=[], parsed=DELIVERY)
    said: Any = ParsedResponseOutputMessage.model_construct(
        id="msg_1", type="message", role="assistant", status="completed", content=[part]
    )
    call = ParsedResponseFunctionToolCall.model_construct(
        type="function_call", call_id="call_1", name="deliver", arguments=SAID, parsed_arguments=DELIVERY
    )
    read = (Message.assistant(SAID, tool_calls=[ToolCall("call_1", "deliver", SAID)]),)
    assert messages_from_openai_responses([said, call]) == read
    assert messages_from_openai_responses([said.model_dump(warnings=False), call.model_dump()]) == read


def test_fields_have_the_names_of_the_api_where_those_of_python_differ() -> None:
    handed_over = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}
    answer = BetaMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [handed_over, text("Hello.")],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    [said] = messages_from_anthropic(answer)
    [_, turn] = view_of(Message.user("Hi"), said).to_anthropic()["messages"]
    assert turn["content"][0]["from"] == {"model": "a"}


def test_who_made_a_call_is_not_told_as_what_it_says() -> None:
    call = {"type": "custom_tool_call", "call_id": "c", "name": "shell", "input": "ls", "async": True}
    beside = {"caller": {"type": "direct"}, "namespace": "host"}
    answered = ResponseCustomToolCall.model_validate({**call, **beside})
    for given in (answered, answered.model_dump()):
        [asked] = messages_from_openai_responses([given])
        assert asked.tool_calls == (ToolCall("c", "shell", '{"input": "ls"}'),)
