"""The JSON Schema of a YAML document, for editors: made from the models, so it cannot differ from them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.durations import format_duration
from durable_memory.memory.declarations.resource import MemoryResource

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENT: Final[TypeAdapter[MemoryResource | AgentResource]] = TypeAdapter(
    Annotated[MemoryResource | AgentResource, Field(discriminator="resource")]
)


class _Words(GenerateJsonSchema):
    """Titles say what a value is (tokens, a duration, an id), not once more how the field is called."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is the library's
        return False

    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def json_schema() -> dict[str, Any]:
    """Returns the schema of one document, `resource: memory` or `resource: agent`.

    It checks names, types and ranges. Rules between fields, ids in other documents and `${NAME}` are the loader's.
    """
    schema = _DOCUMENT.json_schema(schema_generator=_Words)
    for model in (MemoryResource, AgentResource):
        # In code the model says what it is; a document has to.
        definition = schema["$defs"][model.__name__]
        definition["required"] = ["resource", *definition["required"]]
    for name, definition in schema["$defs"].items():
        for field, property_schema in definition["properties"].items():
            # The default of a part says what the defaults of its fields say, and null is "by scope" or "as computed".
            if not isinstance(property_schema.get("default"), (str, int, float)):
                property_schema.pop("default", None)
            if (name, field) != ("Persistence", "ttl"):
                _refuse_null(property_schema)
    return {"$schema": DIALECT, "title": "A document of Durable Memory", **schema}


def _refuse_null(schema: dict[str, Any]) -> None:
    """Takes null out: in code it says that a field is not given, in a document the field is left out."""
    options = schema.get("anyOf", [])
    given = [option for option in options if option != {"type": "null"}]
    if len(given) == len(options):
        return
    del schema["anyOf"]
    schema.update(given[0])
