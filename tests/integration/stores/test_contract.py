"""Both stores keep every promise of the port."""

from __future__ import annotations

from collections import Counter

from durable_memory.testing.contracts.store_contract import StoreContract


class TestStoreContract(StoreContract):
    """The shipped suite, against each store."""


def test_no_part_of_the_suite_hides_a_promise_of_another() -> None:
    names = Counter(name for part in StoreContract.__bases__ for name in vars(part) if name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []
