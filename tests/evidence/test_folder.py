"""The folder as a reviewer gets it: made once by the command, read back, verified, and changed in every way."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.errors import StateError, ToolMissing, UsageError
from tilewright.evidence.collect import parse_sections, require_sections
from tilewright.evidence.document import (
    Evidence,
    Hashed,
    InstructionTrace,
    NodeTrace,
    Rounding,
    SymbolTrace,
    load,
    sealed,
)
from tilewright.evidence.folder import texts
from tilewright.evidence.misra_rules import REASONS, category
from tilewright.evidence.verdict import problems
from tilewright.evidence.verify import changed_files, differences

HOSTILE = '<script>alert("1")</script>'

SPDX_DOCUMENT = {
    "SPDXID", "comment", "creationInfo", "dataLicense", "documentDescribes", "documentNamespace", "files", "name",
    "packages", "relationships", "spdxVersion",
}  # fmt: skip
SPDX_PACKAGE = {
    "SPDXID", "checksums", "comment", "copyrightText", "downloadLocation", "filesAnalyzed", "licenseConcluded",
    "licenseDeclared", "licenseInfoFromFiles", "name", "packageVerificationCode", "supplier", "versionInfo",
}  # fmt: skip
SPDX_FILE = {
    "SPDXID", "checksums", "comment", "copyrightText", "fileName", "fileTypes", "licenseConcluded",
    "licenseInfoInFiles",
}  # fmt: skip
"""Members that SPDX 2.3 has, as far as a bill may need them; its schema refuses all others in packages and files."""


def _network(folder: Path) -> Path:
    """A convolution, products, a softmax, two views; the first node has a name that would be a script in a page."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(2, 1, 3, 3)).astype(np.float32), generator.normal(size=(32, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name=HOSTILE, kernel_shape=[3, 3]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Flatten", ["b"], ["c"], name="flat"),
        helper.make_node("Gemm", ["c", "v"], ["d"], name="dense"),
        helper.make_node("Softmax", ["d"], ["e"], name="shares"),
        helper.make_node("Reshape", ["e", "column"], ["f"], name="turned"),
        helper.make_node("Transpose", ["f"], ["y"], name="back", perm=[1, 0]),
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [numpy_helper.from_array(weights[0], "w"), numpy_helper.from_array(weights[1], "v"),
         numpy_helper.from_array(np.array([3, 1], np.int64), "column")],
    )  # fmt: skip
    file = folder / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), file)
    return file


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    words = ["evidence", str(_network(folder)), "-t", "host", "-o", str(folder / "out"), "--range", "x=-2:2", "-q"]
    assert main(words) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def evidence(made: Path) -> Evidence:
    return load(made)


def test_every_section_stands(evidence: Evidence) -> None:
    assert problems(evidence) == ()
    assert evidence.identity.elf_repeated
    assert evidence.replication is not None
    (output,) = evidence.replication.outputs
    assert (output.kind, output.output, evidence.replication.match) == ("bound", "y", True)
    assert output.bounds is not None
    assert output.bounds.observed is not None
    assert 0 < output.bounds.observed <= (output.bounds.likely or 0) <= (output.bounds.at_vectors or 0)
    assert (output.bounds.at_vectors or 0) <= (output.bounds.over_ranges or 0)
    assert output.bounds.observed <= (output.bounds.in_order or 0) <= (output.bounds.at_vectors or 0)
    assert [(r.low, r.high, r.origin) for r in evidence.replication.ranges] == [(-2, 2, "declared with --range")]
    assert evidence.contracts is not None
    assert {c.op for c in evidence.contracts.operators} >= {"Conv", "Gemm", "Softmax"}
    assert evidence.memory is not None
    assert all(check.passed for check in evidence.memory.checks)


