"""Alias sets against their definition: what can be joined, and that a refusal leaves everything as it was."""

from __future__ import annotations

import random

from tilewright.plan.aliasing.alias_sets import AliasSets, Life, Part, Relation, bases_of


def bytes_of(parts: tuple[Part, ...]) -> list[tuple[int, int]]:
    """(origin, its byte) for every byte."""
    return [(part.origin, part.at + at) for part in parts for at in range(part.end - part.start)]


def contradicts(lives: dict[int, Life], places: dict[int, tuple[int, int]], sets: AliasSets) -> bool:
    """Whether two that are alive together hold different values in one byte, straight from the definition."""
    for one, (home, start) in places.items():
        for other, (beside, begin) in places.items():
            if home != beside or lives[one].first > lives[other].last or lives[other].first > lives[one].last:
                continue
            here = {start + at: value for at, value in enumerate(bytes_of(sets.parts(one)))}
            there = {begin + at: value for at, value in enumerate(bytes_of(sets.parts(other)))}
            if any(here[at] != there[at] for at in here.keys() & there.keys()):
                return True
    return False


def test_what_is_joined_loses_no_value_and_what_is_refused_leaves_no_trace() -> None:
    dice = random.Random(5)
    joined = refused = 0
    for _ in range(300):
        lives = {}
        for number in range(8):
            first = dice.randrange(6)
            kind = dice.choice(["activation"] * 5 + ["input", "output"])
            lives[number] = Life(dice.choice([2, 4, 8]), first, first + dice.randrange(4), kind)
        sets, relations = AliasSets(lives), list[Relation]()
        for _ in range(8):
            small, large = sorted(dice.sample(range(8), 2), key=lambda one: lives[one].size)
            distance = dice.choice(range(0, lives[large].size - lives[small].size + 1, 2))
            inner = Part(0, lives[small].size, large, distance)
            content = {small: (inner,)} if dice.random() < 0.7 and small not in sets.base else {}
            before = dict(sets.base), [sets.parts(one) for one in range(8)]
            if sets.join([(small, large, distance)], content, keep=dice.random() < 0.9):
                joined += 1
            else:
                refused += 1
                assert (dict(sets.base), [sets.parts(one) for one in range(8)]) == before
            if sets.base != before[0]:
                relations.append((small, large, distance))
            assert not contradicts(lives, sets.base, sets)
        for one, (home, start) in bases_of(relations).items():
            for other, (beside, begin) in bases_of(relations).items():
                if home == beside:
                    assert sets.base[one][0] == sets.base[other][0]
                    assert sets.base[one][1] - sets.base[other][1] == start - begin
    assert joined > 300
    assert refused > 300


def test_a_thousand_parts_are_joined_one_after_the_other() -> None:
    count = 1000
    lives = {0: Life(4 * count, count, count + 1, "output")}
    lives |= {number: Life(4, number, count, "activation") for number in range(1, count + 1)}
    sets = AliasSets(lives)
    whole = tuple(Part(4 * n, 4 * n + 4, n + 1, 0) for n in range(count))
    assert sets.join([(n + 1, 0, 4 * n) for n in range(count)], {0: whole})
    assert not sets.join([(1, 2, 0)], {})
    assert len({home for home, _ in sets.base.values()}) == 1
