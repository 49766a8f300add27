"""What this process lacks to ask the language models that memories declare: an optional package, or a key."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from typing import Any

from durable_memory.memory.declaration_faults import Finding
from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.provider_access import is_variable
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.summarizer import KEY_VARIABLES, is_model, provider_of
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.tokens.endpoint import COUNTING_PROVIDERS

# Documents are looked at as they are written, so that whatever else is wrong with one does not hide this. So a value is
# repeated only if it has the form of a name: it may have been filled in from a secret.


def missing_extra(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yields what is wrong if a language model is to summarise, and its library is not installed."""
    choice = _model_of(document)
    if choice is not None and not all(map(_installed, ("pydantic_ai", provider_of(choice.get("model"))))):
        problem = f"type llm of {_whose(document)} needs the extra llm: pip install 'durable-memory[llm]'"
        yield ("flushing", "summarizer"), problem


def missing_key(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yields what is wrong if a language model is to summarise, and the variable that holds its key is not set."""
    choice = _model_of(document)
    model = None if choice is None else choice.get("model")
    if choice is None or not is_model(model):
        return
    named = choice.get("api_key_env")
    variable = named if named or choice.get("endpoint") else KEY_VARIABLES[provider_of(model)]
    if is_variable(variable) and not os.environ.get(variable):
        problem = f"{_whose(document)} needs the key of {model}: the environment variable {variable} is not set"
        yield ("flushing", "summarizer", "api_key_env" if named else "model"), problem


def cannot_summarize(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yields both: for processes that run flushes."""
    yield from missing_extra(document)
    yield from missing_key(document)


def missing_counting_key(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yields what is amiss, and no fault, if a counting endpoint is to be asked with a key that is not set."""
    provider = document.get("token_provider")
    if not isinstance(provider, Mapping) or provider.get("provider") not in COUNTING_PROVIDERS:
        return
    variable = provider.get("api_key_env")
    if is_variable(variable) and not os.environ.get(variable):
        problem = (
            f"the environment variable {variable} is not set, so nothing corrects the estimates of the tokens of "
            f"{_whose(document)}"
        )
        yield ("token_provider", "api_key_env"), problem


def check_models(registry: Registry, resource: str | None = None) -> None:
    """Raises InvalidDeclarations if declared models cannot be asked here: those of one memory resource, else all."""
    faults = registry.faults(
        lambda document: cannot_summarize(document) if resource in {None, document.get("id")} else ()
    )
    if faults:
        raise InvalidDeclarations(faults)


def _model_of(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the summariser of a document that is a language model."""
    flushing = document.get("flushing")
    choice = flushing.get("summarizer") if isinstance(flushing, Mapping) else None
    return choice if isinstance(choice, Mapping) and choice.get("type") == "llm" else None


def _whose(document: Mapping[str, Any]) -> str:
    identifier = document.get("id")
    return f"memory {identifier!r}" if is_id(identifier) else "this memory"


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
