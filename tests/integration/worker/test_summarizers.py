"""Who writes the summaries of a worker that is a process of its own: a setting, or the YAML."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from temporalio.client import Client

from durable_memory import MemoryClient
from tests.integration.cli.programs import PROGRAM
from tests.integration.llm.endpoint import SUMMARY, Fails, endpoint
from tests.integration.worker.calling import calling
from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import eventually, worker_process

SCRIPT = (sys.executable, str(Path(__file__).parents[3] / "worker.py"))
OWN = """
class Brief:
    max_input_tokens = None

    def __init__(self, word="own"):
        self.word = word

    async def summarize(self, request):
        return f"My {self.word} words on {len(request.messages)} messages."


def make():
    return Brief("made")


def broken():
    raise ValueError("the factory's secret")
"""


async def summary_after_appends(
    client: Client, redis_url: str, project: str, folder: Path, resource: str = "thread"
) -> str:
    """Fills a memory through the worker, and returns what its background flush has written."""
    async with (
        calling(client, project) as caller,
        await MemoryClient.connect(redis_url, memories=[folder / "memories"], project=project) as memories,
    ):
        texts = [f"Parcel {number} left the depot for Ghent, and Anna will call at noon. " * 5 for number in range(8)]
        await caller.append(resource, "key", *texts)
        memory = memories.memory(resource, "key")

        async def summarised() -> bool:
            return (await memory.stats()).messages["long_term"] == 1

        await eventually(summarised)
        (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
        return summary.text.partition("\n")[2]


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        ((), {"DURABLE_MEMORY_SUMMARIZER": "summaries:Brief"}, "My own words"),
        (("--summarizer", "summaries:make"), {"DURABLE_MEMORY_SUMMARIZER": "summaries:Brief"}, "My made words"),
    ],
    ids=["variable", "option"],
)
async def test_a_summariser_of_ones_own_is_named_by_a_setting(
    folder: Path,
    project: str,
    redis_url: str,
    temporal_client: Client,
    arguments: tuple[str, ...],
    given: dict[str, str],
    words: str,
) -> None:
    (folder / "summaries.py").write_text(OWN)
    servers = {
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_client.service_client.config.target_host,
        "DURABLE_MEMORY_PROJECT": project,
        "DURABLE_MEMORY_TASK_QUEUE": project,
    }
    async with worker_process(*arguments, cwd=folder, command=SCRIPT, **servers, **given) as worker:
        await worker.ready()
        assert (await summary_after_appends(temporal_client, redis_url, project, folder)).startswith(words)
        told = await worker.entry(message="a summary was written for thread")
        assert (told["resource"], told["summarizer"], told["outcome"]) == ("thread", "own", "written")


async def test_a_declared_model_is_asked_until_it_answers_and_measured(
    folder: Path, project: str, redis_url: str, temporal_client: Client, start_worker: StartWorker
) -> None:
    async with endpoint() as service:
        declared = (
            "resource: memory\nid: model\nmax_tokens: 600\nscope: user\nflushing:\n  summary_tokens: 100\n"
            f'  summarizer: {{type: llm, model: "openai:gpt-4o-mini", endpoint: "{service.url}", api_key_env: KEY}}\n'
        )
        (folder / "memories" / "model.yaml").write_text(declared)
        service.script.extend([Fails(503, {"retry-after-ms": "10"})] * 5)
        async with start_worker(KEY="sk-planted") as worker:
            await worker.ready()
            assert await summary_after_appends(temporal_client, redis_url, project, folder, "model") == SUMMARY
            assert service.keys == ["Bearer sk-planted"] * 6
            page = (await worker.get("/metrics"))[1]
            labels = 'model="openai:gpt-4o-mini",resource="model"'
            assert f'memory_model_tokens_total{{direction="output",{labels}}} 30.0' in page
            failures = 'memory_summaries_total{outcome="MemoryModelUnavailable",resource="model",summarizer="llm"} 5.0'
            assert failures in page
            assert f"memory_model_cost_usd_total{{{labels}}} " in page
            assert 'memory_summaries_total{outcome="written",resource="model",summarizer="llm"} 1.0' in page
            assert "sk-planted" not in worker.log_text()
            assert "HTTP Request" not in worker.log_text()
            failed = await worker.entry(message="a summary was not written (MemoryModelUnavailable)")
            assert (failed["level"], failed["resource"], len(failed["memory_hash"])) == ("warning", "model", 16)


async def test_a_name_of_no_summariser_is_one_sentence(folder: Path, start_worker: StartWorker) -> None:
    (folder / "summaries.py").write_text(OWN)
    async with start_worker("--summarizer", "summaries:broken") as worker:
        assert await worker.end() == 1
        (line,) = worker.log_text().splitlines()
        assert line.startswith("Error: the summariser summaries:broken (--summarizer, DURABLE_MEMORY_SUMMARIZER): ")
        assert line.endswith("the factory failed (ValueError)")


async def test_a_key_that_is_not_there_is_named_with_its_place(folder: Path, start_worker: StartWorker) -> None:
    declared = (
        "resource: memory\nid: model\nmax_tokens: 600\nflushing:\n"
        '  summarizer: {type: llm, model: "openai:gpt-4o-mini", api_key_env: NO_SUCH_KEY}\n'
    )
    (folder / "memories" / "model.yaml").write_text(declared)
    async with start_worker() as worker:
        assert await worker.end() == 1
        head, line = worker.log_text().splitlines()
        assert head == "Error: the declarations have 1 fault:"
        assert line.startswith("  memories/model.yaml:5: flushing.summarizer")
        assert "memory 'model'" in line
        assert "NO_SUCH_KEY is not set" in line


async def test_a_worker_without_the_extra_says_where_it_is_needed(folder: Path, start_worker: StartWorker) -> None:
    (folder / "memories" / "model.yaml").write_text(
        'resource: memory\nid: model\nmax_tokens: 600\nflushing:\n  summarizer: {type: llm, model: "openai:gpt-4o"}\n'
    )
    # Python reads this file at its start: it hides the library as if it were not installed.
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['pydantic_ai'] = None\n")
    async with start_worker(command=(PROGRAM, "worker"), PYTHONPATH=str(folder)) as worker:
        assert await worker.end() == 1
        assert "model.yaml:5: flushing.summarizer: type llm of memory 'model' needs the extra llm" in worker.log_text()
        assert "polling" not in worker.log_text()
