"""The values of the chart: every setting can be set, and what is wrong is refused in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from durable_memory.memory.settings import SECRETS, Settings, variable_of
from tests.deploy.chart import FOLDER, VALUES, Refused, Values, rendered, variables
from tests.deploy.values import EVERYTHING

SCHEMA = json.loads((FOLDER / "values.schema.json").read_text())
OTHERS = ("TEMPORAL_TLS_SERVER_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT", "ANTHROPIC_API_KEY")
OWN = {
    "DURABLE_MEMORY_HTTP_PORT": "httpPort",
    "REDIS_URL": "secrets.redisUrl",
    "REDIS_URL_FILE": "secrets.redisUrl",
    "DURABLE_MEMORY_ENCRYPTION_KEYS": "secrets.encryptionKeys",
    "DURABLE_MEMORY_ENCRYPTION_KEYS_FILE": "secrets.encryptionKeys",
    "DURABLE_MEMORY_PAYLOAD_KEYS": "secrets.payloadKeys",
    "DURABLE_MEMORY_PAYLOAD_KEYS_FILE": "secrets.payloadKeys",
    "DURABLE_MEMORY_TELEMETRY_KEY": "secrets.telemetryKey",
    "DURABLE_MEMORY_TELEMETRY_KEY_FILE": "secrets.telemetryKey",
    "TEMPORAL_ADDRESS": "temporal.address",
    "TEMPORAL_API_KEY": "secrets.temporalApiKey",
    "TEMPORAL_DEPLOYMENT_NAME": "versioning.deploymentName",
    "TEMPORAL_NAMESPACE": "temporal.namespace",
    "TEMPORAL_TLS": "temporal.tls",
    "TEMPORAL_TLS_CLIENT_CERT_PATH": "temporal.tls",
    "TEMPORAL_TLS_CLIENT_KEY_PATH": "temporal.tls",
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH": "temporal.tls",
    "TEMPORAL_WORKER_BUILD_ID": "versioning.buildId",
}
"""Variables that have a value of their own."""
IN_ENV = sorted({variable_of(field) for field in Settings.model_fields} - set(OWN)) + list(OTHERS)


@pytest.mark.parametrize("variable", IN_ENV)
def test_every_other_setting_is_set_by_env(variable: str) -> None:
    assert variables(rendered({"env": {variable: "x"}}))[variable] == "x"


@pytest.mark.parametrize("variable", OWN)
def test_what_the_chart_sets_itself_is_refused_with_the_value_that_sets_it(variable: str) -> None:
    with pytest.raises(Refused, match=f"env.{variable}: set {OWN[variable]} instead$"):
        rendered({"env": {variable: "x"}})
    found: Any = VALUES
    for name in OWN[variable].split("."):
        found = found[name]


def test_it_sets_nothing_else() -> None:
    files = {f"{variable}_FILE" for variable in SECRETS.values()}
    assert files <= set(OWN)
    set_by_chart = set(variables(rendered(EVERYTHING, {"env": {}}))) - set(EVERYTHING["env"])
    assert set_by_chart == set(OWN) - set(SECRETS.values())


def test_what_env_gives_arrives_as_it_was_written() -> None:
    given = variables(rendered(EVERYTHING))
    assert {name: given[name] for name in EVERYTHING["env"]} == {
        **EVERYTHING["env"],
        "DURABLE_MEMORY_SUMMARY_SLOTS": "1000000",
        "FLAG": "true",
    }


REFUSED: list[tuple[Values, str]] = [
    ({"replicas": 3}, "additional properties 'replicas' not allowed"),
    ({"replicaCount": "two"}, "/replicaCount': got string, want integer"),
    ({"image": {"digest": "latest"}}, "/image/digest': 'latest' does not match"),
    ({"temporal": {"address": "https://temporal.example.com"}}, "/temporal/address': .* does not match"),
    ({"temporal": {"address": ""}}, "temporal.address: host:port of your Temporal"),
    ({"image": {"repository": ""}}, "image.repository: where you pushed the image"),
    ({"secrets": {"redisUrl": {"name": ""}}}, "secrets.redisUrl.name: a Secret whose key"),
    ({"secrets": {"redisURL": {"name": "a"}}}, "/secrets': additional properties 'redisURL' not allowed"),
    (yaml.safe_load("env: {DURABLE_MEMORY_RELOAD_INTERVAL: off}"), 'RELOAD_INTERVAL: write "off" in quotes'),
    ({"env": {"NAMES": ["a"]}}, "/env/NAMES': got array, want boolean or number or string"),
    ({"env": {"no-name": "a"}}, "'no-name' does not match"),
    ({"env": {"KEY": {"secretKeyRef": {"name": "a"}}}}, "missing property 'key'"),
    ({"memories": {"files": {"support.txt": "a"}}}, "'support.txt' does not match"),
    (
        {"memories": {"files": {"a.yaml": "a"}, "configMap": "b"}},
        "memories.files, memories.configMap: give one of them",
    ),
    ({"versioning": {"buildId": "b2"}}, "a versioned worker needs both"),
    ({"httpPort": 80}, "/httpPort': minimum: got 80, want 1,?024"),
    ({"terminationGracePeriodSeconds": 10}, "/terminationGracePeriodSeconds': minimum: got 10, want 15"),
    ({"podDisruptionBudget": {"maxUnavailable": "one"}}, "/podDisruptionBudget/maxUnavailable': 'one' does not match"),
]


@pytest.mark.parametrize(("values", "words"), REFUSED)
def test_a_wrong_value_is_refused_and_named(values: Values, words: str) -> None:
    with pytest.raises(Refused, match=words):
        rendered(values)


def test_every_value_has_a_default_and_every_default_is_a_value() -> None:
    def names(schema: dict[str, Any], found: str = "") -> set[str]:
        if "$ref" in schema:
            schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]]
        inner = schema.get("properties")
        if inner is None or schema.get("additionalProperties") is not False:
            return {found}
        return {name for key, value in inner.items() for name in names(value, f"{found}.{key}")}

    def defaults(values: Values, found: str = "") -> set[str]:
        inner = {f"{found}.{key}": value for key, value in values.items()}
        return {
            name
            for key, value in inner.items()
            for name in (defaults(value, key) if isinstance(value, dict) and value else {key})
        }

    # Helm hands `global` to all charts of a release; what a pod asks for and may have is Kubernetes' to name.
    given = {name for name in defaults(VALUES) if not name.startswith(".resources")}
    assert given == names(SCHEMA) - {".global", ".resources.claims", ".resources.limits", ".resources.requests"}
