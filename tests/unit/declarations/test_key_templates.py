"""Key templates hold text and `{{ name.name | filter }}` only, and two inputs never share a memory by accident."""

from __future__ import annotations

import enum
import hashlib
import json
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from durable_memory.memory.errors import MemoryKeyInvalid
from durable_memory.memory.keys.templates import KeyTemplate, TemplateInvalid

VALUES: dict[str, dict[str, object]] = {
    "workflow": {"id": "order-7", "type": "Support"},
    "agent": {"id": "billing"},
    "project": {"id": "shop"},
    "input": {"user_id": 42, "name": "  Zoë ", "empty": "", "blank": "  ", "größe": "L"},
}


def render(source: str, **inputs: Any) -> str:
    return KeyTemplate.parse(source).render({**VALUES, "input": {**VALUES["input"], **inputs}}, "desk")


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("global", "global"),
        ("user:{{ input.user_id }}", "user:42"),
        ("user:{{input.user_id}}", "user:42"),
        ("{{ workflow.id }}", "order-7"),
        ("{{ workflow.type }}/{{ agent.id }}/{{ project.id }}", "Support/billing/shop"),
        ("u:{{ input.name | trim | lower }}", "u:zoë"),
        ("u:{{ input.missing | default('anyone') }}", "u:anyone"),
        ("u:{{ input.missing | default(7) }}", "u:7"),
        ("u:{{ input.user_id | default('anyone') }}", "u:42"),
        ("u:{{ input.missing | default(' A ') | trim | lower }}", "u:a"),
        ("{{ input.user_id | sha256 }}", hashlib.sha256(b"42").hexdigest()),
        ("{{ input.größe }}", "L"),
        ("a b {x} }} %} #}", "a b {x} }} %} #}"),
    ],
)
def test_what_is_allowed_renders(source: str, key: str) -> None:
    assert render(source) == key


class Tier(str, enum.Enum):  # noqa: UP042 - the older kind, whose str() is its name
    GOLD = "gold"


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(("value", "key"), [(Tier.GOLD, "u:gold"), (Level.LOW, "u:1")])
def test_a_member_of_an_enum_renders_as_the_value_that_a_worker_would_get_in_its_place(value: object, key: str) -> None:
    assert render("u:{{ input.tier }}", tier=value) == render("u:{{ input.tier }}", tier=json.loads(json.dumps(value)))
    assert render("u:{{ input.tier }}", tier=value) == key


ATTACKS = [
    "{{ 'x' * 10**9 }}",
    "{{ 7*7 }}",
    "{{ input.user_id + 1 }}",
    "{{ input.user-id }}",
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ input.__class__ }}",
    "{{ input._private }}",
    "{{ input['user_id'] }}",
    "{{ input.user_id[0] }}",
    "{{ input.items() }}",
    "{{ input.user.id }}",
    "{{ range(10) }}",
    "{{ input }}",
    "{{ user_id }}",
    "{{ 'text' }}",
    "{{ 42 }}",
    "{{ input.a ~ input.b }}",
    "{{ input.a if input.b else input.c }}",
    "{{ not input.a }}",
    "{{ input.a == input.b }}",
    "{{ [input.a] }}",
    "{{ {'a': input.a} }}",
    "{{ input.a, input.b }}",
    "{{ input.a is defined }}",
    "{{ self.x }}",
    "{{ config.items }}",
    "{{ cycler.next }}",
    "{% for x in input.a %}{{ x }}{% endfor %}",
    "{% if input.a %}x{% endif %}",
    "{% set x = 1 %}x",
    "{% include 'x' %}",
    "{% filter lower %}X{% endfilter %}",
    "{% raw %}{{ x }}{% endraw %}",
    "a{# comment #}",
    "{{ input.a | upper }}",
    "{{ input.a | safe }}",
    "{{ input.a | attr('x') }}",
    "{{ input.a | map('lower') }}",
    "{{ input.a | lower(1) }}",
    "{{ input.a | trim('x') }}",
    "{{ input.a | trim(chars='x') }}",
    "{{ input.a | lower(*input.b) }}",
    "{{ input.a | default }}",
    "{{ input.a | default('x', true) }}",
    "{{ input.a | default(input.b) }}",
    "{{ input.a | default('') }}",
    "{{ input.a | default(none) }}",
    "{{ input.a | default(true) }}",
    "{{ input.a | default(1.5) }}",
    "{{ input.a | lower | default('x') }}",
    "{{ input.a",
    "{{ }}",
    "{{ input. }}",
    "{%",
    "x{{ " + "(" * 400 + "input.a" + ")" * 400 + " }}",
    "{{ workflow.name }}",
    "{{ agent.key }}",
    "{{ env.HOME }}",
    "{{ input.a }}{{ input.b }}",
    "",
    " user:{{ input.a }}",
    "user:{{ input.a }} ",
    "user:{{ input.a }}\n",
    "user:\x00{{ input.a }}",
    "x" * 257,
    "x" * 2000,
]


