"""The report as aligned plain text for a terminal: memory per level, layers, and what the run said."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import DoesNotFit
from tilewright.memory.needs import ALL_PARTS, MemoryReport
from tilewright.report.build import ReferenceReport, Report, RunReport, ToolchainReport
from tilewright.report.calls import BoardReport, FramesReport, ReadingReport, TextReport
from tilewright.report.data_set import data_set_lines
from tilewright.report.envelope import Row
from tilewright.report.styled import drawn

UNKNOWN = "-"
ROUGH = "~"
"""Stands behind estimates."""
ESTIMATED = f"{ROUGH} an estimate on the safe side; --measure and 'run' build the code and measure it"
NAME_WIDTH = 48
LEAST = 9
"""Characters of a word that is cut in a table."""
SHOWN = 5
"""Tensors that differ from the reference, named one by one."""


def toolchain(chain: ToolchainReport) -> str:
    """Compiler, version and flags; the compiler once, where its version begins with its name."""
    name = chain.compiler.rsplit("/", 1)[-1]
    words = (chain.version,) if chain.version.startswith(name) else (name, chain.version)
    return " ".join(part for part in (*words, chain.flags) if part)


def memory_table(report: Report, width: int | None = None) -> str:
    """One row per level with the decomposition of its worst moment; parts that are nowhere used have no column.

    A terminal that is narrower than that has one column per level.
    """
    levels = report.memory
    used = [part for part in ALL_PARTS if any(level.parts()[part] for level in levels.values())]
    heads = ["memory", "size", "total", *(part.replace("_", " ") for part in used), "lower bound", "placement"]
    heads.append("verdict")
    rows = []
    for name, level in levels.items():
        row = [name, number(level.size), total(level), *(part_bytes(level, part) for part in used)]
        rows.append([*row, number(level.lower_bound), level.status or UNKNOWN, level.verdict])
    text = table(heads, rows, right=range(1, len(heads) - 2))
    if width is not None and _wide(heads, rows) > width:
        turned = list(zip(heads, *rows, strict=True))
        text = table(turned[0], turned[1:], right=range(1, len(turned[0])))
    if any(level.estimated for level in levels.values()):
        text += f"\n{ESTIMATED}"
    return text


def total(level: MemoryReport) -> str:
    """Bytes that a level needs, marked where a part of them is an estimate."""
    return number(level.total) + ROUGH * (level.certainty == "estimated")


def part_bytes(level: MemoryReport, part: str) -> str:
    """Bytes of one part of a level; a mark where they are an estimate, a dash where they are unknown."""
    return number(getattr(level, part)) + ROUGH * (level.of(part) == "estimated" and bool(getattr(level, part)))


def run_lines(run: RunReport, stateful: bool = True) -> str:
    """Whether the outputs match, against what, and what was counted; one line each."""
    elements = f"{number(run.elements)} elements"
    lines = [f"outputs differ in {number(run.mismatches)} of {elements}"]
    if not run.mismatches:
        lines = [f"outputs match ({elements})" if run.match else f"outputs match ({elements}), layers differ"]
    if run.max_lsb_error is not None:
        lines.append(f"largest error: {number(run.max_lsb_error)} steps")
    elif run.max_abs_error is not None:
        lines.append(f"largest error: {number(run.max_abs_error)}")
    if run.reference is not None:
        lines += _reference_lines(run.reference)
    elif run.reference_missing:
        lines.append(f"NumPy is compared with nothing: {run.reference_missing}")
    lines += run.drawn
    lines += [f"'{name}' is 1: data asks for more turns than the bound of its loop" for name in run.cut_loops]
    if run.board is not None:
        lines.append(_board_line(run.board))
    if run.simulated_by:
        lines.append(f"simulated by {run.simulated_by}, with the memory of the chip")
    if run.frames is not None:
        lines += _frames_lines(run.frames, stateful)
    if run.text is not None:
        lines += _text_lines(run, run.text)
    if run.reading is not None:
        lines += _reading_lines(run.reading)
    if run.samples is not None:
        lines += [printable(line, 1000) for line in data_set_lines(run.samples, run.accuracy, run.data_set)]
    counted = [("instructions", run.instructions), ("cycles", run.cycles)]
    if run.fences:
        lines.append(f"nothing touched outside what is declared (fences: {', '.join(run.fences)})")
    if run.modelled_cycles is not None:
        lines.append(f"{number(run.modelled_cycles)} modelled cycles ({run.cycle_model.partition(';')[0]})")
    figures = [f"{number(value)} {what}" for what, value in counted if value is not None]
    if run.counter == "icount":
        lines.append("counter: icount, one inference as a whole; layers need the simulator's plugin")
    return "\n".join(lines + ([", ".join(figures)] if figures else []))


def _board_line(board: BoardReport) -> str:
    """Where the board is, and what the line to it cost."""
    line = f"on the board at {printable(board.port, 200)}: {number(board.questions)} questions"
    return line + (f", {number(board.repeats)} repeats" if board.repeats else "")


def _frames_lines(frames: FramesReport, stateful: bool) -> list[str]:
    """How a sequence of calls compares, and what the worst of them cost."""
    note = ", state kept between them" if stateful else ""
    lines = [f"{number(frames.calls)} calls one after the other{note}"]
    if frames.first_difference:
        lines.append(f"the first difference is in {frames.first_difference}")
    if frames.reference:
        first = f", the first in {frames.reference_first}" if frames.reference_first else ""
        lines.append(f"against {frames.reference}: {number(frames.reference_mismatches)} differences{first}")
    elif frames.reference_missing:
        lines.append(f"compared with no other implementation: {frames.reference_missing}")
    if frames.worst_cost is not None:
        mean, worst = number(frames.mean_cost), number(frames.worst_cost)
        lines.append(f"a call costs {mean} on average, call {number(frames.worst_call)} most: {worst}")
    return lines


def _text_lines(run: RunReport, text: TextReport) -> list[str]:
    """What was written, and how fast."""
    written = number(len(text.tokens) - text.prompt_tokens)
    lines = [f"{number(text.prompt_tokens)} tokens of the prompt, {written} written"]
    if text.same_choices is not None:
        lines.append(
            f"ONNX Runtime, fed the same text, takes the same token in {number(text.same_choices)} of {written}"
        )
    if text.chunk_tokens and text.chunks is not None:
        read, cost = text.chunks * text.chunk_tokens, text.chunk_cost
        each = "" if cost is None else f", for {number(round(cost / text.chunk_tokens))} each"
        lines.append(f"{number(read)} tokens of the prompt were read {number(text.chunk_tokens)} in a call{each}")
    if cost := run.modelled_cycles or run.cycles:
        lines.append(f"{1e8 / cost:.1f} tokens a second for each 100 MHz, on average")
    lines.append(f"beside the network: tables of the tokeniser, {number(text.tokeniser_bytes)} B of read-only memory")
    return lines


def _reading_lines(reading: ReadingReport) -> list[str]:
    """How well a text is foreseen, and how the file in floats does it."""
    line = f"perplexity of the text: {reading.perplexity:.3f} a token, {number(reading.tokens)} tokens"
    if reading.float_perplexity is None or reading.same_choices is None:
        return [line]
    return [
        line,
        f"the file in floats: {reading.float_perplexity:.3f}, with the same best token in "
        f"{number(reading.same_choices)} of {number(reading.tokens)}",
    ]


def _reference_lines(reference: ReferenceReport) -> list[str]:
    """How many tensors were compared, what differs, who is right, and where that lies."""
    unlike = [f"not compared: {sentence}" for sentence in reference.unlike]
    if reference.tensors == 0:
        return [f"NumPy against {reference.name}: no tensor could be compared", *unlike]
    over = "" if reference.tensors is None else f" in {number(reference.tensors)} tensors"
    lines = [
        f"NumPy against {reference.name}: {number(reference.mismatches)} differences{over}, "
        f"{number(reference.explained)} explained"
    ]
    if reference.exact:
        lines.append(f"in {number(reference.exact)} of them ours equals exact arithmetic, and {reference.name} is off")
    lines += [*unlike, *reference.shortened]
    for each in reference.differing[:SHOWN]:
        inside = f" inside of '{each.layer}'" if each.layer != each.node else ""
        lines.append(
            f"  '{each.tensor}' of node '{each.node}'{inside}: {number(each.mismatches)} of "
            f"{number(each.elements)} elements, {number(each.explained)} explained, {number(each.exact)} exact here"
        )
    if len(reference.differing) > SHOWN:
        lines.append(f"  and {number(len(reference.differing) - SHOWN)} more tensors, in report.json")
    return lines


def rows_table(rows: Sequence[Row], *, ran: bool = False, width: int | None = None) -> str:
    """Several targets or strategies side by side: bytes of each level and whether they fit, or what they `ran` to.

    On a terminal, `width` columns wide, several rows have numbers; where the levels of all targets are too many columns
    there is one of the fullest level, and networks are called by what tells their paths apart.
    """
    heads, body = _cells(rows, ran)
    first = heads.index("target") + 1 + ("strategy" in heads)
    right = range(first, len(heads) - 1)
    if width is not None and len(rows) > 1:
        if _wide(["#", *heads], [["", *row] for row in body]) > width:
            heads, body, right = _fullest(rows, heads, body)
        heads, body = ["#", *heads], [[f"{n}", *row] for n, row in enumerate(body, 1)]
        right = range(right.start + 1, right.stop + 1)
        text = table(heads, body, right=(0, *right), width=width)
    else:
        text = table(heads, body, right=right, width=width)
    if any(level.estimated for row in rows if row.report is not None for level in row.report.memory.values()):
        text += f"\n{ESTIMATED}"
    return text


def _cells(rows: Sequence[Row], ran: bool) -> tuple[list[str], list[list[str]]]:
    """Heads and cells with a column for each level of each target; an unneeded column is left out."""
    levels = list(dict.fromkeys(name for row in rows for name in _needed(row)))
    strategies = any(row.strategy for row in rows)
    models = len({row.source for row in rows}) > 1
    rated = any(accuracy(row) for row in rows)
    body = []
    for row in rows:
        needed = _needed(row)
        cells = [row.source] * models + [row.target] + [row.strategy] * strategies
        cells += [needed.get(name, UNKNOWN) for name in levels] + _placement(row) * strategies
        cells += [number(_counted(row))] * ran + [accuracy(row) or UNKNOWN] * rated
        body.append([*cells, verdict(row, ran=ran)])
    heads = [*(["model"] * models), "target", *(["strategy"] * strategies), *levels]
    heads += ["live set", "lower bound", "gap"] * strategies + ["instructions"] * ran + ["accuracy"] * rated
    return [*heads, "verdict"], body


def _fullest(
    rows: Sequence[Row], heads: Sequence[str], body: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]], range]:
    """The same with one column of memory: the level of each row that is filled most."""
    names = [head for head in ("model", "target", "strategy") if head in heads]
    tails = [head for head in ("instructions", "accuracy", "verdict") if head in heads]
    short = apart([row.source for row in rows])
    cells = []
    for row, every in zip(rows, body, strict=True):
        cell_of = dict(zip(heads, every, strict=True))
        if "model" in cell_of:
            cell_of["model"] = short[row.source]
        cells.append([*(cell_of[name] for name in names), fullest_memory(row), *(cell_of[name] for name in tails)])
    return [*names, "fullest memory", *tails], cells, range(len(names), len(names) + len(tails))


def fullest_memory(row: Row) -> str:
    """The level that is filled most; the largest where none has a size."""
    needed = _needed(row)
    if row.report is None:
        return next((f"{name} {size}" for name, size in needed.items()), UNKNOWN)
    filled = {name: (m.total / m.size if m.size else 0, m.total) for name, m in row.report.memory.items()}
    most = max(filled, key=lambda name: filled[name], default="")
    return f"{most} {needed[most]}" if most else UNKNOWN


def apart(paths: Sequence[str]) -> dict[str, str]:
    """By path: what is left of it without the folders that all begin with and the parts that all end with."""
    parts = {path: path.split("/") for path in paths}
    every = list(parts.values())
    least = min(map(len, every), default=1) - 1
    same = next((n for n in range(least) if len({p[n] for p in every}) > 1), least)
    tail = next((n for n in range(least - same) if len({p[-1 - n] for p in every}) > 1), least - same)
    return {path: "/".join(own[same : len(own) - tail]) for path, own in parts.items()}


def _wide(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Columns of a table that nothing is cut in."""
    return sum(max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))) + 2 * (len(heads) - 1)


