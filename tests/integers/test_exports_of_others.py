"""Networks that other quantisers export here and now: each in integers, with the answers of the one who made it.

What they need beside torch is small: `pip install --no-deps torchao brevitas dependencies==2.0.1 unfoldNd onnxoptimizer
amd-quark nvidia-modelopt aimet-onnx onnx2torch`, and what those ask for by name (`ci/test-torch` has the list). A
package that is missing is named by the skip.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tilewright.cli import main
from tilewright.frontend.load import load
from tilewright.model import Array
from tilewright.quantiser.static.accuracy import integers_of
from tilewright.quantiser.static.samples import Samples

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # of packages about one another
STEPS = 2
"""By how many steps of its 8-bit result an exporter's own floats may be off."""
Exported = tuple[Array, Array]


def wanted(package: str) -> Any:
    """A package of an exporter, or a skip that names it."""
    return pytest.importorskip(package, reason=f"torch has no {package} beside it", exc_type=ImportError)


def pt2e(file: Path) -> Exported:
    """PyTorch's own way: torch.export, torchao's pt2e with weights by channel, and torch.onnx."""
    wanted("onnxscript")
    wanted("torchao")
    steps = wanted("torchao.quantization.pt2e.quantize_pt2e")
    xnnpack = wanted("torchao.testing.pt2e._xnnpack_quantizer")
    nn = torch.nn
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
              nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)]  # fmt: skip
    x = torch.randn(1, 1, 12, 12)
    exported = torch.export.export(nn.Sequential(*layers).eval(), (x,)).module()
    settings = xnnpack.get_symmetric_quantization_config(is_per_channel=True)
    prepared = steps.prepare_pt2e(exported, xnnpack.XNNPACKQuantizer().set_global(settings))
    for _ in range(6):
        prepared(torch.randn(1, 1, 12, 12))
    prepared(x)
    converted = steps.convert_pt2e(prepared)
    torch.onnx.export(converted, (x,), dynamo=True, verbose=False).save(str(file))
    return x.numpy(), converted(x).detach().numpy()


def brevitas(form: str, bits: int) -> Callable[[Path], Exported]:
    """Brevitas, trained for some steps, as QCDQ or QONNX."""

    def make(file: Path) -> Exported:
        wanted("onnxoptimizer")
        wanted("brevitas")
        q = wanted("brevitas.nn")
        kinds = wanted("brevitas.quant")
        torch.manual_seed(0)
        inner = {"weight_quant": kinds.Int8WeightPerChannelFloat, "bias_quant": kinds.Int32Bias,
                 "weight_bit_width": bits, "return_quant_tensor": True}  # fmt: skip
        model = torch.nn.Sequential(
            q.QuantIdentity(bit_width=8, return_quant_tensor=True), q.QuantConv2d(1, 8, 3, padding=1, **inner),
            q.QuantReLU(bit_width=bits, return_quant_tensor=True),
            q.QuantConv2d(8, 8, 3, padding=1, groups=8, **inner),
            q.QuantReLU(bit_width=bits, return_quant_tensor=True), torch.nn.Flatten(),
            q.QuantLinear(8 * 144, 10, bias=True, **inner), q.QuantIdentity(bit_width=8),
        )  # fmt: skip
        descent = torch.optim.SGD(model.parameters(), 1e-3)
        for _ in range(4):
            loss = model(torch.randn(4, 1, 12, 12)).pow(2).mean()
            descent.zero_grad()
            loss.backward()
            descent.step()
        x = torch.randn(1, 1, 12, 12)
        model.eval()
        result = model(x)
        write = getattr(wanted("brevitas.export"), f"export_{form}")
        write(model, args=x, export_path=str(file), **({"dynamo": False} if form == "onnx_qcdq" else {}))
        return x.numpy(), result.detach().numpy()

    return make


