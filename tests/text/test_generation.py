"""A model writes text on a target: what is compared, the generated functions by themselves, and what is refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from letters_network import VOCABULARY, Sizes, shapes, step
from tilewright.cli import main
from tilewright.codegen.text import text_ports
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.options import CompileOptions, ReadingWish, RunOptions, StateWish, TextWish
from tilewright.report.build import Report
from tilewright.target import load_target
from tilewright.text.read import read_tokeniser
from tilewright.text.sampler import Sampler, Sampling

SIZES = Sizes(width=16, layers=1, heads=4, key_heads=2, hidden=16, positions=24)
OWN_LOOP = """
#include "drawn_text.h"
#include <stdio.h>
static void tell(const char *piece, size_t size_bytes) { fwrite(piece, 1, size_bytes, stdout); }
int main(void)
{
    drawn_sampler sampler = {TEMPERATURE, 0.9f, 77u};
    return drawn_generate("ab c", COUNT, &sampler, tell) == WRITTEN ? 0 : 1;
}
"""


def _compiled(folder: Path, deviation: float = 0.7) -> tuple[Compiled, Path]:
    """A small model of drawn weights as a project, and its tokeniser."""
    draw = np.random.default_rng(4)
    weights = {name: draw.normal(0, deviation, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    onnx.save(step(SIZES, weights, "drawn"), folder / "drawn.onnx")
    vocabulary = {letter: number for number, letter in enumerate(VOCABULARY)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": vocabulary, "merges": []}}))
    options = CompileOptions(state=StateWish(auto=True), tokenizer=folder / "tokenizer.json", weights="c")
    compiled = compile_model(folder / "drawn.onnx", options, load_target("host"))
    write(compiled, folder)
    return compiled, folder / "tokenizer.json"


def _run(folder: Path, wish: TextWish, compiled: Compiled) -> Report:
    return run_model(compiled, load_target("host"), RunOptions(text=wish), folder)


def _foreseen(model: Path, text: str) -> list[float]:
    """The logarithm of the probability of every token but the first, by ONNX Runtime alone."""
    session = onnxruntime.InferenceSession(model)
    states = {one.name: np.zeros(one.shape, np.float32) for one in session.get_inputs() if "past" in one.name}
    tokens, logarithms = [VOCABULARY.index(letter) for letter in text], []
    for at, (token, following) in enumerate(pairwise(tokens)):
        results = session.run(None, {"token": np.array([token]), "pos": np.array([at]), **states})
        named = dict(zip([one.name for one in session.get_outputs()], results, strict=True))
        states = {name: named[name.replace("past", "present")] for name in states}
        scores = named["logits"].reshape(-1).astype(np.float64)
        logarithms.append(float(scores[following] - np.log(np.exp(scores).sum())))
    return logarithms


@pytest.mark.parametrize("deviation", [0.7, 0.0])
def test_how_well_a_text_is_foreseen(tmp_path: Path, deviation: float) -> None:
    compiled, tokenizer = _compiled(tmp_path, deviation)
    text, model = "ab c, and what else there is of it", tmp_path / "drawn.onnx"
    (tmp_path / "text.txt").write_text(text)
    wish = ReadingWish(tokenizer, tmp_path / "text.txt", model)
    report = run_model(compiled, load_target("host"), RunOptions(reading=wish), tmp_path)
    assert report.run is not None
    assert (told := report.run.reading) is not None
    pieces = [_foreseen(model, text[:24]), _foreseen(model, text[24:])]
    expected = np.exp(-np.mean(pieces[0] + pieces[1])) if deviation else len(VOCABULARY)
    assert (told.tokens, told.same_choices) == (32, 32)
    assert told.perplexity == pytest.approx(expected, rel=1e-4)
    assert told.float_perplexity == pytest.approx(expected, rel=1e-4)
    assert Report.from_json(report.to_json()).run == report.run


@pytest.mark.parametrize("text", [b"\xff\xfe", b"a"])
def test_what_is_no_text_is_not_foreseen(tmp_path: Path, text: bytes) -> None:
    compiled, tokenizer = _compiled(tmp_path)
    (tmp_path / "text.txt").write_bytes(text)
    wish = ReadingWish(tokenizer, tmp_path / "text.txt", tmp_path / "drawn.onnx")
    with pytest.raises(UsageError, match=r"--text text\.txt"):
        run_model(compiled, load_target("host"), RunOptions(reading=wish), tmp_path)


def test_a_model_writes_and_every_step_is_compared(tmp_path: Path) -> None:
    compiled, tokenizer = _compiled(tmp_path)
    told: list[str] = []
    report = _run(tmp_path, TextWish(tokenizer, "ab c", 6, tell=told.append), compiled)
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.text is not None
    assert report.run.match
    assert (report.run.frames.calls, report.run.frames.reference_mismatches) == (9, 0)
    assert report.run.text.text.startswith("ab c")
    assert (len(report.run.text.tokens), report.run.text.prompt_tokens) == (10, 4)
    assert report.run.text.same_choices == 6
    assert "".join(told) == report.run.text.text + "\n"
    assert Report.from_json(report.to_json()).run == report.run
    assert _run(tmp_path, TextWish(tokenizer, "ab c", 99), compiled).run.frames.calls == 24  # type: ignore[union-attr]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_functions_of_the_project_write_the_same(tmp_path: Path, temperature: float) -> None:
    compiled, tokenizer = _compiled(tmp_path)
    sampling = Sampling(temperature, 0.9, 77)
    report = _run(tmp_path, TextWish(tokenizer, "ab c", 12, sampling), compiled)
    assert report.run is not None
    assert report.run.text is not None
    (tmp_path / "main.c").write_text(OWN_LOOP)
    sources = sorted(str(file) for file in (tmp_path / "src").glob("*.c"))
    defined = [f"-DTEMPERATURE={temperature}f", "-DCOUNT=12", "-DWRITTEN=12"]
    strict = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
        "-pedantic",
        "-fsanitize=undefined",
    ]
    command = ["gcc", *strict, *defined, f"-I{tmp_path / 'src'}", str(tmp_path / "main.c"), *sources, "-lm"]
    subprocess.run([*command, "-o", str(tmp_path / "own")], check=True)
    own = subprocess.run([str(tmp_path / "own")], check=True, capture_output=True)
    assert own.stdout.decode() == report.run.text.text
    assert _by_numpy(compiled, tokenizer, sampling, report) == report.run.text.tokens


def _by_numpy(compiled: Compiled, tokenizer: Path, sampling: Sampling, report: Report) -> tuple[int, ...]:
    """The same text with NumPy's scores and Python's sampler."""
    from tilewright.codegen.text import fed
    from tilewright.plan.execute import first_value, run_slots

    plan, known, sampler = compiled.placed.plan, read_tokeniser(tokenizer), Sampler(sampling)
    tokens, states = list(known.encode("ab c")), [first_value(plan, pair) for pair in plan.state]
    ports = text_ports(plan, known)
    assert report.run is not None
    assert report.run.text is not None
    given, whole = len(tokens), len(report.run.text.tokens)
    for at in range(whole - 1):
        slots = run_slots(plan, fed(plan, ports, tokens[at], at), states)
        states = [slots[pair.source] for pair in plan.state]
        if at + 1 >= given:
            tokens.append(sampler.choose(slots[plan.output_slots[ports.scores]]))
    return tuple(tokens)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("scores[i] > scores[best]", "scores[i] < scores[best]", "has the best score"),
        ("return count;", "return count > 3 ? 3 : count;", "tokens of the prompt differ"),
    ],
)
def test_a_wrong_choice_or_a_wrong_token_is_found(tmp_path: Path, right: str, wrong: str, words: str) -> None:
    compiled, tokenizer = _compiled(tmp_path)
    code = tmp_path / "src" / "drawn_text.c"
    text = code.read_text()
    assert right in text
    head, end = text.rpartition(right)[::2]
    code.write_text(head + wrong + end)
    with pytest.raises(TilewrightError, match=words):
        _run(tmp_path, TextWish(tokenizer, "ab c", 3), compiled)


def test_what_is_no_step_of_a_language_model_is_refused(tmp_path: Path) -> None:
    compiled, tokenizer = _compiled(tmp_path)
    known = read_tokeniser(tokenizer)
    plan = compiled.placed.plan
    with pytest.raises(UsageError, match="this one has no state"):
        text_ports(replace(plan, state=()), known)
    with pytest.raises(UnsupportedError, match="position of the token: an integer named pos or"):
        text_ports(replace(plan, input_slots=plan.input_slots[:1]), known)
    with pytest.raises(UnsupportedError, match="the tokeniser has 2 tokens"):
        text_ports(plan, replace(known, pieces=known.pieces[:2]))
    with pytest.raises(UsageError, match="it has 25 tokens, the network takes 24"):
        _run(tmp_path, TextWish(tokenizer, "a" * 25, 3), compiled)
    with pytest.raises(UsageError, match="--io caller"):
        CompileOptions(tokenizer=tokenizer, io="caller")


@pytest.mark.sim("qemu_mps2_an386")
@pytest.mark.parametrize(("weights", "cache", "error"), [("int8", "int8", 2), ("int4:32", "float", 1e-3)])
def test_a_network_in_codes_writes_on_a_microcontroller(
    tmp_path: Path, weights: str, cache: str, error: float, capsys: pytest.CaptureFixture[str]
) -> None:
    _compiled(tmp_path)
    told = tmp_path / "told.json"
    words = ["run", str(tmp_path / "drawn.onnx"), "-t", "qemu_mps2_an386", "--state", "auto", "--weights", weights]
    words += ["--cache", cache]
    assert main([*words, "--generate", "5", "--prompt", "ab c", "--json", str(told), "-q"]) == 0
    capsys.readouterr()
    report = Report.from_json(json.loads(told.read_text()))
    assert report.run is not None
    assert report.run.text is not None
    assert report.run.text.same_choices == 5
    assert {layer.kernel for layer in report.layers if layer.op == "CodeProduct"} == {"CodeProductDsp"}
    assert report.run.max_abs_error is not None
    assert report.run.max_abs_error < error
    attention = "CodedAttentionDsp" if cache == "int8" else "CachedAttention"
    assert attention in {layer.kernel for layer in report.layers}
