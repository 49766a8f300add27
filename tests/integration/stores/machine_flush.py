"""The single steps of a flush, in and out of order, also with batches of long ago."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.stores.values import Batch, FlushOptions, Operation
from durable_memory.memory.types import FlushResult
from durable_memory.testing.contracts.builders import summary
from tests.integration.stores.machine_base import LONG_MS, MachineBase, position

any_steps = st.lists(st.sampled_from(["begin", "summarise", "commit", "renew", "fail", "lose the lease"]), min_size=1)
round_or_part = st.sampled_from(
    [["begin", "summarise", "commit"]] * 2
    + [["begin"], ["begin", "summarise"], ["summarise", "commit"], ["commit"]]
    + [
        ["begin", "begin", "summarise", "summarise", "commit", "commit"],
        ["begin", "summarise", "lose the lease", "begin"],
    ]
)

BOUNDS: Final = (None, None, None, 1, 4, 7)
"""How many messages a flush may take."""

SUMMARY_TOKENS: Final = (5, 10, 15, 19, 20, 1, 21, 0)
"""The last two are not accepted: the room for summaries is 20."""


class FlushSteps(MachineBase):
    """What flushers do, those that are late included."""

    @precondition(lambda self: self.limits.summarize)
    @rule(steps=st.one_of(round_or_part, round_or_part, any_steps), place=position, force=st.booleans())
    def flush(self, steps: list[str], place: int, *, force: bool) -> None:
        for turn, step in enumerate(steps, place):
            if step == "begin":
                self.begin(force=force, place=turn, most=self.most(turn))
            elif step == "lose the lease":
                self.lose_the_lease()
            elif self.batches:
                old = self.batches[-1 - turn % len(self.batches)]
                batch = old if self.current is None or turn % 5 == 0 else self.current
                {"summarise": self.summarise, "commit": self.commit, "renew": self.renew, "fail": self.fail}[step](
                    batch, turn
                )
            self.both_show_the_same()

    def begin(self, *, force: bool, place: int, most: int | None) -> None:
        owners = [f"flusher/{next(self.number)}"] * 10 + [batch.flush_id for batch in self.batches]
        owner = owners[place % len(owners)]
        mine = self.current if self.current and self.current.flush_id == owner else None
        plan = self.run(self.memory.plan(force=force, most=most))
        begun = self.run(self.memory.begin(owner, force=force, most=most))
        if owner in self.finished:
            assert isinstance(begun, FlushResult)
            assert replace(begun, flush_due=False) == replace(self.finished[owner], flush_due=False)
        elif not self.model.exists:
            assert begun == FlushResult("gone")
        elif mine:
            self.model.lease = owner
            assert begun == mine
        elif self.model.lease not in {None, owner} or (self.waits_after_failure and not force):
            assert isinstance(begun, FlushResult)
            assert begun.outcome == plan.outcome == "busy"
        elif not self.model.begin(owner, force=force, most=most, taken_first=self.taken(begun)):
            assert isinstance(begun, FlushResult)
            assert begun.outcome == "nothing"
            assert begun.reason in {"below_threshold", "pinned", "keep", "max_messages"}
            assert plan == begun
        else:
            self.begun(begun)
            # The clock decides that order, and it went on after the plan.
            if self.limits.policy != "token_aware_lru":
                self.matches(plan)

    def most(self, place: int) -> int | None:
        return None if self.limits.policy == "token_aware_lru" else BOUNDS[place % len(BOUNDS)]

    def taken(self, begun: Batch | FlushResult) -> list[str]:
        return self.run(self.memory.content_texts(begun)) if isinstance(begun, Batch) else []

    def is_what_happened(self, plan: FlushResult, answer: FlushResult) -> None:
        assert replace(plan, outcome=answer.outcome, flush_due=False) == replace(answer, flush_due=False)

    def matches(self, plan: FlushResult) -> None:
        """A plan that was asked for just before is what the batch takes."""
        assert self.model.batch is not None
        taken = [kept.text for kept in self.model.batch.messages]
        assert plan.outcome == "planned"
        assert sorted(plan.removed_ids) == sorted(self.ids[text] for text in taken)
        assert (plan.tokens_before, plan.messages_before) == self.model.total()
        live = [kept for kept in self.model.batch.messages if kept in self.model.live]
        assert plan.messages_after == len(self.model.live) - len(live) + 1
        assert plan.tokens_after == self.model.outside()[0] - sum(k.tokens for k in live) + self.limits.summary_tokens

    def begun(self, begun: Batch | FlushResult) -> None:
        assert isinstance(begun, Batch)
        assert self.model.batch is not None
        assert begun.summary_max == self.limits.summary_tokens
        assert sorted(self.taken(begun)) == sorted(self.model.batch.texts())
        assert begun.messages == len(self.model.batch.messages)
        assert all(begun.fence > batch.fence for batch in self.batches if batch.incarnation == begun.incarnation)
        self.current = begun
        self.batches.append(begun)

    def stopped(self) -> str:
        return "stale" if self.model.exists else "gone"

    def summarise(self, batch: Batch, place: int) -> None:
        if batch is not self.current or self.model.batch is None:
            assert self.run(self.memory.store.content(self.memory.memory, batch, 0)) == self.stopped()
            draft = self.memory.store.draft(self.memory.memory, batch, summary("late"))
            assert self.run(draft) == self.stopped()
            return
        texts = self.run(self.memory.content_texts(batch))
        assert sorted(texts) == sorted(self.model.batch.texts())
        covered = [word for text in texts for word in text.split() if word.startswith("m")]
        self.model.batch.draft = summary(
            " ".join([f"S{next(self.number)}", *covered]), SUMMARY_TOKENS[place % len(SUMMARY_TOKENS)]
        )
        assert self.run(self.memory.store.draft(self.memory.memory, batch, self.model.batch.draft)) is None

    def commit(self, batch: Batch, _: int) -> None:
        if batch.flush_id in self.finished:
            again = self.run(self.memory.commit(batch))
            assert replace(again, flush_due=False) == replace(self.finished[batch.flush_id], flush_due=False)
            assert again.flush_due == self.model.due()
        elif batch is not self.current or self.model.batch is None:
            assert self.run(self.memory.commit(batch)).outcome == self.stopped()
        elif self.model.batch.draft is None or not 0 < self.model.batch.draft.tokens <= batch.summary_max:
            with pytest.raises(MemorySummaryRejected):
                self.run(self.memory.commit(batch))
        else:
            before = self.model.total()
            committed = self.run(self.memory.commit(batch))
            removed = self.model.commit()
            assert committed.outcome == "committed"
            assert sorted(committed.removed_ids) == sorted(self.ids[text] for text in removed)
            assert (committed.tokens_before, committed.messages_before) == before
            assert (committed.tokens_after, committed.messages_after) == self.model.total()
            assert committed.flush_due == self.model.due()
            self.ids[self.model.summaries[-1].text] = str(committed.summary_id)
            self.finished[batch.flush_id] = committed
            self.current, self.waits_after_failure = None, False

    def renew(self, batch: Batch, _: int) -> None:
        renewed = self.run(self.memory.store.renew(self.memory.memory, batch, self.limits))
        assert renewed == (batch is self.current and self.model.lease in {None, batch.flush_id})
        self.model.lease = batch.flush_id if renewed else self.model.lease

    def fail(self, batch: Batch, place: int) -> None:
        wait = place % 2 == 0
        failed = self.memory.store.fail(self.memory.memory, batch, "SummariserDown", LONG_MS // 10 if wait else 0)
        if batch is not self.current:
            assert self.run(failed) == self.stopped()
            return
        assert self.run(failed) is None
        self.current = self.model.batch = self.model.lease = None
        self.waits_after_failure = wait

    def lose_the_lease(self) -> None:
        self.run(self.rig.expire_lease(self.memory))
        self.model.lease = None

    @precondition(lambda self: not self.limits.summarize)
    @rule(force=st.booleans(), place=position)
    def drop(self, place: int, *, force: bool) -> None:
        most = self.most(place)
        operation = self.memory.operation(None, str(force))

        def attempt(again: Operation) -> Coroutine[Any, Any, FlushResult]:
            return self.memory.store.drop(self.memory.memory, again, self.limits, FlushOptions(force, most))

        existed = self.model.exists
        plan = self.run(self.memory.plan(force=force, most=most))
        answer = self.run(attempt(operation))
        known = {message_id: text for text, message_id in self.ids.items()}
        removed = self.model.drop(force=force, most=most, taken_first=[known[one] for one in answer.removed_ids])
        if self.limits.policy != "token_aware_lru":
            self.is_what_happened(plan, answer)
        assert answer.outcome == ("gone" if not existed else "dropped" if removed else "nothing")
        assert sorted(answer.removed_ids) == sorted(self.ids[text] for text in removed)
        self.current = self.current if self.model.batch else None
        self.waits_after_failure = self.waits_after_failure and not removed
