"""The JSON Schema of a YAML document, for editors: made from the models, so it cannot differ from them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.resource import MemoryResource

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENT: Final[TypeAdapter[MemoryResource | AgentResource]] = TypeAdapter(
    Annotated[MemoryResource | AgentResource, Field(discriminator="resource")]
)


def json_schema() -> dict[str, Any]:
    """Returns the schema of one document, `resource: memory` or `resource: agent`.

    It checks names, types and ranges. Rules between fields, ids in other documents and `${NAME}` are the loader's.
    """
    schema = _DOCUMENT.json_schema()
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
