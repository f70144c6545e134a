"""What `tilewright train` tells: what learns, what a step needs and did, and the curves of its losses."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean as mean

from tilewright.frontend.names import quoted
from tilewright.gradient.curves import FEWEST, last_mean, last_part
from tilewright.report.build import Report
from tilewright.report.sharing import LayerChoice, TrainingReport

SHOWN = 5


def told(training: TrainingReport) -> str:
    """What is learnt, what a step needs beside it, and what it needed with less work."""
    tried = training.tried if len(training.tried) > 1 else ()
    return (
        f"{len(training.parameters)} parameters of {training.parameter_bytes:,} B are updated"
        + (f" in the last of every {training.batch_accumulate} calls; " if training.batch_accumulate > 1 else "; ")
        + f"a step needs {training.step_bytes:,} B beside the states, an inference {training.infer_bytes:,} B"
        + (f"; a step does {training.work:.3f} times the work of one that keeps all" if training.work > 1 else "")
        + "".join(f"\n  at {one.work:.3f} times the work {one.step_bytes:,} B" for one in tried)
        + "".join(f"\n  {_layer_told(one, number == 0)}" for number, one in enumerate(training.layers))
    )


def _layer_told(layer: LayerChoice, last: bool) -> str:
    """What one layer contributes."""
    names = ", ".join(quoted(name) for name in layer.parameters)
    taken = "taken" if layer.taken else "left out"
    beside = "alone" if last else "beside it"
    return f"{names}, {layer.bytes:,} B: loss {layer.loss:.6f} {beside}, {taken}"


def steps_told(training: TrainingReport, report: Report, same: bool) -> list[str]:
    """The losses of the first and the last steps, and what they were compared with."""
    if not training.losses:
        return []
    frames = report.run.frames if report.run is not None else None
    lines = [f"loss of {len(training.losses)} steps: {_ends(training.losses)}"]
    if training.float_losses:
        lines.append(f"  the same steps in floats: {_ends(training.float_losses)}")
        lines += _means(training)
    if same and frames is not None:
        other = f" and {frames.reference}'s" if frames.reference else ""
        lines.append(f"every step's loss and parameters are NumPy's{other}")
    if frames is not None and frames.mean_cost is not None:
        lines.append(f"{frames.mean_cost:,} instructions or cycles a step")
    return lines


def _ends(losses: Sequence[float | None]) -> str:
    """The first and the last losses."""
    first, last = (" ".join(map(_number, some)) for some in (losses[:SHOWN], losses[SHOWN:][-SHOWN:]))
    return first + (f" ... {last}" if last else "")


def _means(training: TrainingReport) -> list[str]:
    """What both curves come to, and what the samples give without a step."""
    curves = (training.losses, training.float_losses, training.still_losses)
    ours, floats, still = ([loss for loss in losses if loss is not None] for losses in curves)
    if len(ours) < FEWEST or (len(ours), len(floats), len(still)) != tuple(map(len, curves)):
        return []
    told = f"{last_mean(ours):.4f}, in floats {last_mean(floats):.4f}, without any step {mean(still):.4f}"
    return [f"  mean of the last {last_part(ours)}: {told}"]


def _number(loss: float | None) -> str:
    return "nan" if loss is None else f"{loss:.6f}"
