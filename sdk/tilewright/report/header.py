"""What stands above the tables: the network and its target, the compiler, layers that are slow, what passes saved."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.report.build import LayerReport, Report
from tilewright.report.calls import SlicesReport
from tilewright.report.expensive import slow_lines
from tilewright.report.text import NAME_WIDTH, number, printable, toolchain


def _sliced(slices: SlicesReport) -> str:
    """How long the longest slice is, and which layer alone takes more than was asked for."""
    count = "1 slice" if slices.count == 1 else f"{slices.count} slices, the longest"
    told = f"{count} of about {number(slices.longest_instructions)} instructions"
    if slices.longest_instructions <= slices.asked:
        return told
    return f"{told}: '{printable(slices.longest_layers[0])}' alone takes more than {number(slices.asked)}"


def header(report: Report) -> str:
    """Model, platform and target in one line, then the toolchain and the passes that saved memory."""
    model = report.model
    lines = [
        f"{model.name} on {report.target} ({report.platform}): {model.nodes} nodes, {number(model.macs)} "
        f"multiply-accumulates, {number(model.parameter_bytes)} B of parameters"
    ]
    if model.quantisation.form:
        stay = model.quantisation.float_tensors
        lines.append(
            f"quantised as {model.quantisation.form}, "
            + (f"{len(stay)} tensors stay float" if stay else "integer only")
        )
    lines += _handed_over(report)
    if report.slices is not None:
        lines.append(_sliced(report.slices))
    if report.toolchain is not None:
        lines.append(toolchain(report.toolchain))
    lines += [f"SLOW: {gave_way(report, layer)}" for layer in report.layers if layer.instead_of]
    lines += slow_lines(report)
    for saved in report.passes:
        if saved.saved_bytes:
            cost = f" for {number(saved.added_operations)} operations more" if saved.added_operations else ""
            lines.append(f"{saved.name} saved {number(saved.saved_bytes)} B{cost}")
    lines += [f"CUT OFF: {one.name}: {one.cut_off}" for one in report.passes if one.cut_off]
    return "\n".join(lines)


def _handed_over(report: Report) -> Iterator[str]:
    """Inputs whose rows the application hands over, with what is kept of them."""
    for layer in report.layers:
        for member in layer.members:
            if member.op == "InputRows":
                yield f"input '{printable(member.operands[0], NAME_WIDTH)}' is not resident: it is asked for by rows"
        if layer.op == "InputRows":
            name = printable(layer.operands[0], NAME_WIDTH)
            yield f"input '{name}' is resident: all its rows are copied into the arena, no chain of rows begins there"


def gave_way(report: Report, layer: LayerReport) -> str:
    """A layer whose kernel gave way to a slower one, with its share of the modelled cycles."""
    total = sum(other.modelled_cycles or 0 for other in report.layers)
    how = "in tiles" if layer.tile is not None else "whole, on one core"
    share = f"{100 * (layer.modelled_cycles or 0) / total:.0f} % of the modelled cycles" if total else "cost unknown"
    return f"'{printable(layer.name, NAME_WIDTH)}' runs {how} by {layer.kernel}, {share}; {layer.instead_of}"
