"""Networks over a sequence and their streaming forms: equal, frame by frame, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from graphs import execute, node, onnx_model
from onnx.utils import Extractor
from stream.networks import causal, looking_ahead
from tilewright.cli import main
from tilewright.compile import compile_model, run_model, write
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.load import load
from tilewright.model import Model
from tilewright.options import CompileOptions, RunOptions, StreamWish
from tilewright.passes.stream.stream import streamed
from tilewright.target import load_target

ROOT = Path(__file__).parents[1]


def _stream(model: onnx.ModelProto, frames: int | None = None, axis: int = 2) -> Model:
    return streamed(load(model, name="net"), StreamWish(axis, "", frames))


def _largest_difference(model: onnx.ModelProto, net: Model, seed: int) -> float:
    """Of all frames that both give, call by call against ONNX Runtime's whole sequence."""
    assert net.stream is not None
    (given,), (made,) = net.stream.inputs, net.stream.outputs
    x = np.random.default_rng(seed).standard_normal((1, 3, net.stream.length)).astype(np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    whole = np.asarray(session.run(None, {"x": x})[0])
    kept = {
        one.past: np.zeros(net.tensors[one.past].shape, np.float32) if one.initial is None else one.initial
        for one in net.states
    }
    outputs = []
    for call in range(net.stream.length // given.frames):
        values = execute(net, {"x": x[:, :, call * given.frames : (call + 1) * given.frames], **kept})
        outputs.append(values[made.name])
        kept = {one.past: values[one.present] for one in net.states}
    ours = np.concatenate(outputs, axis=made.axis)
    last = min(whole.shape[made.axis], ours.shape[made.axis] - made.delay)
    assert last > made.settled, "the receptive field is longer than the sequence"
    a, b = ours[:, :, made.delay + made.settled : made.delay + last], whole[:, :, made.settled : last]
    return float(np.abs(a - b).max())


@pytest.mark.parametrize("drawn", [causal, looking_ahead])
def test_drawn_networks_give_the_frames_of_the_whole_sequence(drawn: Callable[[int], onnx.ModelProto]) -> None:
    refused = []
    for seed in range(40):
        model = drawn(seed)
        try:
            net = _stream(model)
        except UnsupportedError as why:
            refused.append(str(why))
            continue
        assert net.stream is not None
        least = net.stream.inputs[0].frames
        assert _largest_difference(model, net, seed) < 1e-4, seed
        assert _largest_difference(model, _stream(model, 3 * least), seed) < 1e-4, seed
        if drawn is causal and not any(each.op == "AveragePool" for each in net.nodes):
            assert (net.stream.outputs[0].delay, net.stream.outputs[0].settled) == (0, 0), seed
    assert all("it would remember what is in no sequence" in why for why in refused)
    assert len(refused) < 8


def _of(*nodes: onnx.NodeProto, **constants: object) -> onnx.ModelProto:
    return onnx_model(list(nodes), {"x": (1, 3, 16)}, ["y"], constants)


W = np.ones((3, 3, 3), np.float32)
GATES = {"w": np.ones((1, 8, 3), np.float32), "r": np.ones((1, 8, 2), np.float32)}
TURNED = node("Transpose", "x", "t", "turn", perm=[2, 0, 1])


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (_of(node("GlobalAveragePool", "x", "y", "mean")), r"'mean' \(GlobalAveragePool\) has no streaming form: one"),
        (_of(node("ReduceMean", "x", "y", "mean", axes=[2])), "'mean'.*needs others than that frame"),
        (_of(node("Softmax", "x", "y", "attend", axis=2)), "'attend'.*needs others than that frame"),
        (
            _of(node("Transpose", "x", "t", "turn", perm=[0, 2, 1]), node("MatMul", "t x", "y", "scores")),
            "'scores'.*needs others than that frame",
        ),
        (_of(node("Add", "x p", "y", "place"), p=np.ones((1, 3, 16), np.float32)), "'place'.*needs others than that"),
        (_of(node("Flatten", "x", "y", "flat", axis=1)), "'flat'.*frames become elements of something else"),
        (
            _of(node("Slice", "x a b c", "y", "last"), a=np.array([-1]), b=np.array([99]), c=np.array([2])),
            "",
        ),
        (
            _of(node("Slice", "x a b c", "y", "first"), a=np.array([0]), b=np.array([4]), c=np.array([2])),
            "'first'.*a part of the sequence whose end only the whole one has",
        ),
        (
            _of(TURNED, node("LSTM", "t w r", "y", "back", hidden_size=2, direction="reverse"), **GATES),
            "'back'.*it runs from the end of the sequence",
        ),
        (
            _of(TURNED, node("LSTM", "t w r", "- y", "last", hidden_size=2), **GATES),
            "'last'.*its last value is asked for",
        ),
        (
            _of(
                node("Conv", "x k", "a", "late"), node("Transpose", "a", "t", "turn", perm=[2, 0, 1]),
                node("LSTM", "t w r", "y", "walk", hidden_size=2), k=W, **GATES,
            ),
            "'walk'.*frames come 2 late there",
        ),
        (_of(node("Pad", "x p", "y", "mirror", mode="reflect"), p=np.array([0, 0, 2, 0, 0, 0])), "'mirror'.*constant"),
        (_of(node("Pad", "x p", "y", "front"), p=np.array([0, 0, 2, 0, 0, 0])),
         "its first 2 frames come from no input"),
    ],
)  # fmt: skip
def test_what_has_no_streaming_form_is_refused(model: onnx.ModelProto, why: str) -> None:
    if not why:
        assert _stream(model).stream is not None
        return
    with pytest.raises(UnsupportedError, match=why):
        _stream(model)