def test_every_node_and_symbol_is_matched(evidence: Evidence) -> None:
    trace = evidence.trace
    assert trace is not None
    assert not trace.missing
    assert [node.op for node in trace.nodes] == ["Conv", "Relu", "Flatten", "Gemm", "Softmax", "Reshape", "Transpose"]
    assert all(node.fate for node in trace.nodes)
    assert all(one.code and one.symbols for one in trace.instructions if not one.why)
    served = {index for symbol in trace.symbols for index in symbol.instructions}
    assert served >= {one.index for one in trace.instructions if not one.why}
    assert all(symbol.purpose for symbol in trace.symbols)
    numbers = {one.index: {*one.symbols} for one in trace.instructions}
    serving = {symbol.name: symbol.instructions for symbol in trace.symbols}
    assert all(one.index in serving[name] for one in trace.instructions for name in one.symbols)
    constants = [symbol for symbol in trace.symbols if symbol.kind == "constant" and symbol.name != "small_version"]
    assert all(symbol.instructions for symbol in constants)
    for symbol in trace.symbols:  # back as well as forth: no symbol serves an instruction that has no line in it
        if symbol.kind == "code" and "small_run" in symbol.name:
            continue
        assert all(symbol.name in numbers[index] for index in symbol.instructions if symbol.kind == "code")


def test_lines_and_rules(evidence: Evidence) -> None:
    if evidence.coverage is not None and not evidence.coverage.missing:
        assert evidence.coverage.never == 0
        assert "small_run" in {function.function for function in evidence.coverage.functions}
    if evidence.misra is not None and not evidence.misra.missing:
        assert evidence.misra.mandatory == 0
        assert evidence.misra.unchecked == ()
        assert {f.rule for f in evidence.misra.findings} <= set(REASONS)
    kinds = [category(rule) for rule in ("17.3", "10.1", "11.5")]
    assert kinds == ["mandatory", "required", "advisory"]


def test_the_page_is_self_contained_and_escaped(made: Path) -> None:
    page = (made / "evidence.html").read_text(encoding="utf-8")
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert "<script" not in page
    assert "http:" not in page
    assert "&lt;script&gt;alert(" in page
    assert "\\" not in page.partition("</style>")[2]


def test_the_bill_of_materials_has_what_spdx_asks_for(made: Path) -> None:
    bill = json.loads((made / "sbom.spdx.json").read_text())
    assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert {"name", "documentNamespace", "creationInfo"} <= bill.keys()
    assert {"created", "creators"} <= bill["creationInfo"].keys()
    assert re.fullmatch(r"https://[^#\s]+", bill["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Person|Organization): \S", creator) for creator in bill["creationInfo"]["creators"])
    assert bill.keys() <= SPDX_DOCUMENT
    for package in bill["packages"]:
        assert package.keys() <= SPDX_PACKAGE
        assert {"SPDXID", "name", "downloadLocation"} <= package.keys()
        assert package["filesAnalyzed"] is ("packageVerificationCode" in package)
    image, sums = bill["packages"][0], sorted(file["checksums"][0]["checksumValue"] for file in bill["files"])
    verification = hashlib.sha1("".join(sums).encode()).hexdigest()
    assert image["packageVerificationCode"] == {"packageVerificationCodeValue": verification}
    for file in bill["files"]:
        assert file.keys() <= SPDX_FILE
        assert file["fileName"].startswith("./")
        assert {"SPDXID", "fileName", "checksums"} <= file.keys()
        assert {checksum["algorithm"] for checksum in file["checksums"]} == {"SHA1", "SHA256"}
    known = {each["SPDXID"] for each in (*bill["packages"], *bill["files"])} | {"SPDXRef-DOCUMENT"}
    assert len(known) == len(bill["packages"]) + len(bill["files"]) + 1
    assert all(re.fullmatch(r"SPDXRef-[a-zA-Z0-9.-]+", name) for name in known)
    digits = {"SHA1": 40, "SHA256": 64}
    for one in (*bill["packages"], *bill["files"]):
        for checksum in one.get("checksums", ()):
            assert re.fullmatch(f"[0-9a-f]{{{digits[checksum['algorithm']]}}}", checksum["checksumValue"])
    kinds = {pair["relationshipType"] for pair in bill["relationships"]}
    assert kinds <= {"DESCRIBES", "CONTAINS", "GENERATED_FROM", "BUILD_TOOL_OF"}
    assert [pair["relatedSpdxElement"] for pair in bill["relationships"] if pair["relationshipType"] == "DESCRIBES"]
    for pair in bill["relationships"]:
        assert {pair["spdxElementId"], pair["relatedSpdxElement"]} <= known


