"""The scripts: what changes a memory asks for the caller's mode first, and the parts are as they say."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory.memory.stores.redis.forms import COUNTERS, LIMITS, STATS
from durable_memory.memory.stores.redis.scripts import NUMBERS, filled_in, load_script
from tests.unit.stores.lua_chunks import MOST_LOCALS, Chunk, compiled

PACKAGE = "durable_memory.memory.stores.redis"
FILES = {
    path.name.removesuffix(".lua"): filled_in(path.read_text())
    for path in files(PACKAGE).iterdir()
    if path.name.endswith(".lua")
}
CODE = {
    path.name.removesuffix(".lua"): re.sub("--.*", "", path.read_text())
    for path in files(PACKAGE).iterdir()
    if path.name.endswith(".lua")
}
"""Without comments, so without the lines that name numbers."""
PARTS = {name.removeprefix("part_"): text for name, text in FILES.items() if name.startswith("part_")}
SCRIPTS = sorted(FILES.keys() - {f"part_{name}" for name in PARTS})
OF_PROJECTS = ("index_", "fleet_", "key_checks_", "spend", "start", "probe")
OF_A_MEMORY = {name for name in SCRIPTS if not name.startswith(OF_PROJECTS)}
READ = {"read", "find", "touch", "stats", "plan", "scan", "recorded", "check_rights"}
NEED_A_BATCH = {"content", "draft", "renew", "fail"}
"""Only a begin gives one."""

OF_THE_SERVER = frozenset(
    {"ARGV", "KEYS", "error", "ipairs", "math", "next", "pairs", "pcall", "redis", "string", "struct", "table"}
    | {"tonumber", "tostring", "type", "unpack"}
)
"""What a script finds when it begins."""

ROOM_FOR_LOCALS = 20
"""So many more a script can have, so that the next change of a part does not have to make room first."""


@pytest.fixture(scope="module")
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


def said(label: str, text: str) -> set[str]:
    """Returns the names in the lines of this label, or of one of several."""
    return {
        name
        for names in re.findall(rf"^ *-- (?:{label}): (.*)", text, re.MULTILINE)
        for name in re.findall(r"\w+", names)
    }


GATE = re.compile(
    r"\[MODE\] > 0|^local refused = (?P<what>\w+)_refused\(\)(?P<deadline> or deadline_refused\(\))?\nif refused then$",
    re.MULTILINE,
)
"""Where a script refuses a caller: heal as the first says, since all parts would meet the damage."""


@pytest.mark.parametrize("name", sorted(OF_A_MEMORY - READ - NEED_A_BATCH))
def test_a_script_that_changes_a_memory_asks_for_the_mode_before_it_looks_at_anything(name: str) -> None:
    source = re.sub("--.*", "", load_script(name).source.decode())
    gate = GATE.search(source)
    assert gate
    assert set(re.findall(r"redis\.p?call\('(\w+)'", source[: gate.start()])) <= {"TIME"}


@pytest.mark.parametrize("name", sorted(OF_A_MEMORY - READ - NEED_A_BATCH - {"heal"}))
def test_only_an_append_is_open_to_a_caller_who_may_append(name: str) -> None:
    gates = [gate["what"] for gate in GATE.finditer(FILES[name])]
    assert gates == ["append" if name in ("append", "try_append") else "change"]


@pytest.mark.parametrize("name", [name for name in SCRIPTS if "call" in said("parts", FILES[name])])
def test_a_script_with_a_deadline_asks_for_it_before_it_looks_at_anything(name: str) -> None:
    assert [bool(gate["deadline"]) for gate in GATE.finditer(FILES[name])] == [True]


async def compiled_file(redis: Redis, name: str) -> Chunk:
    text = FILES[name].removeprefix("#!lua")
    return await compiled(redis, text if name.startswith("part_") else f"do\n{text}\nend")


async def compiled_script(redis: Redis, name: str) -> Chunk:
    source = load_script(name).source.decode().removeprefix("#!lua")
    return await compiled(redis, f"do\n{source}\nend")


@pytest.mark.parametrize("name", sorted(FILES))
async def test_a_file_says_which_parts_it_uses_and_names_no_other(redis: Redis, name: str) -> None:
    used = (await compiled_file(redis, name)).free
    given = {part: said("gives", PARTS[part]) for part in said("needs|parts", FILES[name])}
    assert used - OF_THE_SERVER <= set().union(*given.values())
    assert {part for part, names in given.items() if names and not names & used} == set()


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_says_at_its_head_what_it_is_and_needs_and_gives(name: str) -> None:
    assert re.match(r"(-- (?!needs|gives).*\n)+(-- needs: .*\n)?(-- gives: .*\n)*\n", PARTS[name])


@pytest.mark.parametrize("name", sorted(PARTS))
async def test_a_part_gives_what_it_says(redis: Redis, name: str) -> None:
    assert said("gives", PARTS[name]) <= (await compiled_file(redis, f"part_{name}")).given


async def test_a_part_gives_nothing_that_nobody_uses(redis: Redis) -> None:
    used = {name: (await compiled_file(redis, name)).free for name in FILES}
    by_others = {part: set().union(*(used[name] for name in FILES if name != f"part_{part}")) for part in PARTS}
    assert [
        (part, name) for part, text in PARTS.items() for name in said("gives", text) - by_others[part] - {"rule"}
    ] == []


@pytest.mark.parametrize("name", sorted(NUMBERS))
async def test_a_number_that_python_has_too_is_what_scripts_count_by(redis: Redis, name: str) -> None:
    assert any(re.search(rf"\b{name}\b", text) for text in CODE.values())
    assert (
        await redis.eval(
            f"{filled_in(f'  -- numbers: {name}')} return tostring({name} == ARGV[1] + 0)", 0, NUMBERS[name]
        )
        == b"true"
    )


def worked_out(literals: str) -> int:
    """Returns the number that a literal, or a product of literals and of their powers, stands for."""
    return math.prod(
        int(float(base)) ** int(float(power or 1)) for base, _, power in (f.partition("^") for f in literals.split("*"))
    )


def written_numbers(code: str) -> list[str]:
    """Returns where code has a number of NUMBERS in digits.

    Small ones mean something else in other places: they are looked for in comparisons, where the next smaller one says
    the same, and in what is given a name.
    """
    numbers = {*NUMBERS.values(), NUMBERS["LONGEST_KEPT_MS"] + NUMBERS["KEPT_AFTER_DEADLINE_MS"]}
    limits = {number - less for number in numbers for less in (0, 1)}
    literal = r"(?<![\w.])\d+(?:e\d+)?\b"
    products = re.findall(rf"{literal}(?: *[*^] *{literal})*", code)
    named = "|".join(NUMBERS)
    return [
        *(found for found in products if worked_out(found) in numbers and (worked_out(found) > 1_000 or "*" in found)),
        *(found for found in re.findall(rf"(?<!#ARGV )[<>]=? *({literal})", code) if worked_out(found) in limits - {0}),
        *(found for found in re.findall(rf"(?m)local \w+ = ({literal})\s*$", code) if worked_out(found) in numbers),
        *re.findall(rf"{literal} *[*] *(?:{named})\b|\b(?:{named}) *[*] *{literal}", code),
    ]


@pytest.mark.parametrize("name", sorted(CODE))
def test_no_script_writes_such_a_number_itself(name: str) -> None:
    assert written_numbers(CODE[name]) == []


@pytest.mark.parametrize(
    "code",
    [
        "if others > 7 then",
        "if others >= 8 then",
        "local STEP = 2 ^ 33",
        "return band * 2 ^ 48",
        "local STEPS = 32",
        "local MOST_STEPS = 20 * STEPS",
        "local TICKS_PER_MS = 1024",
        "now + 172860000",
        "now - 60 * 1000",
        "now + 24 * 60 * 60 * 1000",
        "(now - 1577836800000) / 86400000",
        "redis.call('ZCARD', key.opx) < 1e5",
        "if #joined > 64 then",
    ],
)
def test_such_a_number_is_found_however_it_is_written(code: str) -> None:
    assert written_numbers(code) != []


async def test_no_name_stands_in_two_parts(redis: Redis) -> None:
    names = [name for part in sorted(PARTS) for name in (await compiled_file(redis, f"part_{part}")).given]
    assert sorted(names) == sorted(set(names))


def test_every_field_of_a_plan_is_listed_where_plans_are_made() -> None:
    made = CODE["part_place"].partition("local function new_plan")[2].partition("\nend")[0]
    used = {field for code in CODE.values() for field in re.findall(r"\bplan\.(\w+)", code)}
    assert set(re.findall(r"(\w+) = ", made)) == used


def test_each_part_is_part_of_a_script() -> None:
    sources = "\n".join(load_script(name).source.decode() for name in SCRIPTS)
    assert [part for part, text in PARTS.items() if text.splitlines()[0] not in sources] == []


def test_counters_are_read_in_the_order_in_which_they_are_stored() -> None:
    assert " ".join(COUNTERS) == (
        "version seq fence created_at updated_at expires_at moment system_tokens system_messages long_tokens "
        "long_messages short_tokens short_messages pinned_tokens pinned_messages waiting_tokens waiting_messages "
        "flush_retry_at flush_at prune_at ops_until"
    )


def fives(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}


@pytest.mark.parametrize("name", sorted(CODE))
def test_no_script_writes_a_packed_list_itself(name: str) -> None:
    words = re.findall(r"\w+", re.sub(r"\bm\.", "", CODE[name]))
    assert fives(words) & (fives(COUNTERS) | fives(LIMITS) | fives(STATS)) == set()


def test_a_list_stands_in_a_script_as_it_is_or_with_something_around_each_name() -> None:
    assert filled_in("local <COUNTERS>").startswith("local version, seq, fence, ")
    assert filled_in("{<LIMITS: % = m.%>}").startswith("{max_tokens = m.max_tokens, max_messages = m.max_messages")


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_has_all_the_parts_that_it_uses(redis: Redis, name: str) -> None:
    assert (await compiled_script(redis, name)).free <= OF_THE_SERVER


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_stays_clear_of_the_most_locals_that_lua_has(redis: Redis, name: str) -> None:
    assert MOST_LOCALS - (await compiled_script(redis, name)).most_locals >= ROOM_FOR_LOCALS


async def test_the_rights_to_all_that_scripts_of_a_memory_write_are_asked_for_first_and_to_nothing_that_none_calls(
    redis: Redis,
) -> None:
    sources = "".join(load_script(name).source.decode() for name in OF_A_MEMORY)
    called = sorted(set(re.findall(r"redis\.p?call\('(\w+)'", sources)))
    known: Any = await redis.execute_command("COMMAND", "INFO", *called)  # type: ignore[no-untyped-call] # not typed there
    written = {name.upper() for name, facts in known.items() if "write" in facts["flags"]}
    needed = set(re.findall(r"'([A-Z]+)'", FILES["part_rights"].split("local needed")[1].split("}")[0]))
    assert {"HSET", "ZADD", "UNLINK"} <= written
    assert written <= needed
    assert needed <= set(called)
