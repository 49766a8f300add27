"""Conformance: what holds under every policy, and what each of them promises of its own."""

from __future__ import annotations

from typing import Final, get_args

import pytest

from durable_memory.memory.limits import PolicyName
from durable_memory.memory.stores.values import Entry
from durable_memory.testing.contracts.builders import call, dropping, result, summarising, system, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase

POLICIES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)
LOW, NORMAL, HIGH, CRITICAL = range(4)
BANDS: Final = {"l": LOW, "h": HIGH, "c": CRITICAL}
"""The priorities of the messages that begin with these letters; all others have the usual one."""


def said(*texts: str, tokens: int = 10) -> list[Entry]:
    """Messages of these texts, with the priority that their first letter stands for."""
    return [user(text, tokens, band=BANDS.get(text[0], NORMAL)) for text in texts]


class EveryPolicyContract(StoreCase):
    """Whatever goes next, these hold."""

    @pytest.fixture(params=POLICIES)
    def policy(self, request: pytest.FixtureRequest) -> str:
        """Each policy in turn."""
        return str(request.param)

    async def test_the_budget_holds_and_counters_are_a_recount(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(summarising(policy=policy))
        for number in range(30):
            ids = (await memory.append(*said(f"{'lnhc'[number % 4]}{number}", tokens=number % 9 + 4))).ids
            await memory.touch(*ids * (number % 3))
            assert (await memory.read()).tokens <= (memory.limits.room_tokens or 0)
        await memory.check_counters()

    async def test_groups_go_whole_and_open_ones_last(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(dropping(policy=policy))
        await memory.append(call("calls", "1", "2"), call("waits", "3"), result("one", "1"), result("two", "2"))
        await memory.append(*said("n1", "n2", "n3"))
        await memory.append(user("large", 50))
        assert await memory.texts() == ["n1", "n2", "n3", "large"]
        await memory.append(result("three", "3"))
        await memory.check_counters()

    async def test_system_and_pinned_messages_stay_whatever_their_priority(
        self, open_memory: OpenMemory, policy: str
    ) -> None:
        memory = open_memory(dropping(policy=policy))
        await memory.append(system("rule"), user("pin", pinned=True, band=LOW), *said(*"cccccccc"))
        await memory.append(*said("c9"))
        await memory.drop(force=True)
        assert await memory.texts() == ["rule", "pin"]

    async def test_what_was_just_said_is_in_the_next_view(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(dropping(policy=policy))
        ids = (await memory.append(*said(*(f"c{number}" for number in range(10))))).ids
        await memory.touch(*ids)
        await memory.append(*said("low", "l2"))
        assert (await memory.texts())[-1] == "l2"

    async def test_what_was_just_said_goes_if_nothing_else_can(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(dropping(policy=policy))
        await memory.append(*(user(f"pin{number}", pinned=True) for number in range(9)))
        assert (await memory.append(user("large", 11))).evicted == 1
        assert (await memory.append(user("fits", 10))).evicted == 0
        assert (await memory.texts())[-1] == "fits"

    async def test_a_plain_read_changes_nothing(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(dropping(policy=policy))
        await memory.append(*said(*(f"n{number}" for number in range(10))))
        before = await memory.state()
        for _ in range(3):
            await memory.read(limit=5)
        assert await memory.state() == before
        await memory.append(user("next"))
        assert await memory.texts() == [*(f"n{number}" for number in range(1, 10)), "next"]

    async def test_a_flush_keeps_both_ends_of_the_conversation(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(dropping(policy=policy, keep_first=1, keep_last=2))
        await memory.append(*said("l0", "c1", "n2", "c3", "l4", "l5"))
        await memory.drop(force=True)
        assert await memory.texts() == ["l0", "l4", "l5"]

    async def test_a_flush_goes_down_to_its_target(self, open_memory: OpenMemory, policy: str) -> None:
        memory = open_memory(summarising(policy=policy))
        await memory.append(*said("c1", "l2", "n3", "h4", "n5", "l6", "n7"))
        assert (await memory.batch()).messages == 3

    @pytest.mark.parametrize("before", POLICIES)
    async def test_a_change_of_policy_takes_the_memory_over(
        self, open_memory: OpenMemory, policy: str, before: str
    ) -> None:
        memory = open_memory(dropping(policy=before))
        ids = (await memory.append(*said("n0", "h1", "l2", "c3", "l4", *"56789"))).ids
        await memory.touch(ids[0])
        await memory.touch(ids[0])
        changed = memory.under(dropping(policy=policy))
        await changed.append(user("a"), user("b"))
        gone = {text[0] for text in ["n0", "h1", "l2", "c3", "l4"] if text not in await changed.texts()}
        recent = {"lru", "token_aware_lru"}
        same = before == policy or {before, policy} == recent
        assert "".join(sorted(gone)) == (
            "ll"[:1] if policy == "priority" else "hl" if same and policy in recent | {"lfu"} else "hn"
        )
        await changed.append(*said(*"cdefg"))
        await changed.check_counters()


class PoliciesContract(StoreCase):
    """Each policy's own promise."""

    async def test_lfu_keeps_what_was_accessed_more_often(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="lfu"))
        ids = (await memory.append(*said(*(f"n{number}" for number in range(10))))).ids
        for index, times in ((0, 3), (1, 1), (2, 2), (9, 1)):
            for _ in range(times):
                await memory.touch(ids[index])
        await memory.read(ids=(ids[4],))
        await memory.append(*said(*"abcde"))
        assert await memory.texts() == ["n0", "n1", "n2", "n4", "n9", *"abcde"]
        for text in "fg":
            await memory.append(user(text))
        assert await memory.texts() == ["n0", "n1", "n2", "n4", "n9", *"cdefg"]

    async def test_lfu_takes_the_oldest_of_equals_at_a_flush(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="lfu"))
        ids = (await memory.append(*said(*(f"n{number}" for number in range(7))))).ids
        await memory.touch(ids[0], ids[2])
        assert await memory.content_texts(await memory.batch()) == ["n1", "n3", "n4"]

    async def test_priority_evicts_the_lowest_first_and_the_oldest_of_equals(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="priority"))
        await memory.append(*said("h0", "l1", "n2", "c3", "l4", "n5", "h6", "n7", "l8", "n9"))
        gone = []
        for text in ("h10", "h11", "h12", "h13", "h14"):
            before = await memory.texts()
            await memory.append(*said(text))
            gone += [one for one in before if one not in await memory.texts()]
        assert gone == ["l1", "l4", "l8", "n2", "n5"]

    async def test_priority_ignores_accesses(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="priority"))
        ids = (await memory.append(*said("l0", *(f"n{number}" for number in range(1, 10))))).ids
        await memory.touch(ids[0])
        await memory.append(*said("n10"))
        assert "l0" not in await memory.texts()

    async def test_a_group_has_the_priority_of_the_message_that_opens_it(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="priority"))
        await memory.append(call("low", "1", band=LOW), call("high", "2", band=HIGH), *said("n0", "n1"))
        await memory.append(result("of low", "1"), result("of high", "2"), *said("n2", "n3", "n4", "n5"))
        await memory.append(*said("n6"))
        assert await memory.texts() == ["high", "of high", *(f"n{number}" for number in range(7))]

    async def test_a_batch_goes_by_priority_too(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="priority"))
        await memory.append(*said(*(f"n{number}" for number in range(10))))
        await memory.append(*said("l0", "h1", "l2", "h3", "l4"))
        assert await memory.texts() == [*(f"n{number}" for number in range(3, 10)), "h1", "h3", "l4"]

    async def test_a_flush_takes_the_lowest_priority_first(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="priority"))
        await memory.append(*said("n0", "l1", "h2", "n3", "l4", "c5", "n6"))
        assert sorted(await memory.content_texts(await memory.batch())) == ["l1", "l4", "n0"]

    async def test_a_group_keeps_its_priority_while_it_is_pinned(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="priority"))
        ids = (await memory.append(call("low", "1", band=LOW), *said("h1", *(f"n{n}" for n in range(2, 9))))).ids
        await memory.pin(ids[0], ids[1])
        await memory.append(result("of low", "1"))
        await memory.append(*said("n9"))
        assert (await memory.texts())[:3] == ["low", "of low", "h1"]
        await memory.unpin(ids[0], ids[1])
        await memory.append(*said("n10"))
        assert (await memory.texts())[:2] == ["h1", "n3"]

    async def test_a_message_keeps_its_priority_for_a_later_policy(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="fifo"))
        await memory.append(*said("n0", "l1", "c2", *(f"n{number}" for number in range(3, 10))))
        changed = memory.under(dropping(policy="priority"))
        await changed.append(user("next"))
        assert "l1" not in await changed.texts()

    async def test_token_aware_lru_flushes_what_is_large_and_long_unused(self, open_memory: OpenMemory) -> None:
        memory = open_memory(summarising(policy="token_aware_lru"))
        ids = (await memory.append(user("old", 5), user("large", 30), user("middle", 14), user("new", 15))).ids
        batch = await memory.batch("one")
        assert await memory.content_texts(batch) == ["large"]
        await memory.store.fail(memory.memory, batch, "Stopped", 0)
        await memory.touch(ids[1])
        assert (await memory.batch("two", force=True)).messages == 4

    async def test_token_aware_lru_evicts_what_is_least_recently_used(self, open_memory: OpenMemory) -> None:
        memory = open_memory(dropping(policy="token_aware_lru"))
        ids = (await memory.append(user("old", 5), user("small", 5), user("large", 80), user("new", 10))).ids
        await memory.touch(ids[0])
        await memory.append(user("next", 5))
        assert await memory.texts() == ["old", "large", "new", "next"]
