"""What a run's report means as an error, and where its project lies."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import MismatchError

if TYPE_CHECKING:
    from tilewright.report.build import InnerReport, LayerReport, ReferenceReport, Report, RunReport
    from tilewright.report.calls import FramesReport


def mismatch(report: Report) -> MismatchError | None:
    """The error for outputs that differ, or for differences from the reference that nothing explains."""
    run = report.run
    if run is None:
        return None
    if run.cut_loops and not _differs(run):
        return MismatchError(
            f"a loop of '{report.model.name}' ended at its bound on '{report.target}'",
            why=f"data asks for more iterations: output '{run.cut_loops[0]}' is 1, and the results are not the model's",
            fix="raise its --bound",
            tensor=run.cut_loops[0],
        )
    if run.frames is not None and (error := _sequence(report, run.frames)) is not None:
        return error
    if not run.match and run.mismatches:
        return MismatchError(
            f"outputs of '{report.model.name}' differ on '{report.target}'",
            why=f"{run.mismatches} of {run.elements} elements, the largest error is {_largest(run)}",
            fix="run it with --layers to see where they first differ",
        )
    if not run.match:
        wrong = [layer for layer in report.layers if layer.mismatches or _wrong_inside(layer)]
        first = f"; the first is {_first_wrong(wrong[0])}" if wrong else ""
        return MismatchError(
            f"layers of '{report.model.name}' differ on '{report.target}' though its outputs match",
            why=f"{len(wrong)} of {sum(layer.mismatches is not None for layer in report.layers)} layers{first}",
            fix="find each layer's error under 'layers' in report.json",
        )
    return None if run.reference is None else _unexplained(report, run.reference)


def _differs(run: RunReport) -> bool:
    """True where the target computed something else than NumPy, a layer or a call included."""
    return not run.match or (run.frames is not None and bool(run.frames.first_difference))


def _sequence(report: Report, frames: FramesReport) -> MismatchError | None:
    """The error for a sequence that differs from NumPy's, or, of a network in floats, from the reference's.

    Codes part where a float lies next to a tie, and with them all that follows: `run` compares them node by node.
    """
    if frames.first_difference:
        return MismatchError(
            f"the calls of '{report.model.name}' differ on '{report.target}'",
            why=f"the first that does is {frames.first_difference}",
            fix="run the calls up to there, and --layers for the first",
        )
    codes = report.model.quantisation.form or any(layer.op == "RowCodes" for layer in report.layers)
    if frames.reference_first and not codes:
        return MismatchError(
            f"the calls of '{report.model.name}' differ from {frames.reference}",
            why=f"the first that does is {frames.reference_first}",
            fix="check that the states are paired as the network means them",
        )
    return None


def _unexplained(report: Report, reference: ReferenceReport) -> MismatchError | None:
    """The error for tensors that could not be compared, or for differences that nothing explains."""
    if reference.unlike:
        more = f", and {len(reference.unlike) - 1} more" if len(reference.unlike) > 1 else ""
        return MismatchError(
            f"'{report.model.name}' cannot be compared with {reference.name}",
            why=f"tensor {reference.unlike[0]}{more}",
            fix="one of the two reads the node otherwise than its export meant it; state its pads or sizes in full",
        )
    if reference.mismatches <= reference.explained:
        return None
    wrong = next((each for each in reference.differing if each.mismatches > each.explained), None)
    first = f"; the first lie in '{wrong.tensor}' of node '{wrong.node}'" if wrong else ""
    return MismatchError(
        f"'{report.model.name}' differs from {reference.name}",
        why=f"{reference.mismatches - reference.explained} differences are not explained by rounding{first}",
        fix="find every tensor that differs under 'run.reference.differing' in report.json",
        node=wrong.node if wrong else "",
        tensor=wrong.tensor if wrong else "",
    )


def _wrong_inside(layer: LayerReport) -> InnerReport | None:
    """The first tensor inside of a layer that differs."""
    return next((inner for inner in layer.inner if inner.mismatches), None)


def _first_wrong(layer: LayerReport) -> str:
    """A layer that differs, or what does inside of it, with the largest error."""
    inner = _wrong_inside(layer)
    if inner is not None:
        return f"'{inner.node}' inside of '{layer.name}', whose largest error is {_largest(inner)}"
    return f"'{layer.name}', whose largest error is {_largest(layer)}"


def _largest(compared: RunReport | LayerReport | InnerReport) -> str:
    """The largest error, in steps for integers."""
    if compared.max_lsb_error is not None:
        return f"{compared.max_lsb_error} steps"
    return "not finite" if compared.max_abs_error is None else f"{compared.max_abs_error}"


@contextmanager
def project_folder(output: Path | None, force: bool) -> Iterator[Path]:
    """The folder of a project: `output`, whole or not at all, where one is named, else one that goes away."""
    from tilewright.output.staged import staged
    from tilewright.output.written import protection

    if output is not None:
        with staged(output, protection(output, force=force)) as staging:
            yield staging
        return
    with tempfile.TemporaryDirectory(prefix="tilewright-") as name:
        yield Path(name)
