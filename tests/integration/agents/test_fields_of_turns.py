"""Which fields of its messages a recorded turn has, when: as the tables of docs/python.md say."""

from __future__ import annotations

from durable_memory import AgentTurn, MemoryClient, Turn
from tests.integration.agents.conftest import unique
from tests.integration.agents.recording import TURN


async def test_what_a_store_gives_stands_in_a_turn_when_an_attempt_before_has_recorded_it(client: MemoryClient) -> None:
    user = unique("user")

    def given(turn: Turn | AgentTurn | None) -> list[tuple[bool, bool]]:
        assert turn is not None
        return [(message.id is not None, message.tokens is not None) for message in turn.messages]

    memory, agent = client.memory("desk", f"alone:{user}"), client.agent("clerk", input={"user": user})
    of_memory = [await memory.record_turn(TURN, operation_id="one") for _ in range(2)]
    assert [given(turn) for turn in of_memory] == [[(True, False)] * 2, [(True, True)] * 2]
    assert given(await memory.recorded_turn(operation_id="one")) == [(True, True)] * 2
    of_agent = [await agent.record_turn(TURN, operation_id="one") for _ in range(2)]
    assert [given(turn) for turn in of_agent] == [[(False, False)] * 2] * 2
    assert given(await agent.recorded_turn(operation_id="one")) == [(True, True)] * 2
