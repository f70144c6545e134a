"""Which line of the generated file serves which instruction of the plan, by the texts that it was put together from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from tilewright.codegen.artifacts import Artifacts, CodeMap
from tilewright.errors import TilewrightError
from tilewright.evidence.document import Lines


@dataclass(frozen=True)
class Span:
    """Lines [first, last] of one text: a layer's function, a shared source, a function of the interface."""

    first: int
    last: int
    name: str
    kind: str
    instructions: tuple[int, ...]


@dataclass(frozen=True)
class CodeLines:
    """The spans of a file in order, and the lines of `run` that call for each instruction."""

    file: str
    spans: tuple[Span, ...]
    calls: tuple[tuple[int, tuple[int, ...]], ...]

    def at(self, line: int) -> Span | None:
        """The span that holds a line."""
        place = bisect_right([span.first for span in self.spans], line) - 1
        return self.spans[place] if place >= 0 and line <= self.spans[place].last else None

    def served_by(self, line: int) -> tuple[int, ...]:
        """The instructions that a line serves; none for the interface, beside its calls, and for what all share."""
        if called := tuple(instruction for instruction, lines in self.calls if line in lines):
            return called
        span = self.at(line)
        return () if span is None else span.instructions

    def of(self, instruction: int) -> Iterator[Lines]:
        """The lines of an instruction: its functions, and where `run` calls them."""
        for span in self.spans:
            if instruction in span.instructions:
                yield Lines(self.file, span.first, span.last, span.name)
        for line in dict(self.calls).get(instruction, ()):
            yield Lines(self.file, line, line, next(s.name for s in self.spans if s.first <= line <= s.last))


def code_lines(artifacts: Artifacts) -> CodeLines | None:
    """The lines of the code file; None where the platform's own emitter does not say what they are."""
    made = artifacts.code_map
    if made is None:
        return None
    text = artifacts.text(artifacts.parts.code)
    places = _Places(text)
    users = {name: tuple(s.instruction for s in made.sites if name in s.functions) for name in made.functions}
    shared = [places.span(source, "shared sources", "shared", ()) for source in made.sources]
    spans = [replace(span, name=f"lines {span.first} to {span.last}") for span in shared]
    spans += [places.span(body, name, "layer", users[name]) for name, body in made.functions.items()]
    spans += [places.span(body, name, "interface", ()) for name, body in made.interface.items()]
    run = max((span for span in spans if span.kind == "interface"), key=lambda span: span.first)
    spans.append(Span(1, min(span.first for span in spans) - 1, "declarations, memory and init", "head", ()))
    calls = tuple(_calls(made, text, places, run))
    return CodeLines(artifacts.parts.code.rpartition("/")[2], tuple(sorted(spans, key=lambda s: s.first)), calls)


class _Places:
    """Positions of a text as lines, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def span(self, part: str, name: str, kind: str, instructions: tuple[int, ...]) -> Span:
        part = part.strip("\n")
        start = self.text.find(part)
        if start < 0:
            raise TilewrightError(f"'{name}' does not stand in the generated file", why="the map of the code is wrong")
        return Span(self.line(start), self.line(start + len(part) - 1), name, kind, instructions)


def _calls(made: CodeMap, text: str, places: _Places, run: Span) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The lines of the statements of every instruction, which stand in `run` in the plan's order."""
    at = dict[str, int]()
    for site in made.sites:
        lines = []
        for statement in site.statements:
            before = at.get(statement, places.starts[run.first - 1] - 1)
            position = text.find(f"{statement};", before + 1)
            position = before if position < 0 and statement in at else position  # one call for several instructions
            if position < 0:
                raise TilewrightError(f"instruction {site.instruction} is not called in 'run'", why=statement)
            at[statement] = position
            lines.append(places.line(position))
        yield site.instruction, tuple(lines)
