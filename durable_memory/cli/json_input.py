"""JSON that a command reads from a file or stdin."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from durable_memory.cli.output import say
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.types import field_path


def read_json(file: str) -> Any:
    """Returns what a file, or stdin for `-`, holds. Raises MemoryInvalid with name and line."""
    name = "stdin" if file == "-" else file
    try:
        if file == "-":
            say_if_typed("JSON")
        # utf-8-sig, since some programs on Windows begin a file with a mark.
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_fields)
    except OSError as error:
        raise MemoryInvalid(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise MemoryInvalid(f"{name}: is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise MemoryInvalid(f"{name}:{error.lineno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise MemoryInvalid(f"{name}: is nested too deeply") from None
    except ValueError:
        raise MemoryInvalid(f"{name}: holds a number of too many digits; send it as text") from None


def say_if_typed(what: str) -> None:
    """Says what is waited for where stdin is a terminal, at which a command would seem to hang."""
    if sys.stdin.isatty():
        say(f"Reading {what} from the terminal; Ctrl-D ends it.")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object; what stands twice in it would silently lose one of its values."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MemoryInvalid(f"{field_path('', twice).removeprefix('.')}: stands twice in one object")
    return fields
