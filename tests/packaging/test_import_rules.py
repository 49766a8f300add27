"""Who may import whom, where a list of what is allowed is stricter than import-linter's lists of what is forbidden."""

from __future__ import annotations

import sys

import grimp
import pytest

pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("durable_memory", include_external_packages=True, cache_dir=None)


def strangers(graph: grimp.ImportGraph, package: str, allowed: tuple[str, ...]) -> set[str]:
    """What a package imports beside itself, the standard library and what is allowed."""
    found: set[str] = set()
    for module in {package} | graph.find_descendants(package):
        for imported in graph.find_modules_directly_imported_by(module):
            inside = any(imported == name or imported.startswith(f"{name}.") for name in (package, *allowed))
            if not inside and imported not in sys.stdlib_module_names:
                found.add(f"{module} -> {imported}")
    return found


def test_the_value_types_import_the_standard_library_only(graph: grimp.ImportGraph) -> None:
    assert strangers(graph, "durable_memory.memory.types", ()) == set()


def test_workflow_code_imports_values_the_contract_and_temporal_only(graph: grimp.ImportGraph) -> None:
    allowed = ("durable_memory.memory.types", "durable_memory.activities.wire", "temporalio")
    assert strangers(graph, "durable_memory.workflows", allowed) == set()


def test_the_contract_that_workflows_import_is_as_light_as_they_are(graph: grimp.ImportGraph) -> None:
    assert strangers(graph, "durable_memory.activities.wire", ("durable_memory.memory.types",)) == set()


def test_only_the_redis_driver_and_the_testing_kit_import_redis(graph: grimp.ImportGraph) -> None:
    importers = graph.find_modules_that_directly_import("redis")
    homes = ("durable_memory.memory.stores.redis.", "durable_memory.testing.")
    assert {name for name in importers if not name.startswith(homes)} == set()
