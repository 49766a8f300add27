"""One call of flush: what it asks for, checked, and whether it is planned, run here, or left to the background."""

from __future__ import annotations

from dataclasses import dataclass, replace

from durable_memory.memory.arguments import printable_number, truth
from durable_memory.memory.caller import Attempt
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.measuring import run_measured
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.services import Services
from durable_memory.memory.stores.values import FlushOptions
from durable_memory.memory.types import FlushResult
from durable_memory.memory.waking import NoWaker


@dataclass(frozen=True, slots=True)
class FlushCall:
    """What a caller asks of a flush; see Memory.flush."""

    force: bool = False
    dry_run: bool = False
    max_messages: int | None = None
    threshold: float | None = None
    wait: bool = True

    def check(self, resource: MemoryResource) -> None:
        """Raises MemoryInvalid for what cannot be asked of this resource, or not together."""
        for name in ("force", "dry_run", "wait"):
            truth(name, getattr(self, name))
        if self.max_messages is not None:
            _check_messages(self.max_messages)
        if self.threshold is not None:
            _check_threshold(self.threshold, resource.flushing.target_ratio)
            if self.force:
                raise MemoryInvalid("threshold: has no effect with force, which ignores it; give one of them")
        if not self.wait:
            if self.dry_run:
                raise MemoryInvalid("wait: a dry run is answered at once; leave wait out")
            if self.max_messages is not None or self.threshold is not None:
                raise MemoryInvalid("wait: max_messages and threshold hold for a flush that is waited for")

    async def run(
        self, services: Services, resource: MemoryResource, memory: MemoryId, attempt: Attempt, own: Limits
    ) -> FlushResult:
        """Does what was asked, and checked. own: the limits of the memory under the mode of the caller."""
        thresholds = None if self.threshold is None else replace(resource.limits_due_at(self.threshold), mode=own.mode)
        options = FlushOptions(self.force, self.max_messages, thresholds)
        if self.dry_run:
            result = await services.store.plan(memory, own, options)
            return await self._with_own_due(result, services, memory, own)
        if not self.wait:
            if isinstance(services.waker, NoWaker):
                raise MemoryInvalid(
                    "wait: nothing here can wake a background flush; wait for it, or connect with a waker"
                )
            await services.waker.wake(memory, force=self.force)
            return FlushResult("signalled")
        run = services.flush.run(memory, attempt.operation_id, own, options, deadline_ms=await attempt.ends_ms())
        result = await run_measured(run, services.store, resource, memory)
        result = await self._with_own_due(result, services, memory, own)
        if result.flush_due:
            await services.waker.wake(memory)
        return result

    async def _with_own_due(
        self, result: FlushResult, services: Services, memory: MemoryId, own: Limits
    ) -> FlushResult:
        """Says whether a flush is due by the memory's own threshold, whatever this call asked for."""
        if self.threshold is None:
            return result
        return replace(result, flush_due=(await services.store.stats(memory, own)).flush_due)


def _check_messages(value: object) -> None:
    number = printable_number("max_messages", value)
    if number < 1:
        raise MemoryInvalid(f"max_messages: {number} takes nothing; it must be at least 1, or left out for no bound")


def _check_threshold(value: object, target_ratio: float) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise MemoryInvalid(f"threshold: must be a number, not {type(value).__name__}")
    if isinstance(value, int):
        printable_number("threshold", value)
    if not target_ratio < value <= 1:
        raise MemoryInvalid(
            f"threshold: {value} must be above target_ratio, which is {target_ratio}, and at most 1; force flushes "
            "below it"
        )