@pytest.mark.parametrize("source", ATTACKS)
def test_anything_else_is_an_error_at_load(source: str) -> None:
    with pytest.raises(TemplateInvalid):
        KeyTemplate.parse(source)


def test_attacks_are_refused_without_being_run() -> None:
    # Run, this would be more text than any machine holds.
    with pytest.raises(TemplateInvalid, match="the expression mul is not allowed"):
        KeyTemplate.parse("{{ 'x' * 10**18 }}")


def test_a_hyphen_in_a_name_is_named_as_what_is_wrong() -> None:
    with pytest.raises(TemplateInvalid, match=r"^a '-', in a name too, is not allowed"):
        KeyTemplate.parse("user:{{ input.user-id }}")


def test_the_run_id_is_refused_with_the_reason() -> None:
    with pytest.raises(TemplateInvalid, match="changes at continue-as-new") as caught:
        KeyTemplate.parse("{{ workflow.run_id }}")
    assert "write workflow.id" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "near"),
    [("{{ inputs.user }}", "input.user"), ("{{ workflow.ids }}", "workflow.id"), ("{{ input.a | lowr }}", "lower")],
)
def test_a_misspelling_is_answered_with_what_was_meant(source: str, near: str) -> None:
    with pytest.raises(TemplateInvalid, match=f"did you mean '{near}'"):
        KeyTemplate.parse(source)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "is null"),
        (True, "is a bool"),
        (1.5, "is a float"),
        ([1], "is a list"),
        ({"a": 1}, "is a dict"),
        (b"x", "is a bytes"),
        ("", "is empty"),
        (10**300, "is too large a number"),
        ("x\ud800", "has half of a surrogate pair"),
    ],
)
def test_a_value_that_many_callers_could_share_is_an_error_that_names_the_variable(value: object, problem: str) -> None:
    with pytest.raises(MemoryKeyInvalid, match=rf"memory 'desk': the key needs input\.user_id, which {problem}"):
        render("user:{{ input.user_id }}", user_id=value)


def test_null_is_an_error_also_beside_a_default() -> None:
    with pytest.raises(MemoryKeyInvalid, match="is null"):
        render("user:{{ input.user_id | default('anyone') }}", user_id=None)


def test_a_missing_variable_is_an_error_and_never_the_raw_text() -> None:
    with pytest.raises(MemoryKeyInvalid, match=r"input\.missing, which is not given"):
        render("user:{{ input.missing }}")


def test_a_value_that_a_filter_empties_is_an_error() -> None:
    with pytest.raises(MemoryKeyInvalid, match=r"input\.blank, which is empty"):
        render("user:{{ input.blank | trim }}")


@pytest.mark.parametrize("value", ["{{7*7}}", "x:*", "''.__class__", "{% raw %}", "${HOME}", "%s", "\\1"])
def test_values_are_data_and_never_run(value: str) -> None:
    assert render("user:{{ input.user_id }}", user_id=value) == f"user:{value}"


def test_the_rendered_key_obeys_the_key_rule() -> None:
    with pytest.raises(MemoryKeyInvalid, match="control character"):
        render("user:{{ input.user_id }}", user_id="a\nb")
    with pytest.raises(MemoryKeyInvalid, match="at most 256"):
        render("user:{{ input.user_id }}", user_id="a" * 256)
    with pytest.raises(MemoryKeyInvalid, match="begins or ends with space"):
        render("user:{{ input.user_id }}", user_id="a ")


def test_an_error_never_repeats_a_value() -> None:
    for value in ("top-secret\n", "top-secret" * 100, ["top-secret"], "top-secret:top-secret"):
        with pytest.raises(MemoryKeyInvalid) as caught:
            render("{{ input.user_id }}:{{ workflow.id }}", user_id=value)
        assert "top-secret" not in str(caught.value)


def test_both_spellings_of_a_letter_reach_one_memory_also_when_hashed() -> None:
    assert render("{{ input.n | sha256 }}", n="zoë") == render("{{ input.n | sha256 }}", n="zoe\N{COMBINING DIAERESIS}")


def test_a_value_cannot_pretend_to_be_two() -> None:
    two = "{{ input.tenant }}:{{ input.user }}"
    assert render(two, tenant="a", user="b:c") == "a:b:c"
    with pytest.raises(MemoryKeyInvalid, match=r"input\.tenant contains the text"):
        render(two, tenant="a:b", user="c")
    assert render("{{ input.tenant | sha256 }}:{{ input.user }}", tenant="a:b", user="c").endswith(":c")
    # A separator that overlaps itself: xa + aa + b and x + aa + ab would both be xaaab.
    with pytest.raises(MemoryKeyInvalid, match=r"input\.tenant contains the text"):
        render("{{ input.tenant }}aa{{ input.user }}", tenant="xa", user="b")


