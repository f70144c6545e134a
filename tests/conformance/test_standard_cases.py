"""A sample of the standard's own cases through our C, under every warning; `ci/conformance` runs them all."""

from __future__ import annotations

import random
from pathlib import Path

import onnx.parser
from tilewright.conformance.node_cases import LOOSE, Case, Verdict, cause_of, collect, judge
from tilewright.conformance.program import STRICT
from tilewright.conformance.table import page
from tilewright.errors import UnsupportedError
from tilewright.plugins import platform

SEED, COUNT = 20, 170


def test_a_sample_passes_or_is_refused_with_node_and_reason(tmp_path: Path) -> None:
    cases = collect(("node",))
    assert len(cases) > 1500
    picked = random.Random(SEED).sample(cases, COUNT) + [case for case in cases if case.name in LOOSE]
    verdicts = judge(picked, platform("generic"), tmp_path, ("-O1", *STRICT))
    wrong = [f"{v.name}: {v.reason}" for v in verdicts if v.result == "wrong"]
    assert not wrong, f"seed {SEED}: " + "; ".join(wrong)
    assert sum(v.result == "passes" for v in verdicts) > COUNT // 2
    for verdict in verdicts:
        if verdict.result == "refused":
            assert "'" in verdict.reason or "opset" in verdict.reason  # what is refused has a name
            assert ": " in verdict.reason


def test_the_page_counts_and_explains() -> None:
    refused = UnsupportedError("node 'X/Det_0' (Det)", why="'z' is no", fix="see `tilewright ops`", node="X/Det_0")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[2,2] x) => (float y) {y = Det(x)}'
    )
    case = Case("b", "node", "Det", model, (), 0.0, 0.0)
    verdicts = [
        Verdict("a", "node", "Det", "passes", frozen=("axes",)),
        Verdict("b", "node", "Det", "refused", str(refused), cause_of(refused, case)),
        Verdict("c", "node", "Det", "wrong", "output 0 differs"),
    ]
    text = page(verdicts)
    assert "| node tests | 3 | 1 | 1 | 0 | 1 | 1 |" in text
    assert "- `c` (Det): output 0 differs" in text
    assert "| 1: node (Det): 'z' is no |" in text
    assert cause_of(UnsupportedError("node 'X/Det_0': input 'x' is no", node="X/Det_0"), case) == "node: input is no"


def test_the_page_says_whom_we_follow_where_implementations_differ() -> None:
    text = page([])
    assert "the place is reflected first and rounded then, halves to even" in text
    assert text.count("\n- **") == 4
