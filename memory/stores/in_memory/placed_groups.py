"""The groups of a memory, by where they stand, and the counters that change with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.values import OVERFLOW, Group, Place, Tally, in_conversation
from durable_memory.memory.stores.values import StoredEntry
from durable_memory.memory.types import LONG_TERM, SYSTEM, Section


class PlacedGroups:
    """Groups in their sections and in the overflow, each found by the numbers of its messages.

    tallies: what each place holds. pinned: what pinned groups of the conversation hold. Both are sums, kept by the
    methods that change a group.
    """

    def __init__(self) -> None:
        self.groups: defaultdict[Place, dict[int, Group]] = defaultdict(dict)
        self.tallies: defaultdict[Place, Tally] = defaultdict(Tally)
        self.pinned: defaultdict[Place, Tally] = defaultdict(Tally)
        self.where: dict[int, Group] = {}

    @property
    def outside(self) -> Tally:
        """What system and conversation fill together: all but the summaries."""
        return _sum(tally for place, tally in self.tallies.items() if place not in {LONG_TERM, OVERFLOW})

    @property
    def view(self) -> Tally:
        """What everything live fills."""
        return _sum((self.outside, self.tallies[LONG_TERM]))

    @property
    def fixed(self) -> Tally:
        """What system and pinned messages fill, which are never evicted."""
        return _sum((self.tallies[SYSTEM], *self.pinned.values()))

    def fill(self, section: Section, limits: Limits) -> Tally:
        """What a section fills; short_term with the messages of sections that are not declared."""
        return _sum(self.tallies[place] for place in self._places(section, limits))

    def pinned_in(self, section: Section, limits: Limits) -> Tally:
        """What pinned messages of a section of the conversation fill."""
        return _sum(self.pinned[place] for place in self._places(section, limits))

    def groups_in(self, section: Section, limits: Limits) -> list[Group]:
        """Returns the live groups of a section, oldest first."""
        groups = (group for place in self._places(section, limits) for group in self.groups[place].values())
        return sorted(groups, key=lambda group: group.number)

    def groups_of_conversation(self) -> list[Group]:
        """Returns the live groups of all sections of the conversation, oldest first."""
        groups = (group for place, held in self.groups.items() if in_conversation(place) for group in held.values())
        return sorted(groups, key=lambda group: group.number)

    def _places(self, section: Section, limits: Limits) -> list[Place]:
        known = [*self.groups]
        return [place for place in known if place != OVERFLOW and limits.section_of(place) == section]

    def _put(self, group: Group) -> None:
        """Puts a whole group where its `place` says."""
        self.groups[group.place][group.number] = group
        self._count(group, group.tokens, group.messages)

    def _take(self, group: Group) -> None:
        """Takes a whole group from its place; its messages are still found by their numbers."""
        del self.groups[group.place][group.number]
        self._count(group, -group.tokens, -group.messages)

    def _put_message(self, group: Group, number: int, entry: StoredEntry) -> None:
        """Adds a message to a group, which may be new."""
        self.groups[group.place].setdefault(group.number, group)
        group.entries[number] = entry
        group.tokens += entry.tokens
        self.where[number] = group
        self._count(group, entry.tokens, 1)

    def _take_message(self, group: Group, number: int) -> None:
        """Removes one of several messages of a group."""
        entry = group.entries.pop(number)
        del self.where[number]
        group.tokens -= entry.tokens
        self._count(group, -entry.tokens, -1)

    def _mark_pinned(self, group: Group, *, pinned: bool) -> None:
        """Marks a group and its messages as pinned, or as not."""
        self._count(group, -group.tokens, -group.messages)
        group.pinned = pinned
        self._count(group, group.tokens, group.messages)
        group.entries = {number: entry._replace(pinned=pinned) for number, entry in group.entries.items()}

    def _count(self, group: Group, tokens: int, messages: int) -> None:
        self.tallies[group.place].change(tokens, messages)
        if group.pinned and in_conversation(group.place):
            self.pinned[group.place].change(tokens, messages)


def _sum(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.change(tally.tokens, tally.messages)
    return total
