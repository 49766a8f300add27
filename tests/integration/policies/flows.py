"""A workflow that plays a story on one memory, with activities that any worker of its queue may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow


@workflow.defn
class PlayStory:
    """Appends and reads one after the other."""

    @workflow.run
    async def run(self, queue: str, memory: dict[str, Any], steps: list[dict[str, Any]]) -> list[str]:
        """Returns the texts of the view at the end. A step has a `message`, or `read` with places of appends."""
        ids: list[str] = []
        for step in steps:
            if "message" in step:
                appended = await self._call(queue, "memory.append", memory=memory, messages=[step["message"]])
                ids += appended["ids"]
            else:
                wanted = [ids[place] for place in step["read"]]
                await self._call(queue, "memory.read", memory=memory, ids=wanted)
        view = await self._call(queue, "memory.read", memory=memory)
        return [str(message["content"]) for message in view["messages"]]

    async def _call(self, queue: str, activity: str, **request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await workflow.execute_activity(
            activity, request, task_queue=queue, schedule_to_close_timeout=timedelta(seconds=60)
        )
        return answer
