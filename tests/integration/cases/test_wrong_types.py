"""Whatever stands in the place of an argument, the answer is an error of ours that names it, never one from inside.

Each operation of a program is tried with each argument that it takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from durable_memory import (
    AgentRef,
    DeclaredAgent,
    EncryptionCodec,
    Memory,
    MemoryClient,
    MemoryId,
    MemoryPlugin,
    MemoryRef,
    Registry,
)
from durable_memory.memory.errors import MemoryFault, MemoryInvalid
from tests.integration.cases.conftest import unique

NOTHING: Final[Any] = object()
"""Fits nowhere."""

HUGE: Final = 10**5000
"""Python refuses to write it: it has more than 4,300 digits."""

ODD: Final[tuple[Any, ...]] = (
    *(None, 5, 2.5, True, b"x", "x", ["x"], [5], {"a": 1}, {1, 2}, [None], [[]], (), {}),
    *(HUGE, -HUGE, [HUGE], {HUGE: 1}, {"a": HUGE}, {"role": HUGE}),
)
"""Fit here and there."""

EXPORT: Final = ('{"format":"durable-memory-messages","version":1,"resource":"chat","export":"e"}', '{"key":"k"}')
NEEDED: Final[Mapping[type, Mapping[str, dict[str, Any]]]] = {
    Memory: {
        **{name: {"messages": "hello"} for name in ("append", "record_turn", "write")},
        **{name: {"ids": ["a-1-b"]} for name in ("touch", "pin", "unpin", "delete")},
        "clear": {"confirm": True},
        "restore": {"backup_id": "x"},
        "recorded_turn": {"operation_id": "x"},
    },
    DeclaredAgent: {"record_turn": {"messages": "hello"}, "recorded_turn": {"operation_id": "x"}},
    MemoryClient: {
        "purge": {"resource": "chat", "dry_run": False, "confirm": True},
        "export_messages": {"resource": "chat"},
        "import_messages": {"lines": EXPORT},
        "memory": {"resource": "chat"},
        "agent": {"agent": "clerk"},
    },
}
"""What a call has to have beside the argument that is wrong."""

NOT_CALLED: Final = ("calling_as", "connect", "services")
"""Of the client: for the parts of the product, and what opens one."""

TRUTH: Final = (("append", "want_view"), ("health", "check_connectivity"))
"""Only the truth of these is asked for, and everything has one."""


EACH: Final = [
    (kind, name, argument)
    for kind in NEEDED
    for name, method in inspect.getmembers(kind, inspect.isroutine)
    if not name.startswith("_") and name not in NOT_CALLED
    for argument in list(inspect.signature(method).parameters)[1:]
]
"""Every argument of every operation."""


@pytest.fixture
def handles(client: MemoryClient) -> dict[type, Any]:
    """A client, and its handles on a memory and on an agent, in a project of the test's own."""
    [persistence] = client.parts.backends
    declared: list[dict[str, Any]] = [
        {"resource": "memory", "id": "chat", "max_tokens": 4000, "persistence": {"type": persistence}},
        {"resource": "agent", "id": "clerk", "memory": "chat", "memory_key": "user:{{ input.user_id }}"},
    ]
    own = MemoryClient(Registry.from_resources(declared), client.parts.backends, project=unique("types"))
    return {
        Memory: own.memory("chat", "k"),
        DeclaredAgent: own.agent("clerk", input={"user_id": "1"}),
        MemoryClient: own,
    }


async def ended(call: Callable[..., Any], given: dict[str, Any]) -> None:
    """Calls, waits for the answer, and goes through what a generator yields."""
    answer = call(**given)
    if inspect.isasyncgen(answer):
        _ = [each async for each in answer]
    elif inspect.isawaitable(answer):
        await answer


@pytest.mark.parametrize(("kind", "operation", "argument"), [each for each in EACH if each[1:] not in TRUTH])
async def test_what_fits_nowhere_is_refused_by_the_name_of_the_argument(
    handles: dict[type, Any], kind: type, operation: str, argument: str
) -> None:
    given = {**NEEDED[kind].get(operation, {}), argument: NOTHING}
    with pytest.raises(MemoryFault, match=rf"\b{argument}\b"):
        await ended(getattr(handles[kind], operation), given)


@pytest.mark.parametrize(("kind", "operation", "argument"), EACH)
async def test_what_is_odd_is_taken_or_refused_as_an_error_of_ours(
    handles: dict[type, Any], kind: type, operation: str, argument: str
) -> None:
    for value in ODD:
        with suppress(MemoryFault):
            await ended(getattr(handles[kind], operation), {**NEEDED[kind].get(operation, {}), argument: value})


@pytest.mark.parametrize("value", [*ODD[1:], NOTHING], ids=map(str, range(len(ODD))))  # a test cannot be called HUGE
async def test_references_and_identities_of_any_type_are_refused(handles: dict[type, Any], value: Any) -> None:
    own: MemoryClient = handles[MemoryClient]
    for wrong in (
        lambda: own.memory(MemoryRef(value, key="k")),
        lambda: own.memory(MemoryRef("chat", key="k", agent=value)),
        lambda: own.memory(MemoryRef("chat", input=value)),
        lambda: own.agent(AgentRef(value)),
        lambda: own.agent(AgentRef("clerk", value)),
        lambda: own.at(MemoryId("default", value, "k")),
    ):
        with pytest.raises(MemoryFault):
            wrong()


