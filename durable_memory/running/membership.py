"""Which group each running worker of a plugin belongs to, also after it was given another Temporal client."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import AsyncIterator, Callable
from contextvars import Context
from typing import TypeAlias

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.memory.client import MemoryClient
from durable_memory.running.worker_group import WorkerGroup

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 5
_Place: TypeAlias = tuple[asyncio.AbstractEventLoop, str, str]
"""Workers with the same three share a group: event loop, Temporal's address, namespace."""


class WorkerGroups:
    """The groups of one plugin, one for each place where workers of its users run."""

    def __init__(self, make_group: Callable[[Client, WorkerGroup | None], WorkerGroup]) -> None:
        """make_group: makes one for the workers of a client, after the one that is closing in the same place."""
        self._make_group = make_group
        self._groups: dict[_Place, WorkerGroup] = {}
        self._joined: weakref.WeakKeyDictionary[Worker, WorkerGroup] = weakref.WeakKeyDictionary()
        """The running workers of users, each with its group."""

    @contextlib.asynccontextmanager
    async def joined(self, worker: Worker) -> AsyncIterator[WorkerGroup]:
        """Lets a user's worker belong to a group while the context is open; the last one to leave closes the group."""
        group = self._joined[worker] = self._group_of(worker.client)
        group.users += 1
        try:
            yield group
        finally:
            group.users -= 1
            if not group.users:
                await group.close()
                self._groups = {place: each for place, each in self._groups.items() if each is not group}

    @contextlib.asynccontextmanager
    async def followed(self, worker: Worker, group: WorkerGroup) -> AsyncIterator[None]:
        """Gives the plugin's own workers each client that a user's worker is given meanwhile, also if no activity runs.

        Their polls would end with the certificate of the old one.
        """
        following = asyncio.create_task(self._follow(worker, group))
        try:
            yield
        finally:
            following.cancel()
            await asyncio.wait([following])

    def of_activity(self, client: Client) -> WorkerGroup:
        """Returns the group of the running worker whose activities have this client."""
        group = self._groups.get(_place(client))
        if group is None or group.ended or client not in group.clients:
            return self._after_exchange(client)
        return group

    def open_clients(self) -> list[MemoryClient]:
        """Returns the memory clients whose connections are open."""
        return [client for group in self._groups.values() if (client := group.open_client) is not None]

    def note_end(self, namespace: str, workflow_id: str) -> None:
        """Tells the groups of a namespace of a workflow that one of them saw end. For any thread."""
        for group in {group for (_, _, there), group in list(self._groups.items()) if there == namespace}:
            with contextlib.suppress(RuntimeError):  # its loop is closed
                # A context of its own, since the work is no part of the workflow, whose span has ended.
                group.loop.call_soon_threadsafe(group.ended_workflows.note, workflow_id, context=Context())

    def _group_of(self, client: Client) -> WorkerGroup:
        """Returns the group that a worker of this client joins; a new one if there is none, or it is closing."""
        place = _place(client)
        group = self._groups.get(place)
        if group is None or group.closing:
            group = self._groups[place] = self._make_group(client, group)
        group.clients.add(client)
        return group

    async def _follow(self, worker: Worker, group: WorkerGroup) -> None:
        given_up: Client | None = None
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if worker.is_running and worker.client is not given_up and worker.client not in group.clients:
                try:
                    self._after_exchange(worker.client)
                except Exception:  # noqa: BLE001 - logged here, since nobody waits for this task
                    _log.exception(
                        "a worker was given another Temporal client, and the plugin's own workers could not take it: "
                        "they go on with the old one"
                    )
                    given_up = worker.client

    def _after_exchange(self, client: Client) -> WorkerGroup:
        """Finds the group of the running worker whose client was replaced by this one, perhaps at another address."""
        place = _place(client)
        for worker, group in list(self._joined.items()):
            if worker.client is client and worker.is_running and group.loop is place[0]:
                group.follow(client)
                there = self._groups.get(place)
                if there is None or there.ended:
                    there = self._groups[place] = group
                there.clients.add(client)
                return there
        raise RuntimeError("no running worker of this plugin has the client of this activity")


def _place(client: Client) -> _Place:
    return asyncio.get_running_loop(), client.service_client.config.target_host, client.namespace
