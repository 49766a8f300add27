"""A summariser whose errors hold what was said."""

from __future__ import annotations

from durable_memory.memory.flushing.summarizer import SummaryRequest
from tests.integration.telemetry.planted import MARKER


class RepeatsWhatItWasTold:
    """A summariser that fails as clients of models do: with the request in the error, and in the one behind it."""

    max_input_tokens: int | None = None

    def __init__(self) -> None:
        self.calls = 0

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        self.calls += 1
        said = request.messages[0].text
        assert MARKER in said
        raise RuntimeError(f"cannot summarise {said}") from ValueError(said)
