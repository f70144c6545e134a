"""A difference of two reports as Markdown for a pull request: figures first, layers that changed folded away."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.report.build import Report
from tilewright.report.diff import Change, Difference, growth, shown
from tilewright.report.growth import figures
from tilewright.report.text import UNKNOWN, number, printable

_MARKS = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>#|~&@:"})


def difference_markdown(old: Report, new: Report, difference: Difference) -> str:
    """Tables of the figures of both reports and of what changed; names of a model are escaped."""
    before, after = figures(old), figures(new)
    lines = [f"### {_text(new.model.name)} on {_text(new.target)}", "", *_head("figure", "before", "after", "change")]
    for name in dict.fromkeys((*before, *after)):
        change = Change("", name, before.get(name), after.get(name))
        step = "none" if change.old == change.new else growth(change)
        lines.append(_row(name, number(before.get(name)), number(after.get(name)), step))
    if difference.layers:
        lines += ["", f"<details><summary>{len(difference.layers)} changes of layers</summary>", ""]
        lines += _head("layer", "figure", "before", "after", "change", right=2)
        lines += [
            _row(c.of, c.what.replace("_", " "), shown(c.old), shown(c.new), growth(c)) for c in difference.layers
        ]
        lines += ["", "</details>"]
    lines += [""] * bool(difference.added or difference.removed)
    lines += [f"- only after: {_text(name)}" for name in difference.added]
    lines += [f"- only before: {_text(name)}" for name in difference.removed]
    return "\n".join(lines) + "\n"


def _head(*heads: str, right: int = 1) -> Sequence[str]:
    return [f"| {' | '.join(heads)} |", "|" + "---|" * right + "---:|" * (len(heads) - right)]


def _row(*cells: str) -> str:
    return "| " + " | ".join(_text(cell) or UNKNOWN for cell in cells) + " |"


def _text(text: str) -> str:
    """Text that Markdown shows as it is."""
    return printable(text).translate(_MARKS)
