"""The interceptor around the workflows of a worker.

When a workflow that used memory ends, what belonged to it is settled; on its way it passes on references, and no
handles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.converter import default
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    HandleQueryInput,
    HandleSignalInput,
    HandleUpdateInput,
    Interceptor,
    SignalChildWorkflowInput,
    SignalExternalWorkflowInput,
    StartActivityInput,
    StartChildWorkflowInput,
    StartLocalActivityInput,
    StartNexusOperationInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from durable_memory.activities import wire
from durable_memory.workflows.cleanup import ends_chain, settle
from durable_memory.workflows.passing_on import hold_reference, refuse_handles, without_handles
from durable_memory.workflows.use import mark_used, never_used, was_used

_HEADER = "durable-memory-used"
_ON_END = "durable-memory-on-end"


class WorkflowInterceptor(Interceptor):
    """Worker interceptor that settles what workflows owned that used memory: at their end, or after it."""

    def __init__(self, on_end: Callable[[str, str], None] | None = None) -> None:
        """on_end: is told namespace and id of a workflow that ends, from the thread that runs it.

        Without it, a workflow runs `memory.cleanup` before it ends; with it, it ends where it returns.
        """
        self._on_end = on_end

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        """See base class."""
        if self._on_end is None:
            return _Inbound
        input.unsafe_extern_functions[_ON_END] = self._on_end
        return _InboundWithoutCleanup


class _Inbound(WorkflowInboundInterceptor):
    """Settles memories at the end of a run, and looks at what its handlers answer.

    While it settles, the run is over for the workflow and still open for the server, which takes signals and updates
    that nobody heeds any more.
    """

    def __init__(self, next: WorkflowInboundInterceptor) -> None:
        super().__init__(next)
        self._settling = False

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        if _HEADER in input.headers:
            mark_used()
        try:
            result = await without_handles(super().execute_workflow(input))
        except BaseException as error:
            if ends_chain(error):
                await self._clean_up()
            raise
        if _HEADER not in input.headers:
            _warn_of_idle_handles()
        if not workflow.info().cron_schedule:
            await self._clean_up()
        return result

    async def handle_signal(self, input: HandleSignalInput) -> None:
        """See base class. What a handler raises fails the whole run."""
        if self._settling:
            workflow.logger.warning(
                "The signal %r arrived when this run had ended and its memories were being settled: its handler runs, "
                "the run does not go on for it. Send what must not be missed as an update, which fails then, or let "
                "runs end where they return: MemoryPlugin(cleanup=False)",
                input.signal,
            )
        try:
            await without_handles(super().handle_signal(input))
        except Exception as error:
            if was_used() and ends_chain(error):
                await self._clean_up()
            raise

    async def handle_query(self, input: HandleQueryInput) -> Any:
        """See base class."""
        return await without_handles(super().handle_query(input))

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
        """See base class."""
        if self._settling:
            raise ApplicationError(
                f"The update {input.update!r} arrived when this run had ended and its memories were being settled",
                type="AcceptedUpdateCompletedWorkflow",  # as Temporal names it where a run ends before its update
                non_retryable=True,
            )
        return await without_handles(super().handle_update_handler(input))

    async def _clean_up(self) -> None:
        if was_used():
            self._settling = True
            await settle()


class _InboundWithoutCleanup(_Inbound):
    """The inbound half for runs that end where they return: the server then takes no signal that nobody would heed."""

    async def _clean_up(self) -> None:
        """Tells whoever settles it from outside, which is no command. Not in a replay, as of a run that ended long ago.

        It need not be the end: the server refuses one if a signal came meanwhile.
        """
        if was_used() and not workflow.unsafe.is_replaying():
            info = workflow.info()
            workflow.extern_functions()[_ON_END](info.namespace, info.workflow_id)


class _Outbound(WorkflowOutboundInterceptor):
    """Notes references that a workflow passes on, numbers local activities, and marks the run after continue-as-new."""

    def __init__(self, next: WorkflowOutboundInterceptor) -> None:
        super().__init__(next)
        self._local_calls = 0

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:
        _look_at(input.args)
        return super().start_activity(input)

    def start_local_activity(self, input: StartLocalActivityInput) -> workflow.ActivityHandle[Any]:
        _look_at(input.args)
        self._local_calls += 1
        input.headers = {**input.headers, f"{wire.LOCAL_CALL}{self._local_calls}": _header_value()}
        return super().start_local_activity(input)

    async def start_child_workflow(self, input: StartChildWorkflowInput) -> workflow.ChildWorkflowHandle[Any, Any]:
        refuse_handles(*input.args, *(input.memo or {}).values())
        return await super().start_child_workflow(input)

    async def signal_child_workflow(self, input: SignalChildWorkflowInput) -> None:
        refuse_handles(*input.args)
        await super().signal_child_workflow(input)

    async def signal_external_workflow(self, input: SignalExternalWorkflowInput) -> None:
        refuse_handles(*input.args)
        await super().signal_external_workflow(input)

    async def start_nexus_operation(
        self, input: StartNexusOperationInput[Any, Any]
    ) -> workflow.NexusOperationHandle[Any]:
        refuse_handles(input.input)
        return await super().start_nexus_operation(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> NoReturn:
        refuse_handles(*input.args, *(input.memo or {}).values())
        if was_used():
            input.headers = {**input.headers, _HEADER: _header_value()}
        super().continue_as_new(input)


def _header_value() -> Payload:
    """Encodes the value of a header, of which only the name is read, by the default converter and not by the user's."""
    return default().payload_converter.to_payload(value=True)


def _look_at(arguments: Sequence[Any]) -> None:
    """Refuses handles, and marks a run that passes on a reference as one that used a memory: it may have no handle."""
    refuse_handles(*arguments)
    if not was_used() and hold_reference(*arguments):
        mark_used()


def _warn_of_idle_handles() -> None:
    """Warns of handles that a run made and never used. Nothing else would show it: no call failed, none was made.

    Called only for a run that returned and is the first of its chain: a run that failed may not have come to the use,
    and what an earlier run has used is not known here. Temporal's workflow logger is silent during a replay.
    """
    idle = never_used()
    if idle:
        workflow.logger.warning(
            "This run returned without one call on: %s. Nothing was read or written there; call the handle, pass its "
            "`ref` to the activity that does, or make none",
            ", ".join(idle),
        )