def test_axes_and_frames_that_make_no_sense() -> None:
    model = _of(node("Conv", "x w", "y", "half", strides=[2]), w=W)
    with pytest.raises(UsageError, match=r"--stream 7: input 'x' is \[1, 3, 16\]"):
        _stream(model, axis=7)
    with pytest.raises(UnsupportedError, match=r"'half' makes one frame of 2.*set --stream-frames to a multiple of 2"):
        _stream(model, 3)
    net = _stream(model)
    assert net.stream is not None
    assert net.stream.inputs[0].frames == 2
    with pytest.raises(UsageError, match="a call has at least one frame"):
        StreamWish(2, "", 0)


@pytest.mark.parametrize("name", ["odd_temporal", "odd_temporal_int8"])
def test_a_temporal_network_on_a_target(tmp_path: Path, name: str) -> None:
    """All but its end, which takes the last frame: in floats within the bound, in codes to the bit."""
    whole = onnx.shape_inference.infer_shapes(onnx.load(ROOT / "models" / name / "model.onnx"))
    end = next(each.input[0] for each in whole.graph.node if each.op_type == "Slice")
    file = tmp_path / "net.onnx"
    onnx.save(Extractor(whole).extract_model(["signal"], [end]), file)
    target = load_target("host")
    compiled = compile_model(file, CompileOptions(stream=StreamWish(2)), target)
    write(compiled, tmp_path)
    report = run_model(compiled, target, RunOptions(), tmp_path)
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.match
    assert report.run.frames.reference_mismatches == 0
    assert report.run.frames.calls == 101
    with pytest.raises(UsageError, match="pass at most 101 calls"):
        run_model(compiled, target, RunOptions(frames=200), tmp_path)


def test_frames_that_differ_from_the_whole_sequence_are_named(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(_of(node("Conv", "x w", "y", "c", pads=[2, 0]), w=W), file)
    target = load_target("host")
    compiled = compile_model(file, CompileOptions(stream=StreamWish(2)), target)
    write(compiled, tmp_path)
    assert compiled.model.stream is not None
    wrong = tuple(replace(one, delay=1) for one in compiled.model.stream.outputs)
    stream = replace(compiled.model.stream, outputs=wrong)
    late = replace(compiled, model=replace(compiled.model, stream=stream))
    report = run_model(late, target, RunOptions(frames=8), tmp_path)
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.frames.reference_first == "frame 0 of 'y'"


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(causal(3), file)
    assert main(["run", str(file), "-t", "host", "--stream", "x=2", "--stream-frames", "4"]) == 0
    said = capsys.readouterr()
    assert "equal to the whole sequence from frame 0 on" in said.err
    assert "against onnxruntime: 0 differences" in said.out
    assert main(["run", str(file), "-t", "host", "--stream", "time"]) == 2
    assert "'time' is no axis" in capsys.readouterr().err
    assert main(["run", str(file), "-t", "host", "--stream-frames", "4"]) == 2


def test_a_whole_sequence_from_a_file_is_cut_into_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, own = tmp_path / "net.onnx", str(tmp_path / "own.npz")
    onnx.save(causal(3), file)
    x = np.random.default_rng(0).standard_normal((1, 3, 20)).astype(np.float32)
    command = ["run", str(file), "-t", "host", "--stream", "x=2", "--stream-frames", "4", "--inputs", own]
    np.savez(own, x=x)
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "5 calls one after the other" in said
    assert "against onnxruntime: 0 differences" in said
    np.savez(own, x=x[:, :, :18])
    assert main(command) == 2
    assert "any multiple of 4 along axis 2" in capsys.readouterr().err
    np.savez(own, z=x)
    assert main(command) == 2
    assert "it holds z" in capsys.readouterr().err
    np.savez(own, x=np.zeros((1, 3, 10_000), np.float32))
    assert main(command) == 2
    assert "pass at most" in capsys.readouterr().err
