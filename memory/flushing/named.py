"""A summariser of the user's own that a setting names, as `package.module:factory`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any, Final, cast

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest

NAME: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
"""How such a name looks."""


class NamedSummarizer:
    """A Summarizer that is imported and made when it is needed, or at `load`.

    The module is an installed one, or one of the folder that the program is started in. The factory takes no arguments;
    a class is one.
    """

    def __init__(self, name: str) -> None:
        """Takes a name that NAME matches."""
        self._name = name
        self._made: Summarizer | None = None

    @property
    def max_input_tokens(self) -> int | None:
        """See Summarizer."""
        return self.load().max_input_tokens

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        return await self.load().summarize(request)

    def load(self) -> Summarizer:
        """Returns what the factory makes, once. Raises MemoryInvalid, in one sentence, if there is no such thing."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self) -> Summarizer:
        module_name, _, factory_name = self._name.partition(":")
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)  # at the end, so that it shadows nothing that is installed
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise self._wrong(f"the module cannot be imported: {error}") from error
        except Exception as error:
            raise self._wrong(f"the module cannot be imported ({type(error).__name__})") from error
        factory: Any = getattr(module, factory_name, None)
        if not callable(factory):
            raise self._wrong(f"the module has no function or class {factory_name!r}")
        try:
            made = factory()
        except Exception as error:
            raise self._wrong(f"the factory failed ({type(error).__name__})") from error
        if not hasattr(made, "max_input_tokens") or not callable(getattr(made, "summarize", None)):
            raise self._wrong("what the factory makes is no summariser: it needs max_input_tokens and summarize")
        return cast("Summarizer", made)

    def _wrong(self, problem: str) -> MemoryInvalid:
        return MemoryInvalid(f"the summariser {self._name} (--summarizer, DURABLE_MEMORY_SUMMARIZER): {problem}")