def verdict(row: Row, *, ran: bool) -> str:
    """Whether it fits, or what its run has shown where it `ran`, or what went wrong."""
    if row.error is not None and not isinstance(row.error, DoesNotFit):
        return f"error: {row.error.what}"
    if ran and row.error is None:
        return "outputs match"
    return row.verdict


def _counted(row: Row) -> int | None:
    """Instructions of one inference, where it ran and they were counted."""
    return row.report.run.instructions if row.report is not None and row.report.run is not None else None


def accuracy(row: Row) -> str:
    """The part of the samples that a run put into the right class, empty where nobody asked."""
    rate = row.report.run.accuracy if row.report is not None and row.report.run is not None else None
    return "" if rate is None else f"{rate:.2%}"


def _placement(row: Row) -> list[str]:
    """Live set, proved lower bound and the bytes between that and the placement, for the level where tensors lie."""
    for level in row.report.memory.values() if row.report is not None else ():
        if level.status is not None and level.lower_bound is not None:
            top = max((buffer.offset + buffer.size for buffer in level.buffers), default=0)
            gap = "optimal" if level.status == "optimal" else number(max(0, top - level.lower_bound))
            return [number(level.live_set), number(level.lower_bound), gap]
    return [UNKNOWN] * 3


def _needed(row: Row) -> dict[str, str]:
    """What a row needs of each level; of an error, the smallest sizes that would do."""
    if row.report is not None:
        return {name: of_size(total(level), level.size) for name, level in row.report.memory.items()}
    return {name: number(size) for name, size in row.error.smallest.items()} if row.error else {}


