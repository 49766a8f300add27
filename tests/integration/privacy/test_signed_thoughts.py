"""Thoughts that their provider has signed: kept whole or left out, since it refuses what was changed."""

from __future__ import annotations

import json

from durable_memory import MemoryClient, Message, ToolCall

EMAIL = "ada.lovelace@example.com"


async def test_a_turn_with_a_signed_thought_is_read_as_a_request_that_its_provider_takes(
    client: MemoryClient, key: str
) -> None:
    kept = {"type": "thinking", "thinking": "It is late.", "signature": "EqQBCgIYAhIM" + "kJ7u" * 20}
    lost = {**kept, "thinking": f"I write to {EMAIL}."}
    call = ToolCall("toolu_1", "mail", json.dumps({"to": EMAIL}))
    turn = await client.memory("private", key).record_turn(
        ["Hi", Message.assistant([lost]), Message.assistant([kept, lost], tool_calls=[call]), Message.tool("", call.id)]
    )
    view = await client.memory("private", key).read()
    assert [message.id for message in view.messages] == list(turn.result.ids)
    assert view.to_anthropic()["messages"][1]["content"] == [
        {"type": "text", "text": "[redacted]"},
        kept,
        {"type": "tool_use", "id": "toolu_1", "name": "mail", "input": {"to": "[redacted]"}},
    ]
