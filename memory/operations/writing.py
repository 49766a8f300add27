"""What every writing operation does around its script: takes a name, admits, registers, wakes and measures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from durable_memory.memory import telemetry
from durable_memory.memory.arguments import operation_name
from durable_memory.memory.caller import Attempt, Caller, given_attempt, given_id, repeated_turn_id
from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryFault,
    MemoryOperationConflict,
    MemoryOversize,
)
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.admission import Admission, Admitted
from durable_memory.memory.operations.registration import Registration
from durable_memory.memory.operations.repeated_append import stored_before_this_policy
from durable_memory.memory.operations.services import Services
from durable_memory.memory.resolution import Resolved
from durable_memory.memory.stores import append_checks
from durable_memory.memory.stores.index_port import OUTLIVES
from durable_memory.memory.stores.values import Entry, Operation
from durable_memory.memory.tokens.calibration import Calibration
from durable_memory.memory.types import AppendResult, MessageInput
from durable_memory.memory.waking import NoWaker


@dataclass(frozen=True, slots=True)
class Writing:
    """The writing side of one memory, as one caller sees it.

    admission: makes entries of messages. calibration: is offered what was stored. lender: the run of another workflow
    that gave out the reference by which this one is open. registration: tells the index of the memory.
    """

    services: Services
    id: MemoryId
    limits: Limits
    caller: Caller
    admission: Admission
    calibration: Calibration | None
    lender: Owner | None
    registration: Registration

    @classmethod
    def of(cls, services: Services, resolved: Resolved, caller: Caller, lender: Owner | None = None) -> Self:
        """Returns the writing side of a declared memory, for a caller with this access."""
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
            caller,
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
                services.index, services.register, memory, owners if resource.has_owners else (OUTLIVES,)
            ),
        )

    def attempt(self, operation_id: str | None, *, is_turn: bool = False, turn_of: str | None = None) -> Attempt:
        """Names the next call, or the next turn. turn_of: the agent whose turn a given id names, in all its memories.

        Call this before an operation's first `await`: calls made at the same time are numbered in the order in which
        they were made.
        """
        if operation_id is None:
            return self.caller.next_attempt(self.id, self.admission.agent, is_turn=is_turn)
        return given_attempt(operation_name(operation_id), self.services.clock, turn_of)

    def recorded_id(self, operation_id: str | None, turn_of: str | None = None) -> str:
        """Returns the id under which `attempt` would name the next turn, without naming one. Raises MemoryInvalid."""
        if operation_id is None:
            return repeated_turn_id(self.caller, self.id, self.admission.agent)
        return given_id(operation_name(operation_id), turn_of)

    def found(self, operation_id: str | None) -> None:
        """Notes that the turn is recorded for which `recorded_id` gave the id."""
        if operation_id is None:
            self.caller.turn_was_found(self.id, self.admission.agent)

    async def operation(self, operation_id: str | None, digest: str) -> Operation:
        """Names the next call for the store; `digest` tells it from another call with the same id.

        Await this before anything else, as `attempt` says.
        """
        return await self.attempt(operation_id).operation(digest)

    async def admit(self, messages: MessageInput | Sequence[MessageInput]) -> Admitted:
        """Checks, counts and encodes messages. Raises MemoryInvalid, MemoryRedactionFailed."""
        admitted = await self.admission.admit(messages)
        if admitted.redacted:
            telemetry.count_redactions(self.id.resource, admitted.redacted)
        if admitted.estimated:
            telemetry.count_estimated(self.id.resource, admitted.estimated)
        return admitted

    async def check(self, messages: MessageInput | Sequence[MessageInput]) -> Admitted:
        """Raises what an append of these messages would raise whatever the memory holds, and does nothing else.

        That is what admission refuses, sections that are not declared, and messages that are larger than their room,
        one by one or, as they are never evicted, together. Returns what would be stored. Raises MemoryInvalid,
        MemoryRedactionFailed, MemoryOversize.
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
        """Raises what the store would answer now to an append of what was checked; asks it, and changes nothing.

        What others write until the append may change that. Raises also MemoryOrphanResult, MemoryBackpressure,
        MemoryOperationConflict, MemoryOperationExpired, MemoryDamaged.
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
        """Appends what was admitted, and does all that follows. Returns also what was stored, cut or not."""
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
        """Sends what was admitted to the store, and does all that follows. Returns also what was stored, cut or not.

        What the store finds too large is cut to the room that it says is left, and all is sent again as the same
        operation: until then the store has changed nothing, and afterwards it answers what it answered first.
        """
        await self.registration.once()
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
        """Does what follows every script that brings messages in, and returns its result.

        What fails here fails after the script: the error says so, since who sends them again, as a new operation, would
        have them twice.
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
        another_life = self.registration.is_another_life(result.version)
        if result.created or result.already_applied or another_life:
            # The index may have forgotten a memory that is created again, by whomever, and who writes to it; and a
            # repeated attempt may follow a crash between the script and the registration.
            await self.registration.again()
        else:
            await self.registration.once()  # the server that answered may not be the one that was told

    async def _stored_before_this_policy(self, admitted: Admitted, operation_id: str) -> AppendResult | None:
        privacy = self.admission.privacy
        if privacy is None:
            return None
        return await stored_before_this_policy(
            self.services.store, self.id, self.limits, operation_id, admitted, privacy
        )

    async def wake_for(self, held_back: MemoryBackpressure) -> None:
        """Wakes the flusher where it makes room, since nobody else might (R12 of docs/protocol.md).

        Raises the same error with what to do, if nobody can be woken from here.
        """
        if not held_back.awaits_flush:
            return
        if isinstance(self.services.waker, NoWaker):
            raise held_back.saying(
                "but this client wakes no flusher: give it waker=TemporalWaker(…), call flush, or let a worker append"
            ) from None
        await self.services.waker.wake(self.id)

    async def _nothing_stored(self, admitted: Admitted) -> AppendResult:
        """Answers an append of which the resource keeps no message: the memory is as it was, also if it is none."""
        stats = await self.services.store.stats(self.id, self.limits)
        return AppendResult(
            ids=(),
            version=stats.version,
            tokens=sum(stats.tokens.values()),
            messages=sum(stats.messages.values()),
            flush_due=stats.flush_due,
            dropped=admitted.dropped,
        )
