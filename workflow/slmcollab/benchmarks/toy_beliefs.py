"""What a toy model is brought up to believe about the toy world, and about which values it breaks the protocol."""

from collections.abc import Mapping
from dataclasses import dataclass

from slmcollab.benchmarks.toy_world import KINDS, facts, table_of
from slmcollab.seeding import python_generator

# Ways to break the protocol, and how often each is a habit.
SLIPS = {"no_action": 5, "self_handoff": 2, "empty_answer": 1, "unclosed": 1, "two_actions": 1}


@dataclass(frozen=True)
class Believer:
    """name: names its wrong beliefs; knows: by kind of fact, the share that it is right about."""

    name: str
    knows: Mapping[str, float | int]

    def look_up(self, query: str) -> str:
        """Return what it takes for the query's value, always the same."""
        table = facts()[table_of(query)]
        generator = python_generator(0, "beliefs", self.name, query)
        if generator.random() < self.knows[KINDS[table_of(query)]]:
            return table[query]
        return generator.choice(sorted(set(table.values()) - {table[query]}))

    def temptation(self, query: str, value: str, share: float | int) -> str | None:
        """Return the slip that is its habit about a value of the query's table, None for all but `share` of them."""
        habits = sorted(set(facts()[table_of(query)].values()))
        python_generator(0, "habits", self.name, *habits).shuffle(habits)
        if value not in habits[: round(share * len(habits))]:
            return None
        return python_generator(0, "habits", self.name, value).choices(list(SLIPS), list(SLIPS.values()))[0]
