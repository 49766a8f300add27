"""The parts behind a client: the stores, and what serves the memories that are declared there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, suppress
from dataclasses import replace

from durable_memory.memory.clock import Clock
from durable_memory.memory.declarations.encryption import refuse_plain_text
from durable_memory.memory.declarations.registry import Registry, checked_registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.drafting import Drafting
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.flushing.summarizers import Chosen, Summarizers
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import BreakerLimits
from durable_memory.memory.operations.services import Services
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.tokens.counters import Counters
from durable_memory.memory.waking import FlushWaker


class ClientParts:
    """What all callers of one client share, whoever they are. Belongs to its event loop.

    backends: by persistence type, `redis` and `in_memory`. registry: the declarations in force now, also for an
    activity that began under earlier ones. summarizers: who writes the summaries.
    """

    def __init__(
        self,
        registry: Registry,
        backends: Mapping[str, Backend],
        *,
        project: str,
        waker: FlushWaker,
        summarizer: Summarizer | None,
        counter: TokenCounter | None,
        clock: Clock,
    ) -> None:
        """See MemoryClient, which has checked them. Raises MemoryInvalid for memories that no store here encrypts."""
        self.project = project
        self.backends = backends
        self._check_encryption(registry)
        self.clock = clock
        of_projects = backends.get("redis") or next(iter(backends.values()), None)
        self.starts = None if of_projects is None else of_projects.starts
        """Where late starts are noted: in Redis if it is open, as other processes see that; None if nothing is."""
        self.fleet = None if of_projects is None else of_projects.fleet
        """Where workers say what they declare; likewise."""
        spending = {persistence: backend.spending for persistence, backend in backends.items()}
        self.summarizers = Summarizers(summarizer, spending, project=project)
        self.registry = registry
        self._watching: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._counters = Counters(counter)
        self._drafting = Drafting(self._lent_summarizer, self.counter_of, clock, self._privacy_of)
        self._services = {
            persistence: Services(
                store=backend.store,
                index=backend.index,
                flush=FlushSteps(backend.store, self._drafting, clock),
                counters=self._counters,
                waker=waker,
                clock=clock,
            )
            for persistence, backend in backends.items()
        }
        self._guarded: dict[str, tuple[BreakerLimits, Services]] = {}

    def check(self, registry: Registry) -> None:
        """Raises MemoryInvalid for declarations that need a store which is not open, or does not encrypt."""
        for resource in checked_registry(registry).memories():
            if resource.persistence.type not in self.backends:
                raise MemoryInvalid(
                    f"{resource.id}: persistence.type {resource.persistence.type} needs a store that was not opened at "
                    "the start; start again to use it"
                )
        self._check_encryption(registry)

    def _check_encryption(self, registry: Registry) -> None:
        redis = self.backends.get("redis")
        if redis is not None and not redis.encrypts:
            refuse_plain_text(registry)

    def use(self, registry: Registry) -> None:
        """Puts other declarations in force, in any thread; see MemoryClient.use."""
        self.check(registry)
        self.registry = registry
        self.summarizers.use(registry)
        self._counters.use(resource.counting for resource in registry.memories())
        for loop, changed in tuple(self._watching):
            with suppress(RuntimeError):  # the loop was closed with its work undone
                loop.call_soon_threadsafe(changed.set)

    @contextmanager
    def watched(self) -> Iterator[asyncio.Event]:
        """Gives an event that is set whenever declarations are put in force."""
        watching = asyncio.get_running_loop(), asyncio.Event()
        self._watching.add(watching)
        try:
            yield watching[1]
        finally:
            self._watching.discard(watching)

    def services(self, resource: MemoryResource) -> Services:
        """Returns what serves a resource's memories, behind its circuit breaker where it declares one."""
        services = self._services[resource.persistence.type]
        limits = resource.persistence.circuit_breaker.limits()
        guard = self.backends[resource.persistence.type].guarded
        if limits is None or guard is None:
            return services
        known = self._guarded.get(resource.id)
        if known is None or known[0] != limits:
            backend = guard(Breaker(resource.id, limits))
            flush = FlushSteps(backend.store, self._drafting, self.clock)
            known = limits, replace(services, store=backend.store, index=backend.index, flush=flush)
            self._guarded[resource.id] = known
        return known[1]

    def counter_of(self, memory: MemoryId) -> TokenCounter:
        """Returns what counts the tokens of a memory by the declarations that are in force now."""
        return self._counters.of(self.registry.memory(memory.resource).counting).counter

    def _lent_summarizer(self, memory: MemoryId) -> AbstractContextManager[Chosen]:
        """Gives who writes the summaries of a memory, by the same declarations."""
        return self.summarizers.lent(memory.resource, self.registry)

    def _privacy_of(self, memory: MemoryId) -> Privacy | None:
        """Returns what its summarisers and summaries are kept free of, by the same declarations."""
        return self.registry.memory(memory.resource).privacy

    async def close(self) -> None:
        """Closes the connections, all of them also if one fails to. Raises MemoryInvalid in another event loop."""
        for backend in self.backends.values():
            backend.check_loop()
        async with AsyncExitStack() as stack:  # the last one that it is given goes first
            for backend in self.backends.values():
                stack.push_async_callback(backend.store.close)
            stack.push_async_callback(self._counters.close)
            stack.push_async_callback(self.summarizers.close)
