"""Runs the work of a command that needs an open client."""

from __future__ import annotations

import asyncio
import os
import pwd
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import typer

from durable_memory.audit_log import keep_audit_log
from durable_memory.cli.absence import exists, say_absent
from durable_memory.cli.options import Connection, OneMemory
from durable_memory.cli.output import say
from durable_memory.cli.waking import CommandWaker
from durable_memory.logs import configure_logs
from durable_memory.memory.caller import ProcessCaller
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.clock import SystemClock
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.scopes import Scope
from durable_memory.memory.errors import MemoryAccessDenied, MemoryInvalid, MemoryKeyInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.memory import Memory
from durable_memory.memory.resolution import CalledFrom, resolve
from durable_memory.memory.settings import Settings
from durable_memory.memory.waking import FlushWaker

_Result = TypeVar("_Result")

_ONE_KEY: Final = "KEY, or --input, --workflow-id and --workflow-type"
"""What gives a command the key of one memory."""


async def open_client(settings: Settings, waker: FlushWaker) -> MemoryClient:
    """Returns a client of the memories that the settings name. Raises MemoryFault, in one sentence."""
    registry = Registry.load(settings.memories)
    refuse_without_redis(registry, settings)
    client = await MemoryClient.connect(
        memories=registry,
        waker=waker,
        summarizer=settings.own_summarizer(),
        **settings.of_client(),
    )
    return client.calling_as(ProcessCaller(SystemClock(), "cli", os_user=_account()))


def _account() -> str:
    """Returns the account that runs the command, as the system knows it; variables of the environment may say else."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)  # as in a container that runs under a number alone


def refuse_without_redis(registry: Registry, settings: Settings) -> None:
    """Refuses memories that are kept in a Redis that nobody has named, in the words of a command."""
    if not settings.redis_url and registry.uses("redis"):
        raise MemoryInvalid("REDIS_URL is not set, and the declared memories are kept in Redis; set it, or --redis-url")


def with_client(
    connection: Connection,
    work: Callable[[MemoryClient], Awaitable[_Result]],
    *,
    out_of_reach: Callable[[MemoryUnavailable], _Result] | None = None,
    **more: object,
) -> _Result:
    """Connects, does the work and closes.

    out_of_reach: makes the result where the store cannot be reached; without it that is an error. more: settings that
    are options of this command alone.
    """

    async def run() -> _Result:
        settings = connection.settings(**more)
        keep_logs(settings)
        waker = CommandWaker(settings.task_queue, settings.payload_keys)
        try:
            client = await open_client(settings, waker)
        except MemoryUnavailable as fault:
            if out_of_reach is None:
                raise
            return out_of_reach(fault)
        async with client:
            return await work(client)

    return asyncio.run(run())


def keep_logs(settings: Settings) -> None:
    """Keeps the audit of a command as the settings say, and its logs for people."""
    log_for_people(settings)
    keep_audit_log(settings.audit_log)


def log_for_people(settings: Settings) -> None:
    """Logs of a command go to stderr from warning on, for people, unless the environment says otherwise."""
    level = settings.log_level if "log_level" in settings.model_fields_set else "warning"
    configure_logs(level, settings.log_format if "log_format" in settings.model_fields_set else "console")


@dataclass(frozen=True, slots=True)
class Answer(Generic[_Result]):
    """What a memory answered. memory: its identity. exists: whether there is such a memory."""

    memory: MemoryId
    result: _Result
    exists: bool = True

    @property
    def title(self) -> str:
        """What stands above a table of it."""
        return f"{self.memory.resource}  {self.memory.key}"


def with_memory(at: OneMemory, work: Callable[[Memory], Awaitable[_Result]]) -> Answer[_Result]:
    """Does work on one memory, in the name of an agent if one is given; see `with_client`."""

    async def on_memory(client: MemoryClient) -> Answer[_Result]:
        memory = _opened(client, at)
        return Answer(memory.id, await work(memory))

    return with_client(at, on_memory)


def with_memory_if_any(
    at: OneMemory,
    work: Callable[[Memory], Awaitable[_Result]],
    *,
    empty: Callable[[_Result], bool],
    out_of_reach: Callable[[MemoryUnavailable], _Result] | None = None,
    **more: object,
) -> Answer[_Result]:
    """Does work as `with_memory`, and also finds out whether there is such a memory; says so if there is none.

    empty: tells by the result whether there may be none; only then somebody looks.
    """

    async def on_memory(client: MemoryClient) -> Answer[_Result]:
        memory = _opened(client, at)
        result = await work(memory)
        if not empty(result) or await exists(client, at.resource, memory.id.key):
            return Answer(memory.id, result)
        await say_absent(client, at.resource, memory.id.key)
        return Answer(memory.id, result, exists=False)

    def unknown(fault: MemoryUnavailable) -> Answer[_Result]:
        if out_of_reach is None:
            raise fault
        settings = at.settings(**more)
        with key_is_usage(_ONE_KEY, named=at.key is not None):
            found = resolve(at.ref, Registry.load(settings.memories), CalledFrom(settings.project))
        return Answer(found.memory, out_of_reach(fault))

    return with_client(at, on_memory, out_of_reach=unknown, **more)


def _opened(client: MemoryClient, at: OneMemory) -> Memory:
    """Opens the memory that a command names, and refuses one that it cannot see."""
    resource = client.registry.memory(at.resource)
    refuse_in_memory(resource)
    if at.agent is None:
        _refuse_nobody(client.registry, resource)
    with key_is_usage(_ONE_KEY, named=at.key is not None):
        return client.memory(at.ref)


@contextmanager
def key_is_usage(makes_it: str, *, named: bool = False) -> Iterator[None]:
    """Makes the error of a key that is neither named nor made one of wrong usage, which says what makes it here."""
    try:
        yield
    except MemoryKeyInvalid as invalid:
        if named:
            raise
        raise typer.BadParameter(f"{invalid.message} (here: {makes_it})") from None


def _refuse_nobody(registry: Registry, resource: MemoryResource) -> None:
    """Refuses a memory that only agents may use, and names those that `--agent` can name."""
    if resource.agents_only:
        agents = [agent.id for agent in registry.agents() if any(use.resource == resource.id for use in agent.uses)]
        named = f"name one with --agent: {', '.join(sorted(agents))}" if agents else "and no agent declares it"
        raise MemoryAccessDenied(f"memory {resource.id!r} is for agents only (agents_only: true); {named}")


def refuse_in_memory(resource: MemoryResource) -> None:
    """Refuses a resource whose memories live in another process: from here, all of them would look empty."""
    if resource.persistence.type == "in_memory":
        raise MemoryInvalid(
            f"{resource.id}: persistence.type in_memory keeps memories inside the process that uses them; "
            "this command cannot see them"
        )


def refuse_unseen(client: MemoryClient, resource: object) -> None:
    """Refuses the resource of this id if it is declared in_memory; stored memories of an undeclared one can be seen."""
    for declared in client.registry.memories():
        if declared.id == resource:
            refuse_in_memory(declared)


def say_unseen(client: MemoryClient, resource: str | None, scope: Scope | None) -> None:
    """Says which declared resources a command on a whole project or scope leaves out, as they are in_memory."""
    meant = client.registry.memories() if resource is None else ()
    unseen = [
        declared.id
        for declared in meant
        if declared.persistence.type == "in_memory" and scope in (None, declared.scope)
    ]
    if unseen:
        say(f"Left out, as persistence.type in_memory keeps them inside other processes: {', '.join(sorted(unseen))}")
