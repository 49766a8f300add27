"""Slips of the pen: each is one fault at the line to change, which says what to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.errors import InvalidDeclarations
from tests.unit.declarations.yaml_files import DESK, faults_of

TEMPLATES = "a key template holds text and {{ name.name | filter }} only"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("scope: user: app\n", "4: has a colon and a space in its text: put the text in quotes"),
        ("scope: user\n  flushing:\n", "5: is indented deeper than the line above it, which has a value already"),
        ("scope:user\nagents_only: true\n", "4: needs a space after its colon"),
        ("scope user\nagents_only: true\n", "4: is no field: write its name, a colon, a space and its value"),
        ("scope user\n", "4: is no field: write its name, a colon, a space and its value"),
        ("scope\uff1a user\nagents_only: true\n", "4: is no field: write its name, a colon, a space and its value"),
        ("description: 'open\nscope: user\n", "4: has a quote that is never closed"),
        (
            "persistence: {ttl: ${TTL:-1h}}\nscope: user\n",
            "4: has a { or [ that is not closed, or text inside it that needs quotes, such as ${NAME}",
        ),
        (
            "flushing: {type: drop\n---\nresource: agent\n",
            "4: has a { or [ that is not closed, or text inside it that needs quotes, such as ${NAME}",
        ),
        ("description: @home\n", "4: has text that begins with @, ` or %: put it in quotes"),
        ("description: *all*\n", "4: has text that begins with * or &: put it in quotes"),
        (
            'privacy_policy:\n  redact_patterns: ["\\d+"]\n',
            "5: has a backslash that YAML reads itself: write the text in '…' instead of \"…\"",
        ),
        (
            'privacy_policy:\n  redact_patterns: ["\\bCUST-[0-9]+"]\n',
            (
                '5: privacy_policy.redact_patterns.0: has the control character U+0008; inside "…" YAML reads '
                "backslashes itself: write the text in '…' instead of \"…\""
            ),
        ),
        (
            "privacy_policy:\n  redact_patterns:\n    - |\n      CUST-[0-9]+\n",
            (
                "6: privacy_policy.redact_patterns.0: has a line break, which the texts would have to have as well: "
                "write the text in '…', on one line"
            ),
        ),
        (
            "description: > 5 and < 9\n",
            "4: has text behind a | or >: put text that begins with one of them in quotes",
        ),
        (
            "description: ] \n",
            "4: has a sign of YAML, such as ] or }, where a value should stand: put text in quotes",
        ),
        (
            "privacy_policy:\n  redact_entities: - email\n",
            "5: begins a list behind its field: write each item on a line of its own, behind a dash",
        ),
        (
            "privacy_policy:\n  redact_entities:\n  - email\n  phone\n",
            "7: is no field: write its name, a colon, a space and its value",
        ),
        (
            "privacy_policy:\n  redact_entities:\n    - email\n    phone: x\n",
            "7: stands among the items of a list without a dash",
        ),
        ("...\nscope: user\n", "5: stands behind the end of a document: begin the next one with a line ---"),
        (
            "flushing:\n    type: drop\n  keep_last: 2\n",
            "6: is indented like no line above it, or has text behind a closing quote",
        ),
        (
            "flushing:\n\u00a0 type: drop\n",
            "5: has a key with a space around it that YAML takes for text: use plain spaces",
        ),
        (
            "---\n\ufeffresource: memory\nid: second\n",
            "5: begins with a byte order mark, which files have only at their start: remove it",
        ),
        ("flushing: {type: drop, type: lru}\n", "4: flushing.type: stands twice, on line 4"),
    ],
)
def test_slips_of_syntax_are_said_in_words_at_the_line_to_change(tmp_path: Path, text: str, fault: str) -> None:
    assert faults_of(tmp_path, DESK + text) == [f"a.yaml:{fault}"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("max_messages: '40'\n", "max_messages: must be a whole number; leave the quotes out"),
        ("max_messages: 1_000\n", "max_messages: must be a whole number; write it in digits, such as 4000"),
        (f"max_messages: {'9' * 40}\n", "max_messages: must be at most 1000000000"),
        ("agents_only: 'true'\n", "agents_only: must be true or false; leave the quotes out"),
        ("agents_only: yes\n", "agents_only: must be true or false; did you mean 'true'?"),
        (
            "max_context_ratio: 40\n",
            "max_context_ratio: must be at most 1; it is a share, and 80 % is written 0.8",
        ),
        ("max_context_ratio: 40%\n", "max_context_ratio: must be a number; 80 % is written 0.8"),
        ("<key>: 5\n", "<key>: is not a field here"),
        ("max_mesages: ${COUNT}\n", "max_mesages: is not a field here; did you mean 'max_messages'?"),
        ("max_messages: ${COUNT}\n", "max_messages: must be a whole number; it comes from the environment: COUNT"),
        (
            "max_messages: $COUNT\n",
            "max_messages: must be a whole number; a variable of the environment is written ${NAME}",
        ),
        (
            "eviction_policy: {type: LRU}\n",
            "eviction_policy.type: must be fifo, lru, lfu, priority or token_aware_lru; did you mean 'lru'?",
        ),
        (
            "default_key_template: '{{ .workflow.input.user }}'\n",
            "default_key_template: is a template of Go; write {{ input.x }} for {{ .workflow.input.x }}",
        ),
        (
            "default_key_template: 'user:{{ input.user'\n",
            f"default_key_template: has a {{{{ without its }}}}; {TEMPLATES}",
        ),
        (
            "default_key_template: 'user:{{ user_id | lower }}'\n",
            (
                f"default_key_template: a name without a dot is not allowed; {TEMPLATES}; "
                "did you mean {{ input.user_id }}?"
            ),
        ),
    ],
)
def test_values_that_are_meant_well_are_refused_with_how_to_write_them(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "a.yaml").write_text(DESK + text, "utf-8")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {"COUNT": "lots"})
    assert [str(found) for found in caught.value.faults] == [f"{tmp_path}{os.sep}a.yaml:4: {fault}"]


def test_a_document_that_begins_otherwise_is_told_how(tmp_path: Path) -> None:
    misspelt, foreign = faults_of(
        tmp_path, "resorce: memory\nid: desk\n", "resource: memory\nid: b\u00fcro\nmax_tokens: 900\n"
    )
    assert misspelt == (
        "a.yaml:1: resource: is missing; a document begins with resource: memory or agent, and not with 'resorce'"
    )
    assert foreign.startswith("b.yaml:2: id: must be 1 to 100 lower-case letters")
    assert foreign.endswith("; one of its letters is not of a to z")
