"""The program of docs/openai-agents.md, run as it stands against an endpoint like OpenAI's."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from tests.integration.docs.pages import CHECKOUT, files_of

PAGE = "docs/openai-agents.md"


class Responses(ThreadingHTTPServer):
    """Answers requests of the Responses API, and notes their input."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.inputs = list[Any]()

    def answer(self, given: list[dict[str, Any]]) -> dict[str, Any]:
        """Looks an order up that was not looked up yet, and then says where it is."""
        self.inputs.append(given)
        if not any(item.get("type") == "function_call_output" for item in given):
            call = {"name": "track", "arguments": '{"order": "A-17"}', "call_id": "call_1"}
            return {"type": "function_call", "id": "fc_1", "status": "completed", **call}
        text = {"type": "output_text", "text": f"It is in Lyon. I was given {len(given)} items.", "annotations": []}
        return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answers one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given = asked["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        body = {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "model": asked["model"],
            "status": "completed",
            "output": [cast("Responses", self.server).answer(items)],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the names of the overridden method
        """Says nothing."""


@pytest.fixture
def responses() -> Iterator[Responses]:
    with Responses() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_the_second_workflow_knows_what_the_first_one_called_and_said(
    tmp_path: Path, redis_url: str, temporal_address: str, responses: Responses
) -> None:
    for name, text in files_of(PAGE).items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "parcels.py"),
        cwd=tmp_path,
        env={
            **os.environ,
            "REDIS_URL": redis_url,
            "TEMPORAL_ADDRESS": temporal_address,
            "DURABLE_MEMORY_PROJECT": "openai-agents-page",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{responses.server_port}/v1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    assert output.decode().splitlines() == [
        "It is in Lyon. I was given 3 items.",
        "It is in Lyon. I was given 5 items.",
    ]
    question, call, result, answer, _ = responses.inputs[-1]
    assert (question["content"], answer["content"]) == (
        "Where is my order A-17?",
        "It is in Lyon. I was given 3 items.",
    )
    assert (call["call_id"], result["output"]) == ("call_1", "A-17 is in Lyon.")


def test_every_block_of_code_is_a_file_that_is_run_here() -> None:
    page = (CHECKOUT / PAGE).read_text()
    assert list(files_of(PAGE)) == ["memories/parcels.yaml", "parcels.py", "lookup.py"]
    assert page.count("```") == 2 * len(files_of(PAGE))