PARTS = st.text("ab:-/é", min_size=1, max_size=4)


@given(
    separators=st.lists(st.text("ab:-/", min_size=1, max_size=3), min_size=1, max_size=3),
    data=st.data(),
)
def test_different_values_never_give_the_same_key(separators: list[str], data: st.DataObject) -> None:
    names = [f"v{index}" for index in range(len(separators) + 1)]
    source = "{{ input.v0 }}" + "".join(
        f"{separator}{{{{ input.{name} }}}}" for separator, name in zip(separators, names[1:], strict=True)
    )
    template = KeyTemplate.parse(source)
    keys: dict[str, tuple[str, ...]] = {}
    for values in data.draw(st.lists(st.tuples(*[PARTS] * len(names)), min_size=2, max_size=30)):
        try:
            key = template.render({"input": dict(zip(names, values, strict=True))}, "desk")
        except MemoryKeyInvalid:
            continue
        assert keys.setdefault(key, values) == values


@pytest.mark.parametrize(
    ("source", "inputs", "named"),
    [
        ("tenant={{ input.t }};user={{ input.u }}", {"t": "acme", "u": "\u0338x;user=bob"}, "input.u"),
        ("{{ input.t }}\u0301:{{ input.u }}", {"t": "e", "u": "x"}, "input.t"),
        ("{{ input.t }}", {"t": "\u0338"}, None),
        ("{{ input.t }}-cafe\u0301-{{ input.u }}", {"t": "x-caf\u00e9-y", "u": "z"}, "input.t"),
        ("{{ input.t }}:\u1100{{ input.u }}", {"t": "x", "u": "\u1161"}, "input.u"),
        ("{{ input.t | lower }}/{{ input.u }}", {"t": "J\u030c", "u": "x"}, None),
    ],
)
def test_a_value_that_unites_with_the_text_beside_it_is_refused(
    source: str, inputs: dict[str, str], named: str | None
) -> None:
    try:
        render(source, **inputs)
        refused = None
    except MemoryKeyInvalid as error:
        refused = str(error).removeprefix("memory 'desk': ").partition(" ")[0]
    assert refused == named


UNITING = st.text("e=<\u0338\u0301\u0327\u00e9\u2260;\u1100\u1161\u11a8\uac00", min_size=1, max_size=3)


@given(
    texts=st.tuples(UNITING | st.just(""), UNITING, UNITING | st.just("")),
    first=st.tuples(UNITING, UNITING),
)
@example(texts=("=", ";=", ""), first=("e", "\u0338;=e"))
def test_the_joints_of_values_and_texts_let_no_two_lists_of_values_meet(
    texts: tuple[str, str, str], first: tuple[str, str]
) -> None:
    template = KeyTemplate.parse(f"{texts[0]}{{{{ input.a }}}}{texts[1]}{{{{ input.b }}}}{texts[2]}")

    def key_of(values: tuple[str, str]) -> str | None:
        try:
            return template.render({"input": {"a": values[0], "b": values[1]}}, "desk")
        except MemoryKeyInvalid:
            return None

    joined = unicodedata.normalize("NFC", texts[0] + first[0] + texts[1] + first[1] + texts[2])
    left = len(joined) - sum(len(unicodedata.normalize("NFC", text)) for text in texts)
    pieces = {joined[start:end] for start in range(len(joined)) for end in range(start + 1, len(joined) + 1)}
    values = [(a, b) for a in pieces for b in pieces if len(a) + len(b) == left]
    found = [both for both in values if key_of(both) == joined]
    assert len(found) <= 1
    assert template.could_render(joined) == bool(found)


@given(st.text(max_size=80))
@example("{{ input.a }}")
@example("{{ input.a | default('x') | lower }}")
@example("{%- -%}")
@example("{{ input.a|trim|sha256 }}:x")
def test_any_text_is_either_refused_or_renders_a_valid_key(source: str) -> None:
    try:
        template = KeyTemplate.parse(source)
    except TemplateInvalid:
        return
    key = template.render({"input": {"a": "v"}, **{k: v for k, v in VALUES.items() if k != "input"}}, "desk")
    assert 1 <= len(key) <= 256
    assert key == unicodedata.normalize("NFC", key.strip())


@given(st.text("{}%#|. input.abc_'()*+[]~0", max_size=60))
def test_text_made_of_template_signs_never_fails_otherwise(source: str) -> None:
    try:
        parsed = KeyTemplate.parse(source)
    except TemplateInvalid:
        return
    assert parsed.source == source
