"""The chart, rendered with values: the objects that Kubernetes would be given."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.deploy.dockerfile import CHECKOUT
from tests.deploy.tools import module

FOLDER = CHECKOUT / "deploy" / "helm" / "durable-memory"
VALUES: dict[str, Any] = yaml.safe_load((FOLDER / "values.yaml").read_text())

Values: TypeAlias = Mapping[str, Any]

LEAST: dict[str, Any] = {
    "image": {"repository": "registry.example.com/durable-memory"},
    "temporal": {"address": "temporal.example.com:7233"},
    "secrets": {"redisUrl": {"name": "durable-memory"}},
}
"""What has to be given."""


def merged(*given: Values) -> dict[str, Any]:
    """Lays values over each other, as several `--values` do."""
    result: dict[str, Any] = {}
    for values in given:
        for name, value in values.items():
            inner = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
            result[name] = merged(result[name], value) if inner else deepcopy(value)
    return result


class Refused(Exception):
    """Helm does not take these values, for these reasons."""


def rendered(*given: Values, name: str = "memories", chart: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """Returns the objects by kind, for the least values and these. Raises Refused."""
    helm = module("helm_python")
    values = merged(LEAST, *given)
    with helm.Chart.load(chart) as loaded:
        try:
            loaded.validate_schema(values)
            files = loaded.render(values, name=name, namespace="agents")
        except helm.HelmError as error:
            raise Refused(str(error)) from None
    texts = [text for file, text in files.items() if file.endswith(".yaml")]
    objects = [found for text in texts for found in yaml.safe_load_all(text) if found]
    by_kind = {found["kind"]: found for found in objects}
    assert len(by_kind) == len(objects)
    return by_kind


def container(objects: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The one container of the workers."""
    (found,) = objects["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def variables(objects: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The variables of that container: a text, or where it is from."""
    given = container(objects)["env"]
    by_name = {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in given}
    assert len(by_name) == len(given)
    return by_name
