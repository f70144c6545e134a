"""The table of the standard's cases as a page: by operator what passes, what is refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tilewright.conformance.node_cases import LOOSE, SETS, Verdict

_TITLES = {
    "node": "node tests", "simple": "simple models", "pytorch-converted": "layers converted from PyTorch",
    "pytorch-operator": "operators converted from PyTorch",
}  # fmt: skip
_INTRO = """# Conformance with the ONNX standard

Written by `ci/conformance`; do not edit it.

Every test case that ships inside the `onnx` package goes through our own C: loaded, compiled, built with gcc, run on
the case's inputs and compared with its expected outputs, integers exactly, floats within the case's tolerance. A case
**passes**, or it is **refused** (exit code 3) with the node and the reason before any code is written; none may be
**wrong**. Inputs that a compiler must know (the shape of a Reshape, the axes of a reduction) are frozen with the case's
value and counted apart; *constant* counts the cases of which nothing was left for run time.
"""

_CHOICES = """
## Where implementations differ

The standard leaves these open, or what runs it disagrees; tests hold the choice that is made here.

- **GridSample, nearest neighbour with reflection, exactly between two elements**: as PyTorch, from which the operator
  comes: the place is reflected first and rounded then, halves to even. ONNX Runtime and the reference of the `onnx`
  package round first.
- **Pools with automatic padding (SAME_UPPER, SAME_LOWER) and dilation**: the padding counts the dilated window, so that
  the result has the size of the standard's shape inference, the input divided by the stride. ONNX Runtime pads for
  the window without dilation.
- **Pools with automatic padding and a window smaller than the stride**: no padding, as in TensorFlow. ONNX Runtime
  cuts off the beginning of the input in some sizes.
- **ConvTranspose with automatic padding and a kernel smaller than the stride**: the size of the standard's shape
  inference and of ONNX Runtime, `(input - 1) * stride + kernel`; the prose of the standard says `input * stride`.
"""


def page(verdicts: Sequence[Verdict]) -> str:
    """The whole page in Markdown."""
    parts = [
        _INTRO,
        "| cases | all | pass | of these frozen | of these constant | refused | wrong |",
        "|---|" + "--:|" * 6,
    ]
    for group in SETS:
        parts.append(f"| {_TITLES[group]} | {_counts([v for v in verdicts if v.group == group])} |")
    wrong = [v for v in verdicts if v.result == "wrong"]
    if wrong:
        parts += ["\n## Wrong\n", *(f"- `{v.name}` ({v.operator}): {_cell(v.reason)}" for v in wrong)]
    if LOOSE:
        parts.append("\nCompared with a wider tolerance, because the expected values are not exact:\n")
        parts += [f"- `{name}`: {why}" for name, (_, why) in sorted(LOOSE.items())]
    parts.append(_CHOICES.rstrip())
    for group in SETS:
        mine = [v for v in verdicts if v.group == group]
        if mine:
            parts += [f"\n## {_TITLES[group].capitalize()}\n", *_by_operator(mine)]
    return "\n".join(parts) + "\n"


def _counts(verdicts: Sequence[Verdict]) -> str:
    passes = [v for v in verdicts if v.result == "passes"]
    results = Counter(v.result for v in verdicts)
    frozen, folded = sum(bool(v.frozen) for v in passes), sum(v.folded for v in passes)
    numbers = [len(verdicts), len(passes), frozen, folded, results["refused"], results["wrong"]]
    return " | ".join(str(number) for number in numbers)


def _by_operator(verdicts: Sequence[Verdict]) -> list[str]:
    lines = [
        "| operator | all | pass | frozen | constant | refused | wrong | why refused |",
        "|---|" + "--:|" * 6 + "---|",
    ]
    for operator in sorted({v.operator for v in verdicts}):
        mine = [v for v in verdicts if v.operator == operator]
        reasons = Counter(v.cause for v in mine if v.result == "refused")
        text = "<br>".join(f"{count}: {_cell(why)}" for why, count in sorted(reasons.items()))
        lines.append(f"| {operator or '-'} | {_counts(mine)} | {text} |")
    return lines


def _cell(text: str) -> str:
    """Text that does not break a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:400]