def modelopt(file: Path) -> Exported:
    """NVIDIA's ModelOpt: int8 by channel, the normalisation where training left it, codes for the last result too."""
    quantiser = wanted("modelopt.torch.quantization")
    nn = torch.nn
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=8),
              nn.ReLU(), nn.Flatten(), nn.Linear(8 * 144, 10)]  # fmt: skip
    settings = copy.deepcopy(quantiser.INT8_DEFAULT_CFG)
    last = {"quantizer_name": "*6.output_quantizer", "cfg": {"num_bits": 8, "axis": None}, "enable": True}
    settings["quant_cfg"].append(last)
    x = torch.randn(1, 1, 12, 12)
    samples = [torch.randn(1, 1, 12, 12) for _ in range(6)] + [x]
    network = nn.Sequential(*layers).train()
    for sample in samples:  # so that the normalisation has seen something
        network(sample)
    model = quantiser.quantize(network.eval(), settings, lambda net: [net(one) for one in samples])
    with torch.no_grad():
        result = model(x)
    torch.onnx.export(model, (x,), str(file), opset_version=17, dynamo=False)
    return x.numpy(), result.numpy()


def aimet(file: Path) -> Exported:
    """Qualcomm's AIMET on a file of floats, its simulation written out."""
    tool, simulation = wanted("aimet_onnx"), wanted("aimet_onnx.quantsim")
    plain, x = floats(file)
    model = simulation.QuantizationSimModel(onnx.load(plain), param_type=tool.int8, activation_type=tool.int8)
    model.compute_encodings([{"x": one} for one in x])
    result = np.asarray(model.session.run(None, {"x": x[0]})[0])
    onnx.save(model.to_onnx_qdq(), file)
    return x[0], result


def floats(file: Path) -> tuple[Path, Array]:
    """A network in floats beside the file, and twelve samples for it."""
    rng = np.random.default_rng(0)
    shapes = {"w": (8, 1, 3, 3), "b": (8,), "v": (10, 1152), "c": (10,)}
    weights = [numpy_helper.from_array((rng.standard_normal(s) * 0.1).astype(np.float32), n) for n, s in shapes.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["p"], "p", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["p"], ["q"], "q"), helper.make_node("Flatten", ["q"], ["r"], "r"),
        helper.make_node("Gemm", ["r", "v", "c"], ["y"], "y", transB=1),
    ]  # fmt: skip
    ends = [helper.make_tensor_value_info(*each) for each in (("x", 1, [1, 1, 12, 12]), ("y", 1, [1, 10]))]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    plain = file.with_name("float.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), plain)
    return plain, rng.standard_normal((12, 1, 1, 12, 12)).astype(np.float32)


def quark(file: Path) -> Exported:
    """AMD's Quark on a file of floats, with scales that are powers of two."""
    tool, settings = wanted("quark.onnx"), wanted("quark.onnx.quantization.config")
    import onnxruntime
    from onnxruntime.quantization.calibrate import CalibrationDataReader

    plain, x = floats(file)
    samples = iter([{"x": one} for one in x])
    reader = type("Reader", (CalibrationDataReader,), {"get_next": lambda _: next(samples, None)})()
    chosen = settings.Config(global_quant_config=settings.get_default_config("XINT8"))
    tool.ModelQuantizer(chosen).quantize_model(str(plain), str(file), reader)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return x[0], np.asarray(session.run(None, {"x": x[0]})[0])


EXPORTERS: dict[str, Callable[[Path], Exported]] = {
    "pt2e": pt2e,
    "brevitas of 8 bits": brevitas("onnx_qcdq", 8),
    "brevitas of 4 bits": brevitas("onnx_qcdq", 4),
    "brevitas as QONNX": brevitas("qonnx", 4),
    "quark": quark,
    "modelopt": modelopt,
    "aimet": aimet,
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_an_exported_network_is_taken_as_it_is(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "net.onnx"
    monkeypatch.chdir(tmp_path)  # where some leave tables of what they did
    x, theirs = EXPORTERS[name](file)
    capsys.readouterr()
    code = main(["run", str(file), "-t", "host", "--integer-only"])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert "outputs match" in told.out
    (given,) = load(file).given
    ((ours,),) = integers_of(file.read_bytes()).outputs(Samples({given: x[None]}, None))
    assert np.abs(ours - theirs).max() <= STEPS * (theirs.max() - theirs.min()) / 127
