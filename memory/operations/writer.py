"""What every write does around its step in the store: checks before it; the index, the flusher and metrics after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from durable_memory.memory import telemetry
from durable_memory.memory.caller import Attempt, Caller
from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryFault,
    MemoryOperationConflict,
    MemoryOversize,
)
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.admission import Admission, Admitted
from durable_memory.memory.operations.call_names import CallNames
from durable_memory.memory.operations.registration import Registration
from durable_memory.memory.operations.repeated_append import stored_before_this_policy
from durable_memory.memory.operations.services import Services
from durable_memory.memory.resolution import Resolved
from durable_memory.memory.stores import append_checks
from durable_memory.memory.stores.index_port import OUTLIVES
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.tokens.calibration import Calibration
from durable_memory.memory.types import AppendResult, MessageInput
from durable_memory.memory.waking import NoWaker


@dataclass(frozen=True, slots=True)
class MemoryWriter:
    """Writes to one memory on behalf of one caller.

    limits: those of the memory, under the mode of the caller. names: of the caller's calls. admission: makes entries of
    messages. calibration: is offered what was stored, where the token counts are calibrated. lender: the run of another
    workflow that gave out the reference by which the memory was opened. registration: tells the index of the memory.
    """

    services: Services
    id: MemoryId
    limits: Limits
    names: CallNames
    admission: Admission
    calibration: Calibration | None
    lender: Owner | None
    registration: Registration

    @classmethod
    def of(cls, services: Services, resolved: Resolved, caller: Caller, lender: Owner | None = None) -> Self:
        """Returns the writer of a declared memory, for a caller with this access."""
        resource, memory, access = resolved
        limits = resource.limits()
        # The lender first: at no time is the borrower the only owner.
        owners = (lender, caller.owner) if lender else (caller.owner,)
        counter, calibration = services.counters.of(resource.counting)
        return cls(
            services,
            memory,
            # Stores refuse what the mode does not allow, too: no way around a handle leads to more.
            limits if access.mode == limits.mode else replace(limits, mode=access.mode),
            CallNames(caller, memory, access.agent, services.clock),
            Admission(
                services.clock,
                counter,
                caller.provenance,
                access.agent,
                resource.privacy,
                resource.keywords,
                truncates=resource.oversize == "truncate",
            ),
            calibration=calibration,
            lender=lender,
            # What outlives them all has one for all: a workflow may write to the memories of every user for years.
            registration=Registration(
                services.index, services.known_bindings, memory, owners if resource.has_owners else (OUTLIVES,)
            ),
        )

    async def admit(self, messages: MessageInput | Sequence[MessageInput]) -> Admitted:
        """Checks, counts and encodes messages. Raises MemoryInvalid, MemoryRedactionFailed."""
        admitted = await self.admission.admit(messages)
        if admitted.redacted:
            telemetry.count_redactions(self.id.resource, admitted.redacted)
        if admitted.estimated:
            telemetry.count_estimated(self.id.resource, admitted.estimated)
        return admitted

    async def check(self, messages: MessageInput | Sequence[MessageInput]) -> Admitted:
        """Returns what an append of these messages would store; writes nothing, and asks no store.

        Raises what the append would raise whatever the memory holds: MemoryInvalid and MemoryRedactionFailed, as
        `admit`; MemoryInvalid for a section that is not declared; MemoryOversize for a message that is larger than its
        room and cannot be cut, and for system and pinned messages that together are larger than theirs.
        """
        resource, admitted = self.id.resource, await self.admission.admit(messages)
        append_checks.check_sections(resource, admitted.entries, self.limits)
        for position, entry in enumerate(admitted.entries):
            refusal = append_checks.too_large(resource, position, entry, self.limits)
            if refusal is not None:
                admitted = await self.admission.cut(admitted, refusal)
        append_checks.check_fixed(resource, admitted.entries, self.limits)
        return admitted

    async def check_with_store(self, admitted: Admitted, attempt: Attempt) -> None:
        """Raises what the store would raise now if what `check` returned were appended; writes nothing.

        The append may still fare otherwise, since others may write before it. Wakes the flusher where that makes room.
        Raises MemoryOversize, MemoryOrphanResult, MemoryBackpressure, MemoryOperationConflict, MemoryOperationExpired,
        MemoryDamaged, MemoryUnavailable.
        """
        operation = await attempt.operation("")
        while admitted.entries:
            try:
                await self.services.store.try_append(self.id, admitted.entries, operation, self.limits)
                break
            except MemoryOversize as refusal:
                admitted = await self.admission.cut(admitted, refusal)
            except MemoryBackpressure as held_back:
                await self.wake_for(held_back)
                raise

    async def append(self, admitted: Admitted, digest: str, attempt: Attempt) -> tuple[Admitted, AppendResult]:
        """Appends what was admitted; see `deliver` for what else it does and returns.

        digest: tells this call from another one with the same id; empty if any repetition is the same call. Raises what
        Store.append raises.
        """
        if not admitted.entries:
            return admitted, await self._nothing_stored(admitted)
        operation = await attempt.operation(digest)

        async def send(entries: Sequence[Entry]) -> AppendResult:
            try:
                return await self.services.store.append(self.id, entries, operation, self.limits)
            except MemoryOperationConflict:
                first = await self._stored_before_this_policy(admitted, attempt.operation_id)
                if first is None:
                    raise
                return first

        try:
            return await self.deliver(admitted, send)
        except MemoryBackpressure as held_back:
            await self.wake_for(held_back)
            raise

    async def deliver(
        self, admitted: Admitted, send: Callable[[Sequence[Entry]], Awaitable[AppendResult]]
    ) -> tuple[Admitted, AppendResult]:
        """Lets `send` write what was admitted, between telling the index and `follow_up`.

        Returns what was stored, which may have been cut, and the result. A message that the store finds too large is
        cut to the room that the store says is left, if the resource truncates; then all is sent again as the same
        operation, which is safe: the store changes nothing when it refuses, and applies an operation once.
        """
        await self.registration.ensure()
        while True:
            try:
                result = await send(admitted.entries)
                break
            except MemoryOversize as refusal:
                admitted = await self.admission.cut(admitted, refusal)
        if self.calibration is not None and not result.already_applied:
            self.calibration.offer(admitted.messages)
        if self.admission.truncates and not result.already_applied:
            telemetry.count_truncated(self.id.resource, sum(m.truncated_from is not None for m in admitted.messages))
        result = await self.follow_up(result)
        return admitted, replace(result, dropped=admitted.dropped) if admitted.dropped else result

    async def follow_up(self, result: AppendResult) -> AppendResult:
        """Measures a write, tells the index of it, and wakes the flusher if one is due; returns the result unchanged.

        The messages are stored by now. So an error from here says that they are, or its reader might send them again as
        a new operation and have them twice.
        """
        if not result.already_applied:
            telemetry.record_view(self.id.resource, result.tokens, self.limits.max_tokens)
            if result.evicted:
                reason = "overflow" if self.limits.summarize else "dropped"
                telemetry.count_evictions(self.id.resource, self.limits.policy, reason, result.evicted)
        try:
            await self._register_after(result)
            if result.flush_due:
                await self.services.waker.wake(self.id)
        except MemoryFault as fault:
            raise fault.saying(
                "the messages are stored all the same: repeat the call only as the same operation"
            ) from fault
        return result

    async def _register_after(self, result: AppendResult) -> None:
        is_another = self.registration.note_incarnation(result.version)
        if result.created or result.already_applied or is_another:
            # The index may have forgotten a memory that is created again, by whomever, and who writes to it; and a
            # repeated attempt may follow a crash between the script and the registration.
            await self.registration.renew()
        else:
            await self.registration.ensure()  # the server that answered may not be the one that was told

    async def _stored_before_this_policy(self, admitted: Admitted, operation_id: str) -> AppendResult | None:
        privacy = self.admission.privacy
        if privacy is None:
            return None
        return await stored_before_this_policy(
            self.services.store, self.id, self.limits, operation_id, admitted, privacy
        )

    async def wake_for(self, held_back: MemoryBackpressure) -> None:
        """Wakes the flusher if the refused append waits for a flush, since nobody else might (R12 of docs/protocol.md).

        Raises the refusal again, with what to do, if this client has no waker.
        """
        if not held_back.awaits_flush:
            return
        if isinstance(self.services.waker, NoWaker):
            raise held_back.saying(
                "but this client wakes no flusher: give it waker=TemporalWaker(…), call flush, or let a worker append"
            ) from None
        await self.services.waker.wake(self.id)

    async def _nothing_stored(self, admitted: Admitted) -> AppendResult:
        """Answers an append of messages of which the resource keeps none: the memory stays as it is, or absent."""
        stats = await self.services.store.stats(self.id, self.limits)
        return AppendResult(
            ids=(),
            version=stats.version,
            tokens=sum(stats.tokens.values()),
            messages=sum(stats.messages.values()),
            flush_due=stats.flush_due,
            dropped=admitted.dropped,
        )
