"""The client: the core's face in any process. It opens the stores and hands out memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from durable_memory.memory.agents.agent import DeclaredAgent, UsedMemory
from durable_memory.memory.all_memories import AllMemories
from durable_memory.memory.arguments import no_other_reference, reference_alone, require_method, template_input
from durable_memory.memory.backends import open_backends
from durable_memory.memory.caller import Caller, ProcessCaller, given_out
from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.clock import Clock, SystemClock
from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryAccessDenied, MemoryInvalid
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.hashing import checked_secret, use_secret
from durable_memory.memory.identity import DEFAULT_PREFIX, DEFAULT_PROJECT, Owner
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.audit import refused_open
from durable_memory.memory.resolution import CalledFrom, Resolved, resolve, resolve_agent
from durable_memory.memory.settings import Settings
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.tokens.counters import make_counter
from durable_memory.memory.tokens.counting import DEFAULT_ENCODING, counting_named
from durable_memory.memory.types import AgentRef, MemoryRef
from durable_memory.memory.waking import FlushWaker, NoWaker


class MemoryClient(AllMemories):
    """Opens memories. Belongs to the event loop that made it; close it, or use it as an async context manager."""

    def __init__(
        self,
        registry: Registry,
        backends: Mapping[str, Backend],
        *,
        project: str = DEFAULT_PROJECT,
        waker: FlushWaker | None = None,
        summarizer: Summarizer | None = None,
        counter: TokenCounter | None = None,
        clock: Clock | None = None,
        caller: Caller | None = None,
    ) -> None:
        """Puts a client together from its parts; most programs want `connect`.

        backends: by persistence type, `redis` and `in_memory`. counter: for resources that declare no token_provider.
        Raises MemoryInvalid for a project that is no id, for a waker or summarizer that is none, and for a resource
        that requires encryption where its backend does not encrypt.
        """
        _check(project, waker, summarizer)
        clock = clock or SystemClock()
        parts = ClientParts(
            registry,
            backends,
            project=project,
            waker=waker or NoWaker(),
            summarizer=summarizer,
            counter=counter,
            clock=clock,
        )
        super().__init__(parts, caller or ProcessCaller(clock))

    @classmethod
    async def connect(  # noqa: PLR0913 - each is a choice of its own
        cls,
        redis_url: str | None = None,
        *,
        memories: Registry | Sequence[str | Path],
        project: str = DEFAULT_PROJECT,
        prefix: str = DEFAULT_PREFIX,
        waker: FlushWaker | None = None,
        summarizer: Summarizer | None = None,
        encoding: str = DEFAULT_ENCODING,
        encryption_keys: str | None = None,
        telemetry_key: str | None = None,
    ) -> MemoryClient:
        """Loads the declarations and connects to what they need.

        redis_url: `redis://`, `redis+cluster://`, `redis+sentinel://`, each with `rediss` for TLS, or `unix://`; not
        needed if every resource is in_memory. memories: folders of YAML files, or a registry. project, prefix: must be
        the same in all programs that share memories. waker: wakes background flushes; without one, memories stay due
        until a worker sees them. summarizer: writes the summaries of all resources, in place of those that they
        declare. encoding: an encoding or a model, by which tokens of memories without token_provider are counted; the
        same in all programs, too. encryption_keys: encrypts what Redis keeps, `id:base64` pairs of which the first one
        writes; the same in all programs. telemetry_key: the secret behind the hashes of memories in spans and audit,
        one for all clients of the process. Raises MemoryInvalid for wrong declarations and addresses, for keys that are
        not those of the project, and without keys for a resource that requires encryption,
        MemoryUnavailable if Redis cannot be reached.
        """
        _check(project, waker, summarizer)
        if telemetry_key is not None:
            checked_secret(telemetry_key)
        try:
            counter = make_counter(counting_named(encoding))
        except MemoryInvalid as error:
            raise MemoryInvalid(f"encoding: {error.message}") from None
        registry = memories if isinstance(memories, Registry) else Registry.load(memories)
        registry.prepare()
        backends = await open_backends(
            registry, redis_url, project=project, prefix=prefix, encryption_keys=encryption_keys
        )
        if telemetry_key is not None:
            use_secret(telemetry_key)  # only now: a client that cannot be opened leaves the hashes of others alone
        return cls(registry, backends, project=project, waker=waker, summarizer=summarizer, counter=counter)

    @classmethod
    async def from_environment(cls, *, waker: FlushWaker | None = None) -> MemoryClient:
        """Connects as workers and commands do: with the settings that the environment gives (see docs/running.md).

        It opens no audit file: records of the audit go to the log `durable_memory.audit`. waker: as for `connect`;
        give it the queue of DURABLE_MEMORY_TASK_QUEUE if that is set. Raises also MemoryInvalid for a wrong setting.
        """
        settings = Settings()
        summarizer = settings.own_summarizer()
        if summarizer is not None:
            summarizer.load()  # so that a wrong name fails here, and not in the first flush
        return await cls.connect(
            memories=settings.memories,
            waker=waker,
            summarizer=summarizer,
            **settings.of_client(),
        )

    @property
    def caller(self) -> Caller:
        """On whose behalf it acts."""
        return self._caller

    @property
    def project(self) -> str:
        """The project whose memories these are."""
        return self._parts.project

    @property
    def registry(self) -> Registry:
        """The declarations in force."""
        return self._parts.registry

    def use(self, registry: Registry) -> None:
        """Puts other declarations in force for the handles that are opened from now on; open ones keep theirs.

        Nothing that is stored is touched, also not of a resource that is no longer declared. Raises MemoryInvalid, and
        changes nothing, if a resource needs a store that this client did not open, or keys that it does not have.
        """
        self._parts.use(registry)

    @property
    def parts(self) -> ClientParts:
        """The parts behind it, for what runs flushes and settles memories."""
        return self._parts

    def memory(
        self,
        resource: str | MemoryRef,
        key: str | None = None,
        *,
        input: Mapping[str, Any] | None = None,
        agent: str | None = None,
    ) -> Memory:
        """Returns a handle on one memory; opens nothing.

        resource: the id of a declared memory, or a reference, which stands alone. key: the literal key; without it, the
        template of the agent or the resource is rendered with `input`. agent: the declared agent that calls; it signs
        its messages. Raises MemoryUnknownResource, MemoryKeyInvalid, MemoryAccessDenied, MemoryInvalid.
        """
        if isinstance(resource, MemoryRef):
            reference_alone(key=key, input=input, agent=agent)
            ref = resource
        else:
            no_other_reference("resource", resource, MemoryRef)
            ref = MemoryRef(resource, key=key, input=template_input(input), agent=agent)
        try:
            return self._opened(resolve(ref, self._parts.registry, self._called_from()), self._lender(ref))
        except MemoryAccessDenied as fault:
            refused_open(self._caller, ref, self.project, fault)
            raise

    def agent(self, agent: str | AgentRef, *, input: Mapping[str, Any] | None = None) -> DeclaredAgent:
        """Returns a handle on all memories of a declared agent; opens nothing.

        agent: its id, or a reference, which stands alone. input: what the key templates of its memories are rendered
        with. Raises MemoryUnknownResource, MemoryKeyInvalid, MemoryInvalid.
        """
        if isinstance(agent, AgentRef):
            reference_alone(input=input)
            ref = agent
        else:
            no_other_reference("agent", agent, AgentRef)
            ref = AgentRef(agent, template_input(input))
        found = resolve_agent(ref, self._parts.registry, self._called_from())
        lender = self._lender(ref)
        memories = [UsedMemory(use, self._opened(one, lender)) for use, one in found]
        return DeclaredAgent(given_out(ref, self._caller), memories, self._parts.counter_of)

    def _opened(self, found: Resolved, lender: Owner | None) -> Memory:
        return Memory(self._parts.services(found.resource), found, self._caller, lender)

    def _lender(self, ref: MemoryRef | AgentRef) -> Owner | None:
        """Returns the run that gave a reference out, if it is of another workflow than the one that calls."""
        owner = self._caller.owner
        if owner is None or not ref.workflow_id or not ref.run_id or ref.workflow_id == owner.workflow_id:
            return None
        return Owner(owner.namespace, ref.workflow_id, ref.run_id)

    def _called_from(self) -> CalledFrom:
        owner = self._caller.owner
        return CalledFrom(self.project, owner.workflow_id if owner else None, self._caller.workflow_type)

    def calling_as(self, caller: Caller) -> MemoryClient:
        """Returns this client on behalf of another caller; both share everything else."""
        other = object.__new__(type(self))  # each activity makes one; copy.copy takes ten times as long
        vars(other).update(vars(self), _caller=caller)
        return other

    async def close(self) -> None:
        """Closes the connections. Raises MemoryInvalid in another event loop than that in which they were opened."""
        await self._parts.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def _check(project: object, waker: object, summarizer: object) -> None:
    """Raises MemoryInvalid for parts with which no client can work."""
    if not is_id(project):
        raise MemoryInvalid("project: must be 1 to 100 lower-case letters, digits, '_' and '-'")
    require_method("wake", waker=waker)
    require_method("summarize", summarizer=summarizer)