WRONG_IDS: Final = (*(value for value in ODD[1:] if value != "x"), NOTHING, "", "\ud800", "a\0", "w" * 1001)


@pytest.mark.parametrize("value", WRONG_IDS, ids=map(str, range(len(WRONG_IDS))))
@pytest.mark.parametrize("name", ["workflow_id", "workflow_type", "run_id"])
async def test_what_a_reference_says_of_a_workflow_is_an_id_or_refused(
    handles: dict[type, Any], name: str, value: Any
) -> None:
    own: MemoryClient = handles[MemoryClient]
    with pytest.raises(MemoryFault, match=f"^{name}: "):
        own.memory(MemoryRef("chat", key="k", **{name: value}))
    with pytest.raises(MemoryFault, match=f"^{name}: "):
        own.agent(AgentRef("clerk", **{name: value}))


@pytest.mark.parametrize("identity", [MemoryId(NOTHING, "chat", "k"), MemoryId("default", "chat", NOTHING)])
async def test_an_identity_with_a_part_that_is_no_text_is_refused(handles: dict[type, Any], identity: MemoryId) -> None:
    with pytest.raises(MemoryFault):
        handles[MemoryClient].at(identity)


@pytest.mark.parametrize("value", [5, b"x", [5], {1, 2}, NOTHING])
@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("redis_url", "Redis URL: must be text"),
        ("project", "project: must be "),
        ("prefix", "prefix: must be text"),
        ("waker", "waker: must be an object with the method wake"),
        ("summarizer", "summarizer: must be an object with the method summarize"),
        ("encoding", "encoding: must be the name"),
        ("encryption_keys", "encryption_keys: must be text"),
        ("telemetry_key", "telemetry_key: must be text"),
    ],
)
async def test_a_client_is_not_connected_with_what_cannot_be_an_argument(
    folder: Path, argument: str, problem: str, value: Any
) -> None:
    given: dict[str, Any] = {"redis_url": "redis://127.0.0.1:1", "memories": [folder], argument: value}
    with pytest.raises(MemoryInvalid, match=f"^{problem}"):
        await MemoryClient.connect(**given)


@pytest.mark.parametrize("value", [5, b"x", "./memories", Path("memories"), {"id": "chat"}, NOTHING])
def test_one_thing_is_not_taken_for_a_list_of_declarations(value: Any) -> None:
    with pytest.raises(MemoryInvalid, match=r"^the folders of declarations: must be a list of paths, .*, not "):
        Registry.load(value)
    with pytest.raises(MemoryInvalid, match=r"^the folders of declarations: must be a list of paths, .*, not "):
        MemoryPlugin(redis_url="redis://localhost", memories=value)
    with pytest.raises(MemoryInvalid, match=r"^the declarations: must be a list of mappings and models, not "):
        Registry.from_resources(value)


def test_what_is_no_declaration_is_named_by_its_place(folder: Path) -> None:
    mixed: list[Any] = [folder, 5, b"x"]
    with pytest.raises(MemoryInvalid, match="folder 2: must be a path, not int\nfolder 3: must be a path, not bytes"):
        Registry.load(mixed)
    mixed = [{"resource": "memory", "id": "chat", "max_tokens": 4000}, "chat"]
    with pytest.raises(MemoryInvalid, match="resource 2: must be a mapping, a MemoryResource or an AgentResource, not"):
        Registry.from_resources(mixed)


class Summaries:
    """A summariser of somebody's own."""

    max_input_tokens = None

    async def summarize(self, request: Any) -> str:
        return str(request)


async def test_a_class_is_not_taken_for_an_object_of_it(folder: Path) -> None:
    given: dict[str, Any] = {"memories": [folder], "summarizer": Summaries}
    with pytest.raises(MemoryInvalid, match=r"^summarizer: is the class Summaries; give an object of it$"):
        MemoryPlugin(redis_url="redis://localhost", **given)
    with pytest.raises(MemoryInvalid, match=r"^summarizer: is the class Summaries; give an object of it$"):
        await MemoryClient.connect("redis://127.0.0.1:1", **given)


@pytest.mark.parametrize("value", [None, 5, b"x", NOTHING])
def test_a_codec_takes_no_keys_that_are_no_text(value: Any) -> None:
    with pytest.raises(MemoryInvalid, match=r"^keys: must be text, not "):
        EncryptionCodec(value)


@pytest.mark.parametrize("value", [5, b"x", [5], NOTHING])
def test_a_plugin_puts_no_declarations_in_force_that_are_none(folder: Path, value: Any) -> None:
    with pytest.raises(MemoryInvalid, match=r"^registry: must be a Registry, as Registry.load gives it, not "):
        MemoryPlugin(redis_url="redis://localhost", memories=[folder]).use(value)
