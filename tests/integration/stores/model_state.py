"""What the model of a memory holds, and what of it counters and views say."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.limits import Limits
from tests.integration.stores.model_values import Group, Kept, Refused, Summary, Taken, exceeds, reaches, size_of


class ModelState:
    """One memory, or its absence (`exists`). removed: texts that were taken out on purpose, of all incarnations."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.removed: list[str] = []
        self.end()

    def end(self) -> None:
        """Clear, or the end of the lifetime."""
        self.removed += self.texts() if hasattr(self, "live") else []
        self.exists = False
        self.live: list[Kept] = []
        self.overflow: list[Kept] = []
        self.summaries: list[Summary] = []
        self.calls: list[tuple[str, Group]] = []
        self.batch: Taken | None = None
        self.lease: str | None = None
        self.moment = 0
        self.number = 0

    def texts(self) -> list[str]:
        """Every text that is somewhere: live, waiting, covered."""
        return [kept.text for kept in self.live + self.overflow] + [t for s in self.summaries for t in s.cover]

    # Counters

    def outside(self) -> tuple[int, int]:
        """Tokens and messages of all that is live but the summaries."""
        return sum(kept.tokens for kept in self.live), len(self.live)

    def section(self, name: str) -> tuple[int, int]:
        """Tokens and messages of a section."""
        if name == "long_term":
            return sum(s.tokens for s in self.summaries), len(self.summaries)
        kept = [kept for kept in self.live if kept.group.section == name]
        return sum(one.tokens for one in kept), len(kept)

    def total(self) -> tuple[int, int]:
        """Tokens and messages of the live view."""
        tokens, messages = self.outside()
        return tokens + sum(s.tokens for s in self.summaries), messages + len(self.summaries)

    def omitted(self) -> tuple[int, int]:
        """Tokens and messages of the overflow."""
        return sum(kept.tokens for kept in self.overflow), len(self.overflow)

    def due(self) -> bool:
        """Whether a flush is due."""
        tokens, messages = self.outside()
        return (
            bool(self.overflow)
            or reaches(tokens, self.limits.due_tokens)
            or reaches(messages, self.limits.due_messages)
            or self.summaries_over()
        )

    def summaries_over(self) -> bool:
        """Whether summaries fill more than their room, or where the memory drops, more than what never goes leaves."""
        if self.limits.summarize:
            return self.summaries_exceed(self.limits.room_tokens or 0, self.limits.room_messages or 0)
        return self.summaries_exceed(*size_of(self.fixed()))

    def summaries_exceed(self, tokens: int, messages: int) -> bool:
        """Whether summaries are too large to stand beside so much."""
        filled, count = self.section("long_term")
        return bool(count) and (
            exceeds(filled + tokens, self.limits.max_tokens) or exceeds(count + messages, self.limits.max_messages)
        )

    def fixed(self) -> list[Kept]:
        """What is never evicted."""
        return [kept for kept in self.live if kept.group.section == "system" or kept.group.pinned]

    def fixed_exceeds(self) -> bool:
        """Whether what never goes fills more than messages may."""
        tokens, messages = size_of(self.fixed())
        return exceeds(tokens, self.limits.room_tokens) or exceeds(messages, self.limits.room_messages)

    # Views

    def groups(self, section: str) -> list[Group]:
        """The live groups of a section, oldest first."""
        found = {id(kept.group): kept.group for kept in self.live if kept.group.section == section}
        return sorted(found.values(), key=lambda group: group.age)

    def members(self, group: Group) -> list[Kept]:
        """The live messages of a group."""
        return [kept for kept in self.live if kept.group is group]

    def view(self) -> list[list[tuple[str, int]]]:
        """The view: what was stored, or what of it a budget leaves that was lowered since."""
        needed = [[(k.text, k.tokens) for k in self.members(g)] for g in self.visible("system")[::-1]]
        pinned = [group for group in self.visible("short_term")[::-1] if group.pinned]
        needed += [[(k.text, k.tokens) for k in self.members(g)] for g in pinned]
        needed += [[(s.text, s.tokens)] for s in self.summaries[::-1]]
        shown: list[tuple[str, int]] = []
        for block in needed:
            shown += block if self._fits([*shown, *block]) else []
        for group in self.visible("short_term")[::-1]:
            block = [(k.text, k.tokens) for k in self.members(group)]
            if not group.pinned and not self._fits([*shown, *block]):
                break
            shown += [] if group.pinned else block
        return [block for block in self.stored() if block[0] in shown]

    def _fits(self, shown: Sequence[tuple[str, int]]) -> bool:
        tokens = sum(size for _, size in shown)
        return not exceeds(tokens, self.limits.max_tokens) and not exceeds(len(shown), self.limits.max_messages)

    def visible(self, section: str) -> list[Group]:
        """The groups of a section that wait for nothing."""
        return [group for group in self.groups(section) if not group.waiting]

    def left_out(self) -> tuple[int, int]:
        """Tokens and messages that are in no view, though they could be but for a lowered budget; and the overflow."""
        shown = self.view()
        cut = [one for block in self.stored() if block not in shown for one in block]
        tokens, messages = self.omitted()
        return tokens + sum(size for _, size in cut), messages + len(cut)

    def stored(self) -> list[list[tuple[str, int]]]:
        """All that a view may show: blocks of texts with their tokens; open groups are left out."""
        system, conversation = (
            [
                [(kept.text, kept.tokens) for kept in self.members(group)]
                for group in self.groups(section)
                if not group.waiting
            ]
            for section in ("system", "short_term")
        )
        return [*system, *([(s.text, s.tokens)] for s in self.summaries), *conversation]

    def view_of_newest(self, limit: int) -> list[list[tuple[str, int]]]:
        """The newest blocks, together at most so many messages."""
        shown: list[list[tuple[str, int]]] = []
        for block in reversed(self.view()):
            if sum(map(len, shown)) + len(block) > limit:
                break
            shown.insert(0, block)
        return shown

    def view_within(self, tokens: int) -> list[list[tuple[str, int]]]:
        """System, pinned, then the summary if it fits, then the newest of the conversation until one does not fit."""
        seen = [block[0][0] for block in self.view()]
        visible = [g for section in ("system", "short_term") for g in self.visible(section)]
        visible = [g for g in visible if self.members(g)[0].text in seen]
        fixed = [g for g in visible if g.section == "system" or g.pinned]
        left = tokens - sum(kept.tokens for group in fixed for kept in self.members(group))
        if left < 0:
            raise Refused(MemoryOversize)
        shown = [kept.text for group in fixed for kept in self.members(group)]
        for summary in reversed(self.summaries):
            if summary.text in seen and summary.tokens <= left:
                left -= summary.tokens
                shown.append(summary.text)
        for group in reversed([g for g in visible if g not in fixed]):
            left -= sum(kept.tokens for kept in self.members(group))
            if left < 0:
                break
            shown += [kept.text for kept in self.members(group)]
        return [block for block in self.view() if block[0][0] in shown]
