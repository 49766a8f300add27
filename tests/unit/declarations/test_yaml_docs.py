"""What docs/yaml.md shows is what the loader does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from durable_memory import MemoryClient, Registry
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.errors import InvalidDeclarations

PAGE = (Path(__file__).parents[3] / "docs" / "yaml.md").read_text("utf-8")
FENCE = re.compile(r"^```([a-z ]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS: list[tuple[str, str]] = FENCE.findall(PAGE)


def test_every_block_is_run_here_or_with_the_command_line() -> None:
    assert {kind for kind, _ in BLOCKS} == {"yaml", "yaml wrong", "text", "sh"}


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_each_yaml_block_of_the_page_is_a_valid_declaration(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.yaml").write_text(text, "utf-8")
    assert load_folders([tmp_path], {})


def test_the_wrong_file_gives_the_faults_that_are_shown(tmp_path: Path) -> None:
    (wrong,) = [text for kind, text in BLOCKS if kind == "yaml wrong"]
    (shown,) = [text for kind, text in BLOCKS if kind == "text"]
    (tmp_path / "desk.yaml").write_text(wrong, "utf-8")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {})
    assert str(caught.value).replace(str(tmp_path / "desk.yaml"), "desk.yaml") == shown.strip()


async def test_the_pattern_for_passwords_takes_them_out_of_what_is_said() -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "yaml" and "without-passwords" in text]
    declared = {**yaml.safe_load(text), "persistence": {"type": "in_memory"}}
    said = ["My password: hunter2, thanks", "pwd=hunter2", 'PASSWORD => "hunter2"', "The passphrase is hunter2 today"]
    kept = ["The password is", "password reset, passwords"]
    async with await MemoryClient.connect(memories=Registry.from_resources([declared])) as client:
        memory = client.memory("without-passwords", "user:1")
        await memory.append([*said, *kept])
        texts = [message.text for message in (await memory.read()).messages]
    assert texts[:2] == ["My [redacted] thanks", "[redacted]"]
    assert "hunter2" not in " ".join(texts)
    assert texts[4:] == kept


def test_the_blocks_with_agents_have_all_fields(tmp_path: Path) -> None:
    used: set[str] = set()
    for index, text in enumerate(text for kind, text in BLOCKS if kind == "yaml" and "resource: agent" in text):
        (tmp_path / f"{index}.yaml").write_text(text, "utf-8")
        for agent in (source.declaration for source in load_folders([tmp_path / f"{index}.yaml"], {})):
            used |= agent.model_fields_set if isinstance(agent, AgentResource) else set()
    assert used == set(AgentResource.model_fields)
