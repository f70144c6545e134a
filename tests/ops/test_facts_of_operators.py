"""What is known of an operator stands on the operator: no module outside of ops/ keeps a table of operators' names."""

from __future__ import annotations

import ast
from pathlib import Path

import tilewright
from tilewright.conformance.families import FAMILIES
from tilewright.export.torch_expressions import WRITERS
from tilewright.ops.registry import all_operators

SDK = Path(tilewright.__file__).parent
NAMES = frozenset(operator.name for operator in all_operators())
ALLOWED = {
    "conformance/draws_moves.py": "the gates of a family's own three operators",
    "conformance/graphs.py": "what random networks are made of",
    "evidence/error_bounds/rules.py": "how a reviewer is told that floats round, rule by rule",
    "frontend/adopt.py": "attributes that became operands, from one version of the standard to the next",
    "frontend/opset.py": "what changed from one version of the standard to the next",
    "frontend/scales.py": "spellings of quantisation, before there are operators on codes",
    "frontend/splits/quantised_forms.py": "names of another domain's operators",
    "frontend/splits/spelling.py": "activations that an attribute of another domain's operator names",
    "frontend/splits/twins.py": "names of another domain's operators that the standard has too",
    "frontend/structure.py": "operators that others write into older versions of the standard",
    "graphs/primitives.py": "a plan's smallest vocabulary, and what becomes what in it",
    "passes/chain.py": "algebra: which two operators become which",
    "passes/pool.py": "algebra: which operator becomes which",
    "passes/prescale.py": "algebra: which two operators become which",
    "passes/quantise/forms.py": "spellings of quantised operators and what they become",
    "passes/scalar.py": "algebra: which two operators become which",
    "passes/stream/frames.py": "views through which this pass has rules for the axis of time, none for others",
    "passes/stream/recurrent.py": "operators whose state this pass has a rule for",
    "passes/stream/windows.py": "windows that this pass has a rule for, none for others",
    "prefill/whole_rows.py": "nodes of files that this room has a rule for; all others are computed once a token",
    "platform.py": "what it gives to authors, of which two are called like operators",
    "run/exact.py": "a judge of the meaning that shares no code and no fact with it",
    "run/exact_values.py": "a judge of the meaning that shares no code and no fact with it",
}
"""Files that may hold such tables, and why: they are no facts of one operator, or must not be shared."""


def tables(source: str) -> list[tuple[int, list[str]]]:
    """Lines of literals that hold two or more operators' names: sets, tuples, lists, keys, and words of one string."""
    found = []
    for node in ast.walk(ast.parse(source)):
        elements: list[ast.expr | None] = []
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            elements = [*node.elts]
        elif isinstance(node, ast.Dict):
            elements = [*node.keys]
        words = [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.split() if set(node.value.split()) <= NAMES else []
        named = [word for word in words if word in NAMES]
        if len(named) > 1 and isinstance(node, ast.expr):
            found.append((node.lineno, named))
    return found


def test_no_table_of_operators_stands_outside_of_their_folder() -> None:
    offences, clean = [], set(ALLOWED)
    for file in sorted(SDK.rglob("*.py")):
        place = file.relative_to(SDK).as_posix()
        if place.startswith(("ops/", "platforms/", "targets/")):
            continue
        found = tables(file.read_text())
        if found:
            clean.discard(place)
        if place not in ALLOWED:
            offences += [f"{place}:{line}: {', '.join(names)}" for line, names in found]
    assert not offences, "say it on the operator, in ops/"
    assert not clean, "these need no permission any more"


def test_every_kind_of_table_is_found() -> None:
    spellings = ('{"Conv", "Gemm"}', '("Conv", "Gemm")', '["Conv", "Gemm"]', '{"Conv": 1, "Gemm": 2}', '"Conv Gemm"')
    for spelling in spellings:
        assert tables(f"x = 1\ny = {spelling}") == [(2, ["Conv", "Gemm"])], spelling
    assert not tables('x = ("Conv", "other")\n"""Conv and Gemm"""')


def test_every_word_of_a_fact_is_known() -> None:
    sketches = {operator.sketch for operator in all_operators() if operator.sketch}
    writers = {operator.torch.writer for operator in all_operators() if operator.torch and operator.torch.writer}
    assert sketches == set(FAMILIES)
    assert writers == set(WRITERS)
