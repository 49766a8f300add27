"""One memory: the operations that agents and tools call, in any process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from durable_memory.memory import telemetry
from durable_memory.memory.arguments import known_sections, message_ids, one_id, truth, version_of_view, whole_number
from durable_memory.memory.authors import read_with_authors
from durable_memory.memory.caller import Caller, given_out
from durable_memory.memory.codec import decode, view_of
from durable_memory.memory.errors import MemoryFault, MemoryInvalid, MemoryUndecryptable
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.operation_names import OperationName, Removal
from durable_memory.memory.operations.audit import AuditedCall
from durable_memory.memory.operations.flush_call import FlushCall
from durable_memory.memory.operations.grouped_stats import checked_group_by, grouped
from durable_memory.memory.operations.health import examine
from durable_memory.memory.operations.services import Services
from durable_memory.memory.operations.turns import check_room_for_turn, record_turn, recorded_turn
from durable_memory.memory.operations.writer import MemoryWriter
from durable_memory.memory.resolution import Resolved
from durable_memory.memory.stores.values import ReadQuery
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
)


class Memory:
    """A handle on one memory; cheap to make, holds no connection of its own.

    Mutating methods take an `operation_id`: the same id is applied once and answers the same, for 24 hours. Without
    one, a call is an operation of its own; inside a Temporal activity it is named after the activity, so that the
    activity's attempts are one operation.

    Every method may raise MemoryUnavailable, MemoryDamaged, MemoryContractTooNew (a newer version wrote the memory) and
    MemoryAccessDenied (the mode in which an agent declares it does not allow the call). Every mutating method may raise
    MemoryOperationConflict (the same id for another call), MemoryOperationExpired (after its deadline) and
    MemoryBackpressure (its record of operations is full for now); every method that returns messages
    MemoryUndecryptable.
    """

    def __init__(
        self,
        services: Services,
        resolved: Resolved,
        caller: Caller,
        lender: Owner | None = None,
    ) -> None:
        """Clients make handles. lender: the run of another workflow that gave out the reference behind it."""
        self._services = services
        self._resource, self._id, self._access = resolved
        self._caller = caller
        self._writer = MemoryWriter.of(services, resolved, caller, lender)
        self._names = self._writer.names
        self._limits = self._writer.limits

    @property
    def id(self) -> MemoryId:
        """The identity: project, resource, key."""
        return self._id

    @property
    def ref(self) -> MemoryRef:
        """A serialisable reference to this memory."""
        ref = MemoryRef(self._id.resource, key=self._id.key, agent=self._access.agent)
        lender = self._writer.lender
        if lender is not None:
            ref = replace(ref, workflow_id=lender.workflow_id, run_id=lender.run_id)
        return given_out(ref, self._caller)

    @property
    def writer(self) -> MemoryWriter:
        """What writes to it, for an agent that writes to several memories as one."""
        return self._writer

    async def append(
        self,
        messages: MessageInput | Sequence[MessageInput],
        *,
        want_view: bool = False,
        operation_id: str | None = None,
    ) -> AppendResult:
        """Appends 1 to 1,000 messages, all or none.

        want_view: the result has the view as it stands then, with what others have appended meanwhile. If only the
        reading of it fails, the error says that the messages stand.

        Raises MemoryInvalid, MemoryOversize (it can never fit), MemoryOrphanResult, MemoryBackpressure (too much waits
        for its summary: try again), MemoryRedactionFailed.
        """
        with telemetry.MeasuredCall("append", self._id) as call:
            self._check("append")
            attempt = self._names.attempt(operation_id)
            admitted = await self._writer.admit(messages)
            call.records(admitted.messages)
            _, result = await self._writer.append(admitted, admitted.digest, attempt)
            return await self._with_view(result) if want_view else result

    async def record_turn(
        self, messages: MessageInput | Sequence[MessageInput], *, operation_id: str | None = None
    ) -> Turn:
        """Appends the messages of one turn, once per operation, even if a repetition brings other messages.

        So record what a model answered: a repeated attempt has asked the model again, and got other words. The turn
        that was recorded first stands and is returned, so that the caller goes on with what the memory holds, such as
        tool calls that wait for their results. If the memory holds none of it any more (summarised, deleted, cleared),
        the messages that were sent are returned, without ids. Raises what `append` raises.
        """
        with telemetry.MeasuredCall("record_turn", self._id) as call:
            self._check("record_turn")
            attempt = self._names.attempt(operation_id, is_turn=True)
            return await record_turn(self._writer, messages, attempt, call)

    async def recorded_turn(self, *, operation_id: str | None = None) -> Turn | None:
        """Returns the turn that an earlier attempt has recorded, or None. Call it before you ask a model again.

        Without an operation id it looks for the turn that the next `record_turn` of this attempt would record in this
        memory; called again after it found one, for the turn behind that. The turn has no messages if the memory holds
        none of them any more.

        Raises MemoryInvalid outside an activity, where no call repeats another, unless an operation id is given;
        MemoryOperationConflict; and MemoryBackpressure if no turn is recorded and one that fills a quarter of the
        budget would be held back now: a model would be asked in vain.
        """
        with telemetry.MeasuredCall("recorded_turn", self._id) as call:
            self._check("recorded_turn")
            turn_id = self._names.recorded_turn_id(operation_id)
            turn = await recorded_turn(self._writer, turn_id, call)
            if turn is None:
                await check_room_for_turn(self._writer, turn_id)
            else:
                self._names.note_recorded_turn(operation_id)
            return turn

    async def write(
        self,
        messages: MessageInput | Sequence[MessageInput],
        *,
        if_version: str | None = None,
        operation_id: str | None = None,
    ) -> AppendResult:
        """Replaces everything, live, waiting and summaries, by `messages` in one step; readers see old or new.

        Waiting messages and open groups go too, though a view that is written back never showed them; summaries among
        `messages` become ordinary messages.
        if_version: the version of a view; `absent` creates only. Raises MemoryConflict if the memory has another
        version, as after a background flush; and what `append` raises.
        """
        with telemetry.MeasuredCall("write", self._id) as call, self._audited("write") as record:
            self._check("write")
            attempt = self._names.attempt(operation_id)
            record.named(attempt.operation_id)
            version = version_of_view("if_version", if_version)
            admitted = await self._writer.admit(messages)
            call.records(admitted.messages)
            if not admitted.entries:
                raise MemoryInvalid("messages: this resource keeps none of them; to empty the memory, clear it")
            operation = await attempt.operation(admitted.digest)
            store, limits = self._services.store, self._limits
            _, result = await self._writer.deliver(
                admitted, lambda entries: store.write(self._id, entries, operation, limits, version)
            )
            record.done(
                already_applied=result.already_applied,
                removed=result.removed,
                added=len(result.ids),
                version_before=version,
                version_after=result.version,
            )
            return result

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
    ) -> View:
        """Returns the view. A memory that does not exist is an empty view of version `absent`.

        limit: at most so many messages, the newest, in whole groups; 0 for none. max_tokens: what a model call may
        spend on the view; system and pinned messages are kept first, then summaries, then the conversation from the
        newest back. sections: only messages of these. ids: only these live messages, at most 1,000, with their whole
        groups; counts as an access to them. before_id: only what stands before this message; given the first one of a
        page, the next older page. since_version: if the memory still has this version, the view is empty, and has it
        too. authors: sets `name` of each assistant message that has none to the agent that wrote it; these names count
        towards max_tokens. Raises MemoryInvalid, and MemoryOversize if system and pinned messages alone exceed
        max_tokens.
        """
        with telemetry.MeasuredCall("read", self._id) as call:
            self._check("read")
            query = ReadQuery(
                limit=whole_number("limit", limit),
                max_tokens=whole_number("max_tokens", max_tokens),
                sections=None if sections is None else known_sections(sections, self._limits.sections),
                ids=None if ids is None else message_ids(ids),
                before_id=None if before_id is None else one_id("before_id", before_id),
                since_version=version_of_view("since_version", since_version),
            )
            if truth("authors", authors):
                view = await read_with_authors(self._read, query, self._writer.admission.counter, self._id.resource)
            else:
                view = await self._read(query)
            call.records(view.messages)
            return view

    async def _read(self, query: ReadQuery) -> View:
        return view_of(await self._services.store.read(self._id, query, self._limits))

    async def touch(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Records an access to these messages, for lru, lfu and token_aware_lru. Returns the ids that are live."""
        with telemetry.MeasuredCall("touch", self._id):
            self._check("touch")
            return await self._services.store.touch(self._id, message_ids(ids), self._limits)

    async def pin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Pins these messages with their whole groups: never evicted, never flushed, until they are unpinned.

        Returns the ids of live messages; a summary, and what has left the view, cannot be pinned. Raises MemoryOversize
        if system and pinned messages would fill more than messages may; then nothing is pinned.
        """
        return await self._pin("pin", ids, operation_id)

    async def unpin(self, ids: Sequence[str], *, operation_id: str | None = None) -> tuple[str, ...]:
        """Lets these messages go like others again, with their whole groups; see `pin`.

        It counts as an access to them, and drops nothing by itself.
        """
        return await self._pin("unpin", ids, operation_id)

    async def _with_view(self, result: AppendResult) -> AppendResult:
        try:
            view = await self._read(ReadQuery())
        except MemoryFault as fault:
            # Who sends them again, as a new operation, would have them twice.
            raise fault.saying("the messages were appended all the same: only read again") from fault
        return replace(result, view=view)

    async def _pin(
        self, word: Literal["pin", "unpin"], ids: Sequence[str], operation_id: str | None
    ) -> tuple[str, ...]:
        with telemetry.MeasuredCall(word, self._id):
            self._check(word)
            wanted = message_ids(ids)
            operation = await self._names.operation(operation_id, json.dumps([word, *wanted]))
            return await self._services.store.pin(self._id, wanted, operation, self._limits, pinned=word == "pin")

    async def delete(self, ids: Sequence[str], *, operation_id: str | None = None) -> DeleteResult:
        """Removes messages, or summaries, with their whole groups, live or waiting.

        A flush in progress that would summarise one of them is given up.
        """
        with telemetry.MeasuredCall("delete", self._id), self._audited("delete") as record:
            self._check("delete")
            wanted = message_ids(ids)
            operation = await self._names.operation(operation_id, json.dumps(["delete", *wanted]))
            record.named(operation.id)
            result = await self._services.store.delete(self._id, wanted, operation, self._limits)
            record.done(already_applied=result.already_applied, removed=len(result.removed))
            return result

    async def clear(
        self, *, confirm: bool = False, backup: bool = False, operation_id: str | None = None
    ) -> ClearResult:
        """Removes everything. A flush that began before cannot touch what is written afterwards.

        backup: keeps all of it for seven days, for `restore` with the id in the answer. A damaged memory is cleared
        only without one. Raises MemoryInvalid unless `confirm` is True.
        """
        with telemetry.MeasuredCall("clear", self._id), self._audited("clear") as record:
            self._check("clear")
            if confirm is not True:
                raise MemoryInvalid("confirm: clear removes every message of this memory; pass confirm=True to do it")
            word = "clear with backup" if truth("backup", backup) else "clear"
            operation = await self._names.operation(operation_id, word)
            record.named(operation.id)
            result = await self._services.store.clear(self._id, operation, backup=backup, mode=self._access.mode)
            record.done(already_applied=result.already_applied, removed=result.cleared, backup_id=result.backup_id)
            return result

    async def restore(
        self, backup_id: str, *, if_version: str | None = None, operation_id: str | None = None
    ) -> AppendResult:
        """Replaces everything by what a clear has kept, in one step, and the backup stays; readers see old or new.

        All messages have new ids, which the answer does not name. if_version: as for `write`; `absent` restores only
        where nothing has been written since. Raises MemoryInvalid for a backup that is not of this memory or has ended,
        MemoryUndecryptable and MemoryDamaged for one that could not be read, and MemoryConflict.
        """
        with telemetry.MeasuredCall("restore", self._id), self._audited("restore") as record:
            self._check("restore")
            wanted = one_id("backup_id", backup_id)
            version = version_of_view("if_version", if_version)
            operation = await self._names.operation(operation_id, json.dumps(["restore", wanted, version]))
            record.named(operation.id)
            await self._writer.registration.ensure()
            try:
                result = await self._services.store.restore(self._id, wanted, operation, self._limits, version, decode)
            except MemoryUndecryptable as fault:
                raise fault.saying("it is of the backup; the memory stays as it is") from fault
            result = await self._writer.follow_up(result)
            record.done(
                already_applied=result.already_applied,
                removed=result.removed,
                added=result.messages,
                version_before=version,
                version_after=result.version,
                backup_id=wanted,
            )
            return result

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
        """Runs one flush here and now, instead of waiting for the background.

        force: below the threshold too, and down to what is never flushed (system, pinned, keep_first, keep_last).
        dry_run: only tells what a flush would take now. max_messages: takes no more, in whole groups, what waits for
        its summary first. threshold: the fill from which it is due, in this call instead of summarize_threshold. wait:
        False wakes the background and returns. An outcome `busy` means that another flush runs. Raises MemoryInvalid,
        MemorySummaryRejected.
        """
        with telemetry.MeasuredCall("flush", self._id), self._audited("flush") as record:
            if dry_run is True or self._limits.summarize:
                record.skip()
            self._check("flush")
            attempt = self._names.attempt(operation_id)
            record.named(attempt.operation_id)
            call = FlushCall(force, dry_run, max_messages, threshold, wait)
            call.check(self._resource)
            result = await call.run(self._services, self._resource, self._id, attempt, self._limits)
            if result.outcome != "signalled":
                record.done(already_applied=result.already_applied, removed=len(result.removed_ids))
            return result

    async def stats(self, *, group_by: GroupBy | None = None) -> MemoryStats:
        """Returns the counters; writes nothing, and loads no message unless they are to be grouped.

        group_by: also count all that is held by `role`, `author`, `section` or `day`, which looks at 10,000 messages at
        most. Raises MemoryInvalid, and MemoryUndecryptable if messages that are to be grouped do not open.
        """
        with telemetry.MeasuredCall("stats", self._id):
            self._check("stats")
            wanted = None if group_by is None else checked_group_by(group_by)
            stats = await self._services.store.stats(self._id, self._limits)
            return stats if wanted is None else await grouped(self._services.store, self._id, stats, wanted)

    async def health(self, *, check_connectivity: bool = False) -> MemoryHealth:
        """Tells whether this memory can do its work, and what prevents it; writes nothing, and reads the view.

        What is encrypted with a key that this process lacks is a problem here, and may be none elsewhere.
        check_connectivity: also tell how many microseconds the store took for an answer that needs no memory.
        """
        with telemetry.MeasuredCall("health", self._id):
            self._check("health")
            return await examine(self._services, self._id, self._limits, check_connectivity=check_connectivity)

    def _audited(self, operation: Removal) -> AuditedCall:
        return AuditedCall(operation, self._caller, self._id, agent=self._access.agent)

    def _check(self, operation: OperationName) -> None:
        self._access.check(operation, self._id.resource)
