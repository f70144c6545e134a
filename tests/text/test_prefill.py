"""Prompts that are read several tokens in a call: the derived network, the image of both, and what is refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from letters_network import VOCABULARY, Sizes, shapes, step
from onnx import TensorProto, helper
from tilewright.cli import main
from tilewright.errors import ModelError, UnsupportedError, UsageError
from tilewright.prefill.derive import Step, prefill_of
from tilewright.prefill.files import write_prefill
from tilewright.prefill.whole_rows import Taken, takes_all
from tilewright.quantiser.codes import Scheme
from tilewright.quantiser.rewrite import rewrite_file
from tilewright.report.build import Report

SIZES = Sizes(width=16, layers=2, heads=4, key_heads=2, hidden=16, positions=24)
PROMPT, COUNT, CHUNK = "ab c and mor", 6, 4
OWN_LOOP = """
#include "drawn_text.h"
#include <stdio.h>
static void tell(const char *piece, size_t size_bytes) { fwrite(piece, 1, size_bytes, stdout); }
int main(void)
{
    drawn_sampler sampler = {0.0f, 1.0f, 1u};
    return drawn_generate("ab c and mor", 6, &sampler, tell) == 6 ? 0 : 1;
}
"""
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic", "-fsanitize=undefined"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of drawn weights beside its tokeniser."""
    folder, draw = tmp_path_factory.mktemp("drawn"), np.random.default_rng(4)
    weights = {name: draw.normal(0, 0.7, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    onnx.save(step(SIZES, weights, "drawn"), folder / "drawn.onnx")
    vocabulary = {letter: number for number, letter in enumerate(VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": vocabulary, "merges": []}}))
    return folder / "drawn.onnx"


def _session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def _pairs(model: onnx.ModelProto) -> dict[str, str]:
    inputs = [one.name for one in model.graph.input]
    return {name: name.replace("past", "present") for name in inputs if name.startswith("past")}


@pytest.mark.parametrize(("weights", "bits"), [("float", 0), ("int8", 16), ("int8", 8), ("int4:32", 4)])
@pytest.mark.parametrize("scalar", [False, True])
def test_the_caches_are_those_of_one_token_after_the_other(
    tmp_path: Path, drawn: Path, weights: str, bits: int, scalar: bool
) -> None:
    rewrite_file(drawn, tmp_path / "one.onnx", Scheme.parse(weights), cache_bits=bits) if bits else onnx.save(
        onnx.load(drawn), tmp_path / "one.onnx"
    )
    one = onnx.load(tmp_path / "one.onnx")
    if scalar:
        one = _with_a_token_for_each(one)
    pairs = _pairs(one)
    many = prefill_of(one, Step("token", "pos", pairs), CHUNK)
    onnx.checker.check_model(many, full_check=True)
    assert {port.name for port in many.graph.output} == set(pairs.values())
    alone, together, draw = _session(one), _session(many), np.random.default_rng(1)
    states = {}
    for port in alone.get_inputs():
        if port.name in pairs:
            kinds = {"float": np.float32, "float16": np.float16, "int8": np.int8, "uint8": np.uint8}
            kind = kinds[port.type[len("tensor(") : -1]]
            states[port.name] = np.abs(draw.normal(0, 20, port.shape)).astype(kind)
    tokens, first = draw.integers(0, len(VOCABULARY), CHUNK), 5
    given = {"token": tokens, "pos": np.array([first]), **states}
    ours = dict(zip(pairs, together.run(list(pairs.values()), given), strict=True))
    for at, token in enumerate(tokens):
        given = {"token": np.array([token]), "pos": np.array([first + at]), **states}
        states = dict(zip(pairs, alone.run(list(pairs.values()), given), strict=True))
    for name, value in states.items():
        if value.dtype == np.float32:
            np.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-4)
        else:
            np.testing.assert_array_equal(ours[name], value)


def _with_a_token_for_each(model: onnx.ModelProto) -> onnx.ModelProto:
    """A node that no rule takes for all tokens at once: the sum of a row comes from a product of rank 1."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    at = next(number for number, node in enumerate(made.graph.node) if node.op_type == "RMSNormalization")
    node = made.graph.node[at]
    flat = helper.make_tensor("flat_shape", TensorProto.INT64, [1], [-1])
    back = helper.make_tensor("back_shape", TensorProto.INT64, [2], [1, SIZES.width])
    made.graph.initializer.extend([flat, back])
    views = [
        helper.make_node("Reshape", [node.input[0], "flat_shape"], ["flat"], "flat"),
        helper.make_node("Reshape", ["flat", "back_shape"], ["back"], "back"),
    ]
    node.input[0] = "back"
    for view in reversed(views):
        made.graph.node.insert(at, view)
    return made


@pytest.fixture(scope="module")
def told(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Reports of a text whose prompt was read in chunks and of one whose prompt was not."""
    reports, folder = {}, tmp_path_factory.mktemp("told")
    words = ["run", str(drawn), "-t", "host", "--state", "auto", "--weights", "int8", "--cache", "int8", "-q"]
    words += ["--generate", str(COUNT), "--prompt", PROMPT]
    for name, more in (("chunks", ["--prefill", str(CHUNK), "-o", str(folder / "out")]), ("plain", [])):
        assert main([*words, *more, "--json", str(folder / f"{name}.json")]) == 0
        reports[name] = Report.from_json(json.loads((folder / f"{name}.json").read_text()))
    return reports


def test_a_prompt_in_chunks_gives_the_text_of_one_token_by_token(told: dict[str, Report]) -> None:
    ours, plain = told["chunks"].run, told["plain"].run
    assert ours is not None
    assert plain is not None
    assert ours.text is not None
    assert plain.text is not None
    assert ours.match
    assert ours.text.tokens == plain.text.tokens
    assert (ours.text.chunk_tokens, ours.text.chunks) == (CHUNK, 2)
    assert ours.frames is not None
    assert ours.frames.calls == 2 + 4 + COUNT - 1
    assert ours.text.same_choices == plain.text.same_choices
    shared = told["chunks"].bundle
    assert shared is not None
    assert [one.network for one in shared.arena] == ["drawn", "drawn_prefill"]
    states = told["plain"].memory["ram"].state
    assert told["chunks"].memory["ram"].state == states


def test_the_functions_of_the_project_read_in_chunks(tmp_path: Path, drawn: Path, told: dict[str, Report]) -> None:
    words = ["compile", str(drawn), "-t", "host", "--state", "auto", "--weights", "int8,c", "--cache", "int8", "-q"]
    tokenizer = str(drawn.parent / "tokenizer.json")
    out = tmp_path / "out"
    assert main([*words, "--prefill", str(CHUNK), "--tokenizer", tokenizer, "-o", str(out)]) == 0
    (tmp_path / "main.c").write_text(OWN_LOOP)
    code = out / "src" / "drawn_text.c"
    assert f"#define DRAWN_CHUNK {CHUNK} " in (out / "src" / "drawn_text.h").read_text()
    for text in (
        code.read_text(),
        code.read_text().replace("given - position > DRAWN_CHUNK", "given > DRAWN_POSITIONS"),
    ):
        code.write_text(text)
        sources = sorted(str(file) for file in (out / "src").glob("*.c"))
        command = ["gcc", *STRICT, f"-I{out / 'src'}", str(tmp_path / "main.c"), *sources, "-lm"]
        subprocess.run([*command, "-o", str(tmp_path / "own")], check=True)
        own = subprocess.run([str(tmp_path / "own")], check=True, capture_output=True)
        assert told["chunks"].run is not None
        assert told["chunks"].run.text is not None
        assert own.stdout.decode() == told["chunks"].run.text.text
    assert "drawn_text.o" in (out / "Makefile").read_text()


def test_a_network_that_reads_rows_of_later_tokens_is_refused(
    tmp_path: Path, drawn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = onnx.load(drawn)
    hidden = next(one for one in model.graph.initializer if one.name == "hidden")
    hidden.CopyFrom(helper.make_tensor("hidden", TensorProto.FLOAT, [], [-0.5]))
    onnx.save(model, tmp_path / "seen.onnx")
    words = ["compile", str(tmp_path / "seen.onnx"), "-t", "host", "--state", "auto", "--prefill", "4"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 3
    assert "depends on rows of a cache behind its own position" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "code", "why"),
    [
        (["--prefill", "1", "--state", "auto"], 2, "2 to 256 tokens are read in a call"),
        (["--prefill", "4"], 2, "pass --state auto"),
        (["--prefill", "4", "--state", "pos=logits"], 3, "takes the step of one token"),
    ],
)
def test_what_prefill_refuses(
    tmp_path: Path, drawn: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int, why: str
) -> None:
    assert main(["compile", str(drawn), "-t", "host", "-o", str(tmp_path / "out"), *more]) == code
    assert why in capsys.readouterr().err


def test_states_of_other_kinds_are_refused(tmp_path: Path, drawn: Path) -> None:
    model = onnx.load(drawn)
    pairs = _pairs(model)
    write = next(node for node in model.graph.node if node.op_type == "TensorScatter")
    write.input[2] = "token"
    with pytest.raises(UnsupportedError, match="cannot write the state 'past_l0_k' for several tokens"):
        prefill_of(model, Step("token", "pos", pairs), CHUNK)
    (tmp_path / "damaged.onnx").write_bytes(b"\x08")
    with pytest.raises(ModelError, match="damaged or cut off"):
        write_prefill(tmp_path / "damaged.onnx", tmp_path / "x.onnx", CHUNK, ())
    onnx.save(
        onnx.load(drawn), tmp_path / "apart.onnx", save_as_external_data=True, location="apart.bin", size_threshold=0
    )
    for folder, source in ((tmp_path / "a", tmp_path / "apart.onnx"), (tmp_path / "b", drawn)):
        folder.mkdir()
        write_prefill(source, folder / "x.onnx", CHUNK, ())
    assert (tmp_path / "a/x.onnx").read_bytes() == (tmp_path / "b/x.onnx").read_bytes()
    with pytest.raises(UsageError, match="--prefill 300"):
        write_prefill(drawn, tmp_path / "x.onnx", 300, ())


def test_a_report_without_chunks_is_read_too(told: dict[str, Report]) -> None:
    for report in told.values():
        assert report.run is not None
        assert Report.from_json(report.to_json()).run == replace(report.run)


def _taken(
    kind: str, inputs: list[tuple[int, ...]], output: tuple[int, ...], of_token: list[bool], axes: object
) -> bool:
    node = helper.make_node(kind, [f"x{at}" for at in range(len(inputs))], ["y"])
    integers = {1: tuple(axes)} if isinstance(axes, tuple) else {}
    fixed = tuple(not own for own in of_token)
    return takes_all(Taken(node, tuple(inputs), (output,), tuple(of_token), fixed, integers))


@pytest.mark.parametrize(
    ("kind", "inputs", "output", "of_token", "axes", "all_at_once"),
    [
        ("Add", [(1, 8), (8,)], (1, 8), [True, False], None, True),
        ("Add", [(1, 8), (1,)], (1, 8), [True, True], None, False),
        ("Add", [(8,), (1, 8)], (1, 8), [True, False], None, False),
        ("Add", [(1, 8), (3, 8)], (3, 8), [True, False], None, False),
        ("ReduceMax", [(1, 8), (1,)], (1, 1), [True, False], (-1,), True),
        ("ReduceMax", [(1, 8), (1,)], (1, 1), [True, False], (-2,), False),
        ("ReduceMax", [(1, 8)], (1, 1), [True], None, False),
        ("Gather", [(9, 8), (1,)], (1, 8), [False, True], None, True),
        ("Gather", [(1, 8), (1,)], (1, 8), [True, False], None, False),
        ("MatMul", [(1, 8), (8, 4)], (1, 4), [True, False], None, True),
        ("MatMul", [(1, 8), (8, 1)], (1, 1), [True, True], None, False),
        ("Unsqueeze", [(1, 8), (1,)], (1, 1, 8), [True, False], (1,), True),
        ("Unsqueeze", [(1, 8), (1,)], (1, 1, 8), [True, False], (0,), False),
        ("Squeeze", [(1, 1, 8), (1,)], (1, 8), [True, False], (-3,), False),
        ("DynamicQuantizeLinear", [(1, 8)], (1, 8), [True], None, False),
    ],
)
def test_which_nodes_take_the_rows_of_all_tokens(
    kind: str, inputs: list[tuple[int, ...]], output: tuple[int, ...], of_token: list[bool], axes: object,
    all_at_once: bool,
) -> None:  # fmt: skip
    assert _taken(kind, inputs, output, of_token, axes) == all_at_once
