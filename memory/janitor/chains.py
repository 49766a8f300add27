"""Whether the workflows that own memories go on: a chain of runs, as the workflow engine sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.stores.index_port import Binding


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a workflow.

    first_id: the first run of its chain (continue-as-new, retries, cron, resets); None if the engine does not say.
    """

    id: str
    first_id: str | None
    state: Literal["open", "closed", "unknown"]


class Runs(Protocol):
    """The port to the engine that runs workflows."""

    async def describe(self, workflow: WorkflowId, run_id: str | None = None) -> Run | None:
        """Returns a run, by default the latest of its id; None only if the engine is sure to have no such run.

        Raises MemoryUnavailable for everything else: it does not answer, or does not let us ask.
        """
        ...

    async def retention_ms(self, namespace: str) -> int:
        """Returns how long a namespace remembers a closed workflow. Raises MemoryUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which bound runs of one workflow have ended with their chains.

    unknown: of others it could not be told. open_run: the one run of this workflow id that is open, if it is known.
    """

    ended: frozenset[str]
    unknown: bool = False
    open_run: str | None = None


async def judge(runs: Runs, bindings: Sequence[Binding], now_ms: int) -> Verdict:
    """Asks for the runs that bind one workflow id to memories. now_ms: by the clock of the bindings.

    A chain lives if the latest run of its id is open and of the same chain; it has ended if the latest run is closed
    or of another chain, or if the id is not found and the binding is older than the namespace remembers. Anything else
    is unknown: nothing may be deleted for it. Not asked for, and in no verdict, is a run whose memories the open run is
    bound to as well, since they stay owned whatever became of it.
    """
    bound = {binding.owner.run_id: binding for binding in bindings}
    workflow = bindings[0].owner.workflow
    try:
        latest = await runs.describe(workflow)
        if latest is None:
            return await _judge_forgotten(runs, workflow.namespace, bound, now_ms)
    except MemoryUnavailable:
        return Verdict(frozenset(), unknown=True)
    if latest.state == "closed":
        return Verdict(frozenset(bound))
    if latest.state == "unknown":
        return Verdict(frozenset(), unknown=True)
    taken_over = {binding.memory for binding in bindings if binding.owner.run_id == latest.id}
    ended, unknown = set(), False
    for run_id in {binding.owner.run_id for binding in bindings if binding.memory not in taken_over}:
        try:
            run = await runs.describe(workflow, run_id)
        except MemoryUnavailable:
            run = None
        if run is None or run.first_id is None or latest.first_id is None:
            unknown = True
        elif run.first_id != latest.first_id:
            ended.add(run_id)
    return Verdict(frozenset(ended), unknown, latest.id)


async def judge_own_end(runs: Runs, bindings: Sequence[Binding], run_id: str) -> Verdict:
    """Judges the same for a run that is about to end by itself, and is still open.

    As long as it is the latest run of its id, all earlier ones have ended, or end with it.
    """
    others = [binding for binding in bindings if binding.owner.run_id != run_id]
    own = frozenset({run_id})
    if not others:
        return Verdict(own)
    try:
        latest = await runs.describe(others[0].owner.workflow)
    except MemoryUnavailable:
        return Verdict(own, unknown=True)
    if latest is not None and latest.id == run_id:
        return Verdict(own | {binding.owner.run_id for binding in others})
    # Terminated and replaced while its last activity ran.
    verdict = await judge(runs, others, now_ms=0)
    return Verdict(own | verdict.ended, verdict.unknown)


async def _judge_forgotten(runs: Runs, namespace: str, bound: dict[str, Binding], now_ms: int) -> Verdict:
    remembered_since_ms = now_ms - await runs.retention_ms(namespace)
    ended = frozenset(run_id for run_id, binding in bound.items() if binding.bound_ms < remembered_since_ms)
    return Verdict(ended, unknown=len(ended) < len(bound))
