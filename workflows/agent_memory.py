"""The handle on a memory inside a workflow: each method is one activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from temporalio import workflow

from durable_memory.activities import operations, requests
from durable_memory.memory.types import (
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushResult,
    GroupBy,
    MemoryHealth,
    MemoryRef,
    MemoryStats,
    MessageInput,
    Section,
    Turn,
    View,
    checked_texts,
    refuse_beside_reference,
    refuse_no_reference,
)
from durable_memory.workflows.calling import FLUSH, Calls, call_locally, checked, checked_json, wire_ids, wire_messages
from durable_memory.workflows.references import for_calls, for_others
from durable_memory.workflows.use import HandleUse


class AgentMemory:
    """A memory as a workflow uses it.

    resource: id of a declared memory, or a reference, as another workflow has passed it on. Its key is `key`, or what
    the worker renders from `input` with the key template of the agent or the resource. agent: the declared agent that
    calls; it signs its messages. A reference holds these three. task_queue: where the calls run, the workflow's own
    queue by default. activity_config: overrides of the timeouts and the retry policy.

    A call that fails for good raises Temporal's ActivityError; the `type` of its cause is the name of one of the errors
    of `durable_memory`. Input that could not be carried (bytes, NaN, unknown roles, more than 1.5 MB)
    raises an ApplicationError of type MemoryInvalid before any command is made.
    """

    def __init__(
        self,
        resource: str | MemoryRef,
        key: str | None = None,
        *,
        input: Mapping[str, Any] | None = None,
        agent: str | None = None,
        task_queue: str | None = None,
        activity_config: workflow.ActivityConfig | None = None,
    ) -> None:
        if isinstance(resource, MemoryRef):
            checked(refuse_beside_reference, key=key, input=input, agent=agent)
            ref = resource
        else:
            checked(refuse_no_reference, "resource", resource, MemoryRef)
            variables = None if input is None else checked_json(input, "input")
            ref = MemoryRef(resource, key=key, input=variables, agent=agent)
        self._calls = Calls(task_queue, activity_config)
        self._use = HandleUse(f"memory {ref.resource}")
        self._ref = for_calls(ref)

    @property
    def ref(self) -> MemoryRef:
        """A small reference to pass to an activity, which opens it with `current_memory_client().memory(ref)`.

        It means this memory to whoever opens it, another workflow too: `AgentMemory(ref)`.
        """
        self._use.note()
        return for_others(self._ref)

    async def append(
        self,
        messages: MessageInput | Sequence[MessageInput],
        *,
        want_view: bool = False,
        operation_id: str | None = None,
    ) -> AppendResult:
        """Appends messages (text is a user message), all or none; see Memory.append."""
        request = requests.AppendRequest(self._memory(), wire_messages(messages), operation_id, want_view)
        return await self._calls.call(operations.APPEND, request)

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> Turn:
        """Appends the messages of one turn and returns what the memory holds for it; see Memory.record_turn.

        The turn becomes part of the workflow's history twice: record it in the activity that calls the model where
        you can.
        """
        request = requests.RecordTurnRequest(self._memory(), wire_messages(messages), operation_id)
        return await self._calls.call(operations.RECORD_TURN, request)

    async def recorded_turn(self, *, operation_id: str) -> Turn | None:
        """Returns the turn that is recorded under this operation id, or None; see Memory.recorded_turn."""
        request = requests.RecordedTurnRequest(self._memory(), operation_id)
        return (await self._calls.call(operations.RECORDED_TURN, request)).turn

    async def read(
        self,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        sections: Sequence[Section] | None = None,
        ids: Sequence[str] | None = None,
        before_id: str | None = None,
        since_version: str | None = None,
        authors: bool = False,
        local: bool = False,
    ) -> View:
        """Returns the view.

        See Memory.read. The view becomes part of the workflow's history: pass `ref` where you can. local: read in a
        local activity, on this worker and with fewer events; it takes none of the handle's `task_queue` and
        `activity_config`.
        """
        request = requests.ReadRequest(
            self._memory(),
            limit=limit,
            max_tokens=max_tokens,
            sections=None
            if sections is None
            else list(checked(checked_texts, sections, "sections", "names of sections")),
            ids=None if ids is None else wire_ids(ids),
            before_id=before_id,
            since_version=since_version,
            authors=authors or None,
        )
        if local:
            return await call_locally(operations.READ, request)
        return await self._calls.call(operations.READ, request)

    async def write(
        self,
        messages: MessageInput | Sequence[MessageInput],
        *,
        if_version: str | None = None,
        operation_id: str | None = None,
    ) -> AppendResult:
        """Replaces the memory by `messages`; see Memory.write."""
        request = requests.WriteRequest(self._memory(), wire_messages(messages), if_version, operation_id)
        return await self._calls.call(operations.WRITE, request)

    async def touch(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Records an access to these messages, for lru, lfu and token_aware_lru; returns the ids that are live."""
        request = requests.TouchRequest(self._memory(), wire_ids(ids))
        return (await self._calls.call(operations.TOUCH, request)).touched

    async def pin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Keeps these messages with their groups in the view until they are unpinned; see Memory.pin."""
        request = requests.PinRequest(self._memory(), wire_ids(ids), operation_id)
        return (await self._calls.call(operations.PIN, request)).touched

    async def unpin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Lets these messages go like others again; see Memory.unpin."""
        request = requests.PinRequest(self._memory(), wire_ids(ids), operation_id)
        return (await self._calls.call(operations.UNPIN, request)).touched

    async def delete(self, ids: Sequence[str], *, operation_id: str | None = None) -> DeleteResult:
        """Removes messages with their whole groups; see Memory.delete."""
        request = requests.DeleteRequest(self._memory(), wire_ids(ids), operation_id)
        return await self._calls.call(operations.DELETE, request)

    async def clear(
        self, *, confirm: bool = False, backup: bool = False, operation_id: str | None = None
    ) -> ClearResult:
        """Removes everything; see Memory.clear."""
        request = requests.ClearRequest(self._memory(), confirm, operation_id, backup)
        return await self._calls.call(operations.CLEAR, request)

    async def restore(
        self, backup_id: str, *, if_version: str | None = None, operation_id: str | None = None
    ) -> AppendResult:
        """Replaces everything by what a clear has kept; see Memory.restore."""
        request = requests.RestoreRequest(self._memory(), backup_id, if_version, operation_id)
        return await self._calls.call(operations.RESTORE, request)

    async def flush(
        self,
        *,
        force: bool = False,
        dry_run: bool = False,
        max_messages: int | None = None,
        threshold: float | None = None,
        wait: bool = True,
        operation_id: str | None = None,
    ) -> FlushResult:
        """Runs one flush now and waits for it, unless `wait` is False; see Memory.flush.

        The background needs no such call.
        """
        request = requests.FlushRequest(
            self._memory(),
            force=force,
            dry_run=dry_run,
            max_messages=max_messages,
            threshold=threshold,
            wait=wait,
            operation_id=operation_id,
        )
        return await self._calls.call(operations.FLUSH, request, FLUSH)

    async def stats(self, *, group_by: GroupBy | None = None) -> MemoryStats:
        """Returns the counters, and what is held by role, author, section or day if that is asked for."""
        return await self._calls.call(operations.STATS, requests.StatsRequest(self._memory(), group_by))

    async def health(self, *, check_connectivity: bool = False) -> MemoryHealth:
        """Tells whether the memory can do its work; see Memory.health."""
        request = requests.HealthRequest(self._memory(), check_connectivity)
        return await self._calls.call(operations.HEALTH, request)

    def _memory(self) -> requests.MemoryField:
        self._use.note()
        ref = self._ref
        return requests.MemoryField(
            ref.resource, ref.key, ref.input, ref.agent, ref.workflow_id, ref.workflow_type, ref.run_id
        )
