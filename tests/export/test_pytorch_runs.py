"""Emitted modules run: floats equal ONNX Runtime, quantised networks equal the NumPy executor bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.export.mirror import bound_graph
from tilewright.export.pytorch import emit
from tilewright.safetensors import loads
from torch_modules import OURS, emitted, executed, load, outputs_of

torch = pytest.importorskip("torch", reason="torch is not installed")

TRAINED = [f"{name}_{kind}" for name in ("ad", "dscnn", "resnet8", "vww") for kind in ("f32", "int8", "int8ort")]


def assert_mirror_agrees(files: NetworkFiles, folder: Path, draws: int = 3) -> None:
    """The module against the executor on drawn inputs, and against ONNX Runtime on the recorded vector."""
    graph = bound_graph(files.model)
    module = emit(graph)
    network = getattr(load(module, folder, "mirror"), module.class_name)().eval()
    recorded, expected = files.arrays()
    first = [recorded[name] for name in graph.model.inputs]
    exact = bool(graph.model.quantisation_form)
    for name, actual in zip(graph.output_names or graph.model.outputs, outputs_of(network, first), strict=True):
        if not exact:
            np.testing.assert_allclose(actual, expected[name], rtol=1e-5, atol=1e-5)
    random = np.random.default_rng(5)
    for draw in range(draws):
        spread = [random.permutation(array.reshape(-1)).reshape(array.shape) for array in first]
        inputs = first if draw == 0 else spread
        for actual, meant in zip(outputs_of(network, inputs), executed(graph, inputs), strict=True):
            assert actual.dtype == meant.dtype
            if exact:
                np.testing.assert_array_equal(actual, meant)
            else:
                np.testing.assert_allclose(actual, meant, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OURS)
def test_networks_of_our_own(name: str, network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    assert_mirror_agrees(network(name), tmp_path)


@pytest.mark.parametrize("name", TRAINED)
def test_the_mlperf_tiny_networks(name: str, trained: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    assert_mirror_agrees(trained(name), tmp_path, draws=2)


def test_digits_are_trained_and_their_weights_come_back(
    network: Callable[[str], NetworkFiles], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sklearn = pytest.importorskip("sklearn.datasets", reason="torch is there, scikit-learn is not")
    digits = sklearn.load_digits()
    images = torch.tensor(digits.images[:, None] / 16.0, dtype=torch.float32)
    labels = torch.tensor(digits.target)
    model = network("digits").model
    module = emitted(model)
    python = load(module, tmp_path, "digits_mirror")
    net = getattr(python, module.class_name)()
    with torch.no_grad():
        for parameter in net.parameters():  # what is to be learnt again
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    optimizer = python.make_optimizer(net, 2e-3)

    def loss(outputs: object, target: object) -> object:
        return torch.nn.functional.nll_loss(torch.log(torch.clamp(outputs, min=1e-9)), target)

    def accuracy() -> float:
        with torch.no_grad():
            found = torch.cat([net(image[None]) for image in images[1500:1600]]).argmax(1)
        return float((found == labels[1500:1600]).float().mean())

    before, losses = accuracy(), []
    for step in range(150):
        losses.append(python.train_step(net, optimizer, loss, (images[step][None],), labels[step][None]))
    assert sum(losses[-50:]) < sum(losses[:50])
    assert accuracy() >= before
    python.save_weights(net, tmp_path / "trained.safetensors")
    new = tmp_path / "new.onnx"
    assert main(["import-torch", str(model), str(tmp_path / "trained.safetensors"), "-o", str(new)]) == 0
    import onnxruntime

    session = onnxruntime.InferenceSession(new, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    for image in images[1500:1505]:
        (actual,) = session.run(None, {name: image[None].numpy()})
        np.testing.assert_allclose(actual, outputs_of(net.eval(), [image[None].numpy()])[0], rtol=1e-5, atol=1e-5)
    capsys.readouterr()


def test_gradients_pass_the_layers_of_a_quantised_network(
    network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    files = network("odd_temporal_int8")
    module = emitted(files.model)
    net = getattr(load(module, tmp_path, "quantised"), module.class_name)()
    recorded, _ = files.arrays()
    (array,) = recorded.values()
    x = torch.tensor(array, requires_grad=True)
    net(x).sum().backward()
    assert bool((x.grad != 0).any())


def test_the_written_weights_are_what_the_reader_reads(network: Callable[[str], NetworkFiles], tmp_path: Path) -> None:
    module = emitted(network("digits").model)
    python = load(module, tmp_path, "state")
    net = getattr(python, module.class_name)()
    python.save_weights(net, tmp_path / "state.safetensors")
    found = loads((tmp_path / "state.safetensors").read_bytes(), "state")
    assert set(found.arrays) == set(net.state_dict())
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(found.arrays[name], value.numpy())