def of_size(needed: str, size: int | None) -> str:
    """`needed / size` in bytes."""
    return needed + (f" / {number(size)}" if size is not None else "")


def number(value: float | None) -> str:
    """An integer with thousands separated, a float with three digits, a dash for what is unknown."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), width: int | None = None
) -> str:
    """Columns two spaces apart, those of `right` aligned to the right, control characters made visible.

    With `width` words are cut, the longest first, until the lines are that long or words have `LEAST` characters.
    """
    shown = [[printable(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[i]) for row in shown) for i in range(len(heads))]
    words = [i for i in range(len(heads)) if i not in right]
    while width is not None and words and sum(widths) + 2 * (len(widths) - 1) > width:
        longest = max(words, key=lambda i: widths[i])
        if widths[longest] <= max(LEAST, len(shown[0][longest])):
            break
        widths[longest] -= 1
    cells = [_cut([row[i] for row in shown], columns) if i in words else [row[i] for row in shown]
             for i, columns in enumerate(widths)]  # fmt: skip
    lines = [list(row) for row in zip(*cells, strict=True)]
    if (text := drawn(lines, right)) is not None:
        return text
    texts = [
        "  ".join(
            cell.rjust(columns) if i in right else cell.ljust(columns)
            for i, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in lines
    ]
    texts.insert(1, "  ".join("-" * columns for columns in widths))
    return "\n".join(texts)


def width_of(text: str) -> int:
    """Columns of the longest line."""
    return max(map(len, text.split("\n")))


def _cut(column: Sequence[str], columns: int) -> list[str]:
    """The cells of a column of words, its head first, cut to so many columns where they do not differ.

    The middle goes, or the start where that leaves names apart that would else look alike.
    """
    columns = max(columns, 1)
    middle = [printable(cell, columns) for cell in column]
    end = [cell if len(cell) <= columns else "…" + cell[len(cell) - columns + 1 :] for cell in column]
    return end if len(set(end)) > len(set(middle)) else middle


def printable(text: str, limit: int = 200) -> str:
    """A name as a terminal may show it: control characters escaped, the middle of long ones left out."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if len(shown) <= limit:
        return shown
    tail = (limit - 1) // 2
    return f"{shown[: limit - 1 - tail]}…{shown[-tail:]}"
