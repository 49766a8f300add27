"""A summariser that a setting names is imported and made once, and what is wrong with it is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.named import NamedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

MODULE = """
made = []


class Brief:
    max_input_tokens = 500

    def __init__(self):
        made.append(self)

    async def summarize(self, request):
        return f"{len(request.messages)} messages"


def broken():
    raise ValueError("a secret of the factory")


number = 7
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "named_here.py").write_text(MODULE)
    (tmp_path / "fails_here.py").write_text("raise RuntimeError('a secret of the module')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [])


async def test_a_named_summariser_is_made_once_when_it_is_needed() -> None:
    named = NamedSummarizer("named_here:Brief")
    request = SummaryRequest((Message.user("Hello."),), 100, TiktokenCounter())
    assert [await named.summarize(request) for _ in range(2)] == ["1 messages"] * 2
    assert named.max_input_tokens == 500
    assert named.load() is named.load()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no_such_module:make", "the module cannot be imported: No module named 'no_such_module'"),
        ("fails_here:make", r"the module cannot be imported \(RuntimeError\)$"),
        ("named_here:missing", "the module has no function or class 'missing'"),
        ("named_here:number", "the module has no function or class 'number'"),
        ("named_here:broken", r"the factory failed \(ValueError\)$"),
        ("builtins:dict", "is no summariser: it needs max_input_tokens and summarize"),
    ],
)
def test_what_is_wrong_with_it_is_said(name: str, problem: str) -> None:
    with pytest.raises(MemoryInvalid, match=problem) as refused:
        NamedSummarizer(name).load()
    assert str(refused.value).startswith(f"the summariser {name} (--summarizer, DURABLE_MEMORY_SUMMARIZER): ")
    assert "secret" not in str(refused.value)
