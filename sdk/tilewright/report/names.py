"""Long exporter names by their shortest part that no other name has: TensorFlow joins four names with semicolons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tilewright.report.text import printable

ENOUGH = 24
"""Characters of a name that is not shortened."""
LONGEST = 26
"""Characters of a short name; of a longer one the end is shown, where names differ."""
_WHOLE = 400
"""Characters of a name that are looked at."""
_PARTS = 4
"""Parts that a short name has at most."""
_BREAKS = (re.compile(r"([;/:])"), re.compile(r"([;/:_.])"))
"""What divides a name, and what divides it where that leaves it long."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """By name: the shortest run of its parts that stands in no other name; a name that is short already stays."""
    whole = {name: printable(name, _WHOLE) for name in dict.fromkeys(names)}
    ends = {name: text.split(" + ") for name, text in whole.items() if " + " in text and len(text) > ENOUGH}
    single = {name: text for name, text in whole.items() if name not in ends}
    parts = _shortest(single | {node: node for nodes in ends.values() for node in (nodes[0], nodes[-1])})
    return {name: _chain(ends[name], parts) if name in ends else _clipped(parts[name], LONGEST) for name in whole}


def _shortest(whole: Mapping[str, str]) -> dict[str, str]:
    """By name, as it is printed or shorter."""
    short = {name: text for name, text in whole.items() if len(text) <= ENOUGH}
    for breaks in _BREAKS:
        runs = {name: tuple(dict.fromkeys(_runs(text, breaks))) for name, text in whole.items()}
        owners = Counter(run for own in runs.values() for run in own)
        for name, own in runs.items():
            unique = [run for run in own if owners[run] == 1]
            if len(short.get(name, whole[name])) > ENOUGH and unique:
                short[name] = min(unique, key=lambda run: len(breaks.findall(run)))
    return {name: short.get(name, text) for name, text in whole.items()}


def _chain(nodes: Sequence[str], short: Mapping[str, str]) -> str:
    """Of a chain, whose name is those of its nodes, the first and the last, without the folder that both stand in."""
    first, last = nodes[0], nodes[-1]
    folder = first.rpartition("/")[0] + "/"
    last = _clipped(last.removeprefix(folder) if last.startswith(folder) else short[last], LONGEST // 2 - 2)
    return f"{_clipped(short[first], LONGEST - len(last) - 3)} … {last}"


def _runs(name: str, breaks: re.Pattern[str]) -> Iterator[str]:
    """Runs of neighbouring parts that start with a letter, those of one part first."""
    pieces = breaks.split(name)
    parts = len(pieces) // 2 + 1
    for length in range(1, min(_PARTS, parts) + 1):
        for first in range(parts - length + 1):
            run = "".join(pieces[2 * first : 2 * (first + length) - 1])
            if ";" not in run and len(run) > 1 and run[0].isalpha():
                yield run


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else "…" + text[-(longest - 1) :]