def test_it_can_be_made_again(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", "verify", str(made), "-q"]) == 0
    assert "every hash and every section is the same" in capsys.readouterr().out


def _other(hashed: Hashed) -> Hashed:
    return replace(hashed, sha256="0" * 64)


CHANGES: tuple[tuple[str, Callable[[Evidence], Evidence]], ...] = (
    ("model 'inputs/small/model.onnx'", lambda e: _with(e, model=_other(e.identity.model))),
    ("tool 'tilewright'", lambda e: _with(e, tool=_other(e.identity.tool))),
    ("compiler 'gcc'", lambda e: _with(e, compiler=(_other(e.identity.compiler[0]), *e.identity.compiler[1:]))),
    (
        "input 'inputs/decisions.json'",
        lambda e: _with(e, inputs=(_other(e.identity.inputs[0]), *e.identity.inputs[1:])),
    ),
    (
        "generated file 'Makefile'",
        lambda e: _with(e, sources=tuple(_other(s) if s.name == "Makefile" else s for s in e.identity.sources)),
    ),
    (
        "machine code of 'small.c'",
        lambda e: _with(e, objects=tuple(_other(o) if o.name == "small.c" else o for o in e.identity.objects)),
    ),
    (
        "the generated C gives the same machine code",
        lambda e: _with(e, compiler=e.identity.compiler[:-1], elf=_other(_some(e.identity.elf))),
    ),
    ("image 'small.elf' is no longer there", lambda e: _with(e, elf=None)),
    ("flags", lambda e: _with(e, flags="-O3")),
    ("section 'trace'", lambda e: replace(e, trace=None)),
    (
        "section 'replication': the run's match",
        lambda e: replace(e, replication=replace(_some(e.replication), match=False)),
    ),
    (
        "section 'replication' speaks of other",
        lambda e: replace(e, replication=replace(_some(e.replication), outputs=())),
    ),
    ("section 'replication': output 'y' is bound then, 'y' exact now", lambda e: _with_criterion(e, kind="exact")),
    ("section 'replication': the bound of 'y' (at_vectors)", lambda e: _with_bound(e, at_vectors=1.01)),
    ("section 'replication': the bound of 'y' (over_ranges)", lambda e: _with_bound(e, over_ranges=0.99)),
    ("section 'replication': the bound of 'y' (likely)", lambda e: _with_bound(e, likely=1.01)),
    ("section 'replication': the bound of 'y' (in_order)", lambda e: _with_bound(e, in_order=None)),
)


def _with(evidence: Evidence, **changes: Any) -> Evidence:
    return replace(evidence, identity=replace(evidence.identity, **changes))


def _with_criterion(evidence: Evidence, **changes: Any) -> Evidence:
    (output,) = _some(evidence.replication).outputs
    return replace(evidence, replication=replace(_some(evidence.replication), outputs=(replace(output, **changes),)))


def _with_bound(evidence: Evidence, **times: float | None) -> Evidence:
    """With other bounds: so many times those that it has, or none."""
    bounds = _some(evidence.replication).outputs[0].bounds
    changed = {name: None if factor is None else factor * getattr(bounds, name) for name, factor in times.items()}
    return _with_criterion(evidence, bounds=replace(bounds, **changed))


def _some(value: Any) -> Any:
    assert value is not None
    return value


@pytest.mark.parametrize(("sentence", "change"), CHANGES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_difference_is_named(evidence: Evidence, sentence: str, change: Callable[[Evidence], Evidence]) -> None:
    assert list(differences(evidence, evidence)) == []
    assert [told for told in differences(evidence, change(evidence)) if told.startswith(sentence)]
    assert list(differences(change(evidence), evidence))


def test_what_is_new_is_named(evidence: Evidence) -> None:
    fewer = _with(evidence, sources=evidence.identity.sources[1:])
    assert list(differences(fewer, evidence)) == [f"generated file '{evidence.identity.sources[0].name}' is new"]


def test_changed_files_are_named(made: Path, evidence: Evidence, tmp_path: Path) -> None:
    assert list(changed_files(made, evidence)) == []
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    (copy / "project" / "src" / "small.c").write_text("/* nothing */\n")
    (copy / "evidence.html").write_text("all is well")
    (copy / "inputs" / "decisions.json").unlink()
    (copy / "project" / "src" / "more.c").write_text("int more;\n")
    (copy / "inputs" / "more.npz").write_bytes(b"")
    with (copy / "evidence.json").open("a") as stream:
        stream.write(" ")
    assert list(changed_files(copy, evidence)) == [
        "file 'inputs/decisions.json' is missing in the folder",
        "file 'project/src/small.c' was changed since the evidence was made",
        "file 'evidence.json' is not as it was written",
        "file 'evidence.html' is not what evidence.json says",
        "file 'inputs/more.npz' is none that evidence.json names",
        "file 'project/src/more.c' is none that evidence.json names",
    ]


def test_a_damaged_or_hostile_record_is_refused(
    made: Path, evidence: Evidence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    text = (copy / "evidence.json").read_text()
    (copy / "evidence.json").write_text(text.replace('"likely": ', '"likely": 1', 1))
    with pytest.raises(StateError, match="was changed since"):
        load(copy)
    for command in (("../model.onnx", "-t", "host"), (*evidence.command, "--dump-dir", "/"), ("/etc/passwd",)):
        other = sealed(replace(evidence, command=command))
        (copy / "evidence.json").write_text(texts(other)["evidence.json"])
        assert main(["evidence", "verify", str(copy), "-q"]) == 2
    assert "it does not lie in the folder" in capsys.readouterr().err


def test_what_has_no_counterpart_is_a_fault(evidence: Evidence) -> None:
    from tilewright.evidence.code_lines import CodeLines, Span
    from tilewright.evidence.line_table import LineTable, Row
    from tilewright.evidence.trace import unmatched

    code = CodeLines("small.c", (Span(1, 9, "head", "head", ()),), ())
    table = LineTable((Row(0, 4, 5), Row(4, 8, 12)), {})
    lost = NodeTrace(0, "n", "Conv", -1, "")
    empty = InstructionTrace(0, "i", "Conv", "K", (), (), (), ())
    symbol = SymbolTrace("s", "code", 8, (), "")
    assert list(unmatched([lost], [empty], [symbol], code, table)) == [
        "node 0 'n' (Conv) belongs to no instruction",
        "instruction 0 'i' (Conv) comes of no node",
        "instruction 0 'i' (Conv) has no machine code",
        "symbol 's' of 8 bytes serves no instruction",
        "line 12 of small.c has machine code and belongs to no part of the network",
    ]
    assert evidence.trace is not None
    faulty = replace(evidence, trace=replace(evidence.trace, unmatched=("symbol 's' serves nothing",)))
    assert problems(faulty) == ("symbol 's' serves nothing",)


def test_an_error_beyond_its_bound_is_a_fault(evidence: Evidence) -> None:
    replication = _some(evidence.replication)
    output = replication.outputs[0]
    beyond = replace(output, bounds=replace(output.bounds, observed=9.0))
    (told,) = problems(replace(evidence, replication=replace(replication, outputs=(beyond,))))
    assert told.startswith("output 'y' was seen 9 off, beyond its bound of")
    assert output.steps[0] == replace(output.steps[0], why="")
    assert isinstance(output.steps[0], Rounding)


def test_a_missing_tool_is_told_and_refused_by_name(evidence: Evidence) -> None:
    lacking = replace(evidence, misra=replace(_some(evidence.misra), missing="cppcheck is not installed"))
    assert lacking.unavailable["misra"] == "cppcheck is not installed"
    assert {*lacking.unavailable} == {"misra", "time", "proofs"}
    require_sections(lacking, ())
    with pytest.raises(ToolMissing, match="the section 'misra' cannot be made: cppcheck is not installed"):
        require_sections(lacking, ("misra",))
    with pytest.raises(UsageError, match="there is no section 'memroy'"):
        parse_sections("trace,memroy")


def test_a_platform_that_writes_its_own_code_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], network: Callable[[str], NetworkFiles]
) -> None:
    words = ["evidence", str(network("digits_int8").model), "-t", "cuda_host", "-o", str(tmp_path / "out"), "-q"]
    assert main(words) == 2
    assert "no evidence is made for platform 'cuda': it writes its own code" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
