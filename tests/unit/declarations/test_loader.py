"""Loading: every document of every file, and every fault with its file, its line and what was meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid
from tests.unit.declarations.yaml_files import DESK, faults_of

BOOKING = "resource: agent\nid: booking\nmemory: desk\n"


def test_all_documents_of_all_files_of_all_folders_are_read(tmp_path: Path) -> None:
    for folder, name, text in (
        ("one", "a.yaml", f"---\n# only a comment\n---\n{DESK}---\n{BOOKING}---\n"),
        ("one", "b.yml", "resource: memory\nid: second\nmax_tokens: 500\n"),
        ("two", "C.YAML", "\ufeffresource: memory\nid: third\nmax_tokens: 500\n"),
        ("two", "notes.txt", "not ours: ["),
        ("two", ".hidden.yaml", "not ours: ["),
        ("two/deeper", "d.yaml", "not ours: ["),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text, "utf-8")
    (tmp_path / "two" / "folder.yaml").mkdir()
    registry = Registry.load([tmp_path / "one", str(tmp_path / "two")])
    assert [memory.id for memory in registry.memories()] == ["desk", "second", "third"]
    assert [agent.id for agent in registry.agents()] == ["booking"]


def test_a_single_file_may_be_named_and_a_folder_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(DESK, "utf-8")
    registry = Registry.load([tmp_path / "a.yaml", tmp_path, tmp_path / "." / "a.yaml"])
    assert [memory.id for memory in registry.memories()] == ["desk"]


def test_all_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    first = (
        "resource: memory\nid: desk\nmax_tokens: lots\nevictoin_policy:\n  type: lru\n"
        "flushing:\n  typ: drop\n  keep_last: -1\n---\nresource: agent\nid: booking\nmemory: dusk\nmemory_kee: x\n"
    )
    second = "resource: memory\nid: other\ntype: banana\n"
    assert faults_of(tmp_path, first, second) == [
        "a.yaml:3: max_tokens: must be a whole number",
        "a.yaml:4: evictoin_policy: is not a field here; did you mean 'eviction_policy'?",
        "a.yaml:7: flushing.typ: is not a field here; did you mean 'type'?",
        "a.yaml:8: flushing.keep_last: must be at least 0",
        "a.yaml:12: memory: there is no memory resource 'dusk'; did you mean 'desk'?",
        "a.yaml:13: memory_kee: is not a field here; did you mean 'memory_key'?",
        "b.yaml:3: type: must be token_based, message_count_based or buffer",
    ]


def test_the_error_is_a_memory_invalid(tmp_path: Path) -> None:
    with pytest.raises(MemoryInvalid) as caught:
        Registry.load([tmp_path])
    assert (caught.value.type, caught.value.retryable) == ("MemoryInvalid", False)


def test_duplicate_keys_name_both_lines_at_each_level(tmp_path: Path) -> None:
    text = "resource: memory\nid: desk\nmax_tokens: 8000\nflushing:\n  keep_last: 1\n  keep_last: 2\nmax_tokens: 80\n"
    assert faults_of(tmp_path, text) == [
        "a.yaml:6: flushing.keep_last: stands twice, on line 5 and on line 6",
        "a.yaml:7: max_tokens: stands twice, on line 3 and on line 7",
    ]


def test_duplicate_ids_name_both_places(tmp_path: Path) -> None:
    faults = faults_of(
        tmp_path, f"{DESK}---\n{BOOKING}", f"{BOOKING}---\nmax_tokens: 900\nid: desk\nresource: memory\n"
    )
    assert faults == [
        f"b.yaml:2: id: this agent is declared twice, first at {tmp_path}{os.sep}a.yaml:6",
        f"b.yaml:6: id: this memory is declared twice, first at {tmp_path}{os.sep}a.yaml:2",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("evictoin: lru\n", "a.yaml:4: evictoin: is not a field here; did you mean 'eviction_policy'?"),
        ("flush: {type: drop}\n", "a.yaml:4: flush: is not a field here; did you mean 'flushing'?"),
        ("flushing_strategy: {}\n", "a.yaml:4: flushing_strategy: is not a field here; did you mean 'flushing'?"),
        ("ttl: 24h\n", "a.yaml:4: ttl: is not a field here; it belongs under persistence"),
        (
            "persistence:\n  on_workflow_end: keep\n",
            "a.yaml:5: persistence.on_workflow_end: is not a field here; it belongs to the top level",
        ),
        ("overflow: {max_tokns: 9}\n", "a.yaml:4: overflow.max_tokns: is not a field here; did you mean 'max_tokens'?"),
        ("locking:\n  flush_tt: 9s\n", "a.yaml:5: locking.flush_tt: is not a field here; did you mean 'flush_ttl'?"),
        ("eviction_policy:\n  kind: lru\n", "a.yaml:5: eviction_policy.kind: is not a field here"),
    ],
)
def test_unknown_misspelt_and_misplaced_fields_are_errors_at_each_level(tmp_path: Path, text: str, fault: str) -> None:
    assert faults_of(tmp_path, DESK + text) == [fault]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "a.yaml:1: holds no document"),
        ("# nothing\n---\n", "a.yaml:1: holds no document"),
        ("- a\n", "a.yaml:1: is a list; write its items as documents of their own, with a line --- between them"),
        ("\n\nmemory\n", "a.yaml:3: must be a mapping of fields, beginning with resource:"),
        ("id: desk\n", "a.yaml:1: resource: is missing; a document begins with resource: memory or agent"),
        ("id: desk\nresource: memry\n", "a.yaml:2: resource: must be memory or agent; did you mean 'memory'?"),
        ("id: desk\nresource: [memory]\n", "a.yaml:2: resource: must be memory or agent"),
        ("resource: memory\nmax_tokens: 9\n", "a.yaml:1: id: is missing"),
        (f"{DESK}flushing: drop\n", "a.yaml:4: flushing: must be a mapping of fields; write {type: drop}"),
        (f"{DESK}flushing: dropp\n", "a.yaml:4: flushing: must be a mapping of fields"),
        (
            f"{DESK}flushing: {{summarizer: llm}}\n",
            "a.yaml:4: flushing.summarizer: must be a mapping of fields; write {type: llm}",
        ),
        (
            f"{DESK}persistence:\n  circuit_breaker: true\n",
            "a.yaml:5: persistence.circuit_breaker: must be a mapping of fields; write {enabled: true}",
        ),
        (f"{DESK}flushing:\n- drop\n", "a.yaml:4: flushing: must be a mapping of fields"),
        (f"{DESK}scope: [user]\n", "a.yaml:4: scope: must be temp, session, user, app or project"),
        (f"{DESK}description: true\n", "a.yaml:4: description: must be text; put it in quotes"),
        (f"{DESK}flushing:\n\tkeep_last: 1\n", "a.yaml:5: is indented with a tab; YAML allows only spaces"),
        (f"{DESK}description: a\x07b\n", "a.yaml:4: has a character that YAML does not allow"),
        (f"{DESK}'': 1\n", "a.yaml:4: has an empty key"),
        (f"{DESK}? [a]\n: 1\n", "a.yaml:4: has a key that is no text; a template, {{ … }}, has to be in quotes"),
        (f"{DESK}<<: {{scope: user}}\n", "a.yaml:4: has a merge key (<<); write the fields out"),
        (f"{DESK}scope: !!python/name:os.system x\n", "a.yaml:4: has a tag (!); write the plain value"),
        (f"{DESK}scope: !Ref x\n", "a.yaml:4: has a tag (!); write the plain value"),
        (f"{DESK}flushing: !!map {{}}\n", "a.yaml:4: has a tag (!); write the plain value"),
        (
            f"{DESK}scope: *nowhere\n",
            "a.yaml:4: uses an alias whose anchor does not stand before it in the same document",
        ),
        (f"{DESK}flushing: &a {{x: *a}}\n", "a.yaml:4: has an alias inside what it stands for"),
        (f"{DESK}{'k' * 101}: 1\n", "a.yaml:4: has a key of more than 100 characters"),
    ],
)
def test_wrong_files_are_one_sentence_with_their_line(tmp_path: Path, text: str, fault: str) -> None:
    assert faults_of(tmp_path, text) == [fault]


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    assert faults_of(tmp_path, b"resource: memory\nid: d\xe9sk\n", DESK.encode("utf-16")) == [
        "a.yaml:2: is not UTF-8 text",
        "b.yaml:1: is not UTF-8 text; it looks like UTF-16, save it as UTF-8",
    ]


@pytest.mark.parametrize("value", ["", " ", "null", "~"])
def test_a_field_without_a_value_is_a_slip(tmp_path: Path, value: str) -> None:
    (fault,) = faults_of(tmp_path, f"{DESK}default_key_template: {value}\n")
    assert fault.startswith("a.yaml:4: default_key_template: has no value; leave the field out")


def test_null_is_a_value_only_where_it_means_never(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{DESK}persistence: {{ttl: null}}\n", "utf-8")
    assert Registry.load([tmp_path]).memory("desk").ttl is None
    (fault,) = faults_of(tmp_path, f"{DESK}persistence:\n  ttl:\n")
    assert fault.startswith("a.yaml:5: persistence.ttl: has no value")


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "0o17", "0x1F", "1:30", "1_000", ".nan", ".inf"])
def test_words_that_older_yaml_took_for_numbers_and_switches_are_text(tmp_path: Path, word: str) -> None:
    (tmp_path / "a.yaml").write_text(f"{DESK}description: {word}\n", "utf-8")
    assert Registry.load([tmp_path]).memory("desk").description == word


def test_an_alias_stands_for_its_value(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{DESK}open_group_ttl: &time 10m\nlocking: {{flush_ttl: *time}}\n", "utf-8")
    limits = Registry.load([tmp_path]).memory("desk").limits()
    assert (limits.open_group_ms, limits.lease_ms) == (600_000, 600_000)


def test_an_alias_bomb_is_refused_before_it_is_expanded(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 10):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n"
    # Written out, these are 3,486,784,401 values: reading them would not end within the test's time limit.
    assert faults_of(tmp_path, DESK + bomb) == ["a.yaml:7: has more than 2,000 values once its aliases are written out"]


def test_many_aliases_are_refused(tmp_path: Path) -> None:
    text = f"{DESK}x: &x 1\ny: [{', '.join(['*x'] * 101)}]\n"
    assert faults_of(tmp_path, text) == ["a.yaml:5: has more than 100 aliases"]


@pytest.mark.parametrize("text", ["[" * 500_000, "{a: " * 200_000, "- " * 400_000, "&a [" * 200_000])
def test_deep_nesting_is_refused_without_recursion(tmp_path: Path, text: str) -> None:
    (fault,) = faults_of(tmp_path, text)
    assert fault == "a.yaml:1: is nested more than 30 levels deep"


def test_nesting_cannot_be_hidden_in_aliases(tmp_path: Path) -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{level}: &a{level} [*a{level - 1}]\n" for level in range(1, 60))
    (fault,) = faults_of(tmp_path, DESK + text)
    assert fault.endswith("is nested more than 30 levels deep")


def test_a_file_over_a_megabyte_is_refused_unread(tmp_path: Path) -> None:
    assert faults_of(tmp_path, DESK + "#" * 1_000_000) == ["a.yaml:1: is larger than 1,000,000 bytes"]
    (tmp_path / "a.yaml").write_text(DESK + "#" * (1_000_000 - len(DESK)), "utf-8")
    assert Registry.load([tmp_path]).memories()


def test_missing_and_empty_folders_are_errors_and_not_no_memories(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text(DESK, "utf-8")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path / "empty", tmp_path / "file" / "folder", tmp_path / "nowhere"], {})
    assert [fault.problem for fault in caught.value.faults] == [
        "holds no *.yaml or *.yml file",
        "cannot be read: Not a directory",
        "there is no such folder; --memories, memories= of Python, or DURABLE_MEMORY_MEMORIES names another one",
    ]


def test_a_link_that_leads_nowhere_is_an_error_and_not_one_file_less(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(DESK, "utf-8")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {})
    assert [(Path(fault.file).name, fault.problem) for fault in caught.value.faults] == [
        ("gone.yaml", "cannot be read: No such file or directory"),
        ("loop.yaml", "cannot be read: Too many levels of symbolic links"),
    ]


def test_a_missing_folder_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.load(["nope"])
    assert str(caught.value).startswith(f"{tmp_path / 'nope'}: there is no such folder; ")


def test_what_stands_before_a_fault_of_the_yaml_is_still_checked(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, "resource: memory\nid: Desk\nmax_tokens: 1\n---\nresource: agent\n\tid: x\n")
    assert [fault.split(":")[1] for fault in faults] == ["2", "6"]


def test_faults_never_repeat_a_value(tmp_path: Path) -> None:
    text = (
        "resource: memory\nid: ${SECRET}\nversion: ${SECRET}\ntype: ${SECRET}\nmax_tokens: ${SECRET}\n"
        "scope: ${SECRET}\nopen_group_ttl: ${SECRET}\ndefault_key_template: '{{ ${SECRET} }}'\n"
        "---\nresource: agent\nid: a\nmemory: ${SECRET}\n---\nresource: ${SECRET}\n"
    )
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {"SECRET": "HunterTwo!"})
    assert len(caught.value.faults) >= 9
    assert "hunter" not in str(caught.value).lower()
