"""Operators of ONNX Runtime's own as standard nodes: what they compute is what ONNX Runtime computes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.reference
import pytest
from graphs import execute, node, onnx_model, reference
from onnx import helper
from tilewright.errors import TilewrightError, UnsupportedNode
from tilewright.frontend.load import load
from tilewright.frontend.splits.registry import rules

MICROSOFT = "com.microsoft"
Arrays = dict[str, Any]
RANDOM = np.random.default_rng(5)


def real(*shape: int) -> npt.NDArray[np.float32]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def codes(dtype: str, *shape: int) -> npt.NDArray[Any]:
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)


def scale(value: float) -> npt.NDArray[np.float32]:
    return np.asarray(value, np.float32)


def case(
    op: str, operands: str, results: str, feeds: Arrays, constants: Arrays | None = None, **attributes: Any
) -> tuple[onnx.ModelProto, Arrays]:
    """One node; operands that are in neither feeds nor constants do not exist."""
    made = node(op, operands, results, "n", MICROSOFT, **attributes)
    names = [name for name in made.output if name]
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in feeds.items()}
    shapes = {name: array.shape for name, array in feeds.items()}
    proto = onnx_model([made], shapes, names, constants, 17, types=types)
    proto.opset_import.add(domain=MICROSOFT, version=1)
    return proto, feeds


def typed(found: tuple[onnx.ModelProto, Arrays], **types: int) -> tuple[onnx.ModelProto, Arrays]:
    """The case with results of other types than float."""
    for output in found[0].graph.output:
        output.type.tensor_type.elem_type = types.get(output.name, output.type.tensor_type.elem_type)
    return found


CONV = {"x": real(1, 3, 6, 6), "w": real(4, 3, 3, 3), "b": real(4)}
WORDS = {"x": real(2, 5, 8), "s": real(2, 5, 8), "g": real(8), "t": real(8), "b": real(8)}
QKV = {"x": real(2, 5, 8), "w": real(8, 24), "b": real(24)}
MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], np.int32)
Q8 = {"x": real(2, 5, 8), "k": real(2, 7, 8), "v": real(2, 7, 8)}
TURNS = {"cos": np.cos(real(16, 2)), "sin": np.sin(real(16, 2))}
WIDE = {"cos": np.cos(real(16, 8)), "sin": np.sin(real(16, 8))}
INT64 = onnx.TensorProto.INT64
GROUPED = {"x": real(1, 3, 64), "k": real(1, 3, 32), "v": real(1, 3, 32)}
LENGTHS = {"l": np.array([2], np.int32), "t": np.array(3, np.int32)}
PAST = {"pk": real(1, 2, 4, 4), "pv": real(1, 2, 4, 4)}


def _cases() -> dict[str, tuple[onnx.ModelProto, Arrays]]:
    found = {}
    for kind, parameters in (("Relu", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1.0]), ("HardSigmoid", [0.3, 0.4])):
        more: dict[str, Any] = {"activation_params": parameters} if parameters else {}
        found[f"FusedConv {kind}"] = case("FusedConv", "x w b", "y", CONV, activation=kind, pads=[1, 1, 1, 1], **more)
    found["FusedConv sum"] = case("FusedConv", "x w b z", "y", CONV | {"z": real(1, 4, 4, 4)}, activation="Relu")
    gemm = {"x": real(3, 4), "w": real(5, 4), "b": real(5)}
    found["FusedGemm"] = case(
        "FusedGemm", "x w b", "y", gemm, transB=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.1
    )
    for flags in ({"transA": 1}, {"transB": 1, "alpha": 0.25}, {"transBatchA": 1}, {"transBatchB": 1, "transB": 1}):
        left = (2, 4, 3) if "transA" in flags else (3, 2, 4) if "transBatchA" in flags else (2, 3, 4)
        right = (5, 2, 4) if "transBatchB" in flags else (2, 5, 4) if "transB" in flags else (2, 4, 5)
        feeds = {"x": real(*left), "w": real(*right)}
        found[f"FusedMatMul {flags}"] = case("FusedMatMul", "x w", "y", feeds, **flags)
    weights = {"w": real(4, 5)}
    found["FusedMatMul constant"] = case("FusedMatMul", "x w", "y", {"x": real(3, 4)}, weights, alpha=0.125)
    found["SkipLayerNormalization"] = case("SkipLayerNormalization", "x s g t b", "y - - z", WORDS, epsilon=1e-5)
    found["SkipLayerNormalization plain"] = case(
        "SkipLayerNormalization", "x s g", "y", {name: WORDS[name] for name in "xsg"}
    )
    found["SkipSimplifiedLayerNormalization"] = case("SkipSimplifiedLayerNormalization", "x s g b", "y - - z",
                                                     {name: WORDS[name] for name in "xsgb"}, epsilon=1e-6)  # fmt: skip
    bias = {"x": real(2, 5, 8), "b": real(8)}
    for op in ("BiasGelu", "FastGelu"):
        found[op] = case(op, "x b", "y", bias)
    found["Gelu"] = case("Gelu", "x", "y", {"x": real(9)})
    found["FastGelu plain"] = case("FastGelu", "x", "y", {"x": real(9)})
    found["QuickGelu"] = case("QuickGelu", "x", "y", {"x": real(9)}, alpha=1.5)
    return found | _attentions() | _grouped() | _codes()


def _attentions() -> dict[str, tuple[onnx.ModelProto, Arrays]]:
    found = {
        "Attention": case("Attention", "x w b", "y", QKV, num_heads=2),
        "Attention one way": case("Attention", "x w b", "y", QKV, num_heads=2, unidirectional=1, scale=0.3),
        "Attention mask": case("Attention", "x w b m", "y", QKV | {"m": MASK}, num_heads=2),
        "Attention lengths": case("Attention", "x w b m", "y", QKV | {"m": MASK.sum(1, dtype=np.int32)}, num_heads=2),
        "Attention ends": case(
            "Attention", "x w b m", "y", QKV | {"m": np.array([5, 4, 1, 0], np.int32)}, num_heads=2
        ),
        "Attention past": case("Attention", "x w b - p", "y q", QKV | {"p": real(2, 2, 2, 3, 4)}, num_heads=2,
                               unidirectional=1),
        "Attention widths": case("Attention", "x w b", "y", QKV | {"w": real(8, 20), "b": real(20)}, num_heads=2,
                                 qkv_hidden_sizes=[8, 8, 4]),
        "MultiHeadAttention": case("MultiHeadAttention", "x k v b", "y", Q8 | {"b": real(24)}, num_heads=2),
        "MultiHeadAttention bias": case("MultiHeadAttention", "x k v - - a", "y", Q8 | {"a": real(1, 2, 5, 7)},
                                        num_heads=2),
        "MultiHeadAttention mask": case("MultiHeadAttention", "x k v - m", "y",
                                        Q8 | {"m": np.array([[1] * 6 + [0], [1] * 7], np.int32)}, num_heads=2),
        "MultiHeadAttention past": case("MultiHeadAttention", "x k v - - - pk pv", "y q r",
                                        {"x": real(1, 3, 8), "k": real(1, 3, 8), "v": real(1, 3, 8), **PAST},
                                        num_heads=2, unidirectional=1),
        "MultiHeadAttention cross": case("MultiHeadAttention", "x k v", "y",
                                         {"x": real(2, 5, 8), "k": real(2, 2, 7, 4), "v": real(2, 2, 7, 4)},
                                         num_heads=2),
    }  # fmt: skip
    places = {"p": np.array([3], np.int64)}
    found["RotaryEmbedding"] = case("RotaryEmbedding", "x p cos sin", "y", {"x": real(2, 5, 8), **places, **TURNS})
    places = {"p": np.array([[0, 2, 4], [1, 3, 5]], np.int64)}
    found["RotaryEmbedding interleaved"] = case("RotaryEmbedding", "x p cos sin", "y",
                                                {"x": real(2, 2, 3, 4), **places, **TURNS}, interleaved=1)  # fmt: skip
    table = {"w": real(9, 8), "p": real(6, 8), "s": real(2, 8), "g": real(8), "b": real(8)}
    ids = {"i": np.array([[1, 5, 8]], np.int32), "k": np.array([[0, 1, 1]], np.int32)}
    ids["m"] = np.array([[1, 1, 0]], np.int32)
    found["EmbedLayerNormalization"] = typed(
        case("EmbedLayerNormalization", "i k w p s g b m", "y n", ids, table, epsilon=1e-5), n=onnx.TensorProto.INT32
    )
    return found


def _grouped() -> dict[str, tuple[onnx.ModelProto, Arrays]]:
    sizes: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2}
    first, grown = LENGTHS, {"l": np.array([6], np.int32), "t": np.array(7, np.int32)}
    cache = {"pk": real(1, 2, 12, 16), "pv": real(1, 2, 12, 16)}
    before = {"pk": real(1, 2, 4, 16), "pv": real(1, 2, 4, 16)}
    return {
        "GroupQueryAttention first": case("GroupQueryAttention", "x k v - - l t", "y a b", GROUPED, first, **sizes),
        "GroupQueryAttention packed": case("GroupQueryAttention", "x - - - - l t", "y a b", {"x": real(1, 3, 128)},
                                           first, softcap=2.0, **sizes),
        "GroupQueryAttention turned": case("GroupQueryAttention", "x k v - - l t cos sin", "y a b", GROUPED,
                                           first | WIDE, do_rotary=1, **sizes),
        "GroupQueryAttention grown": case("GroupQueryAttention", "x k v pk pv l t cos sin", "y a b", GROUPED | before,
                                          grown | WIDE, do_rotary=1, local_window_size=3, **sizes),
        "GroupQueryAttention cache": case("GroupQueryAttention", "x k v pk pv l t cos sin", "y a b",
                                          GROUPED | cache | grown, WIDE, do_rotary=1, **sizes),
    }  # fmt: skip


def _codes() -> dict[str, tuple[onnx.ModelProto, Arrays]]:
    a, b = {"a": codes("uint8", 3, 8)}, {"b": codes("int8", 8, 5)}
    scales = {"s": scale(0.02), "r": (np.abs(real(5)) + 0.1).astype(np.float32), "z": np.uint8(120),
              "o": np.zeros(5, np.int8), "c": real(5)}  # fmt: skip
    turned = {"a": codes("uint8", 1, 5, 6, 3), "w": codes("int8", 4, 3, 3, 3)}
    one = {"s": scale(0.05), "z": np.uint8(110), "p": scale(0.01), "o": np.int8(0), "u": scale(0.07),
           "i": np.array(3, np.uint8)}  # fmt: skip
    uint8 = onnx.TensorProto.UINT8
    pairs = {"c": np.array([[True], [False], [True]]), "a": codes("uint8", 3, 4), "b": codes("uint8", 3, 4)}
    weights = {"w": codes("uint8", 5, 2, 8), "s": real(5, 2), "z": codes("uint8", 5, 1), "b": real(5)}
    table = {"t": codes("uint8", 6, 16), "s": real(6, 2)}
    return {
        "MatMulIntegerToFloat": case("MatMulIntegerToFloat", "a b s r z o c", "y", a, b | scales),
        "DynamicQuantizeMatMul": case("DynamicQuantizeMatMul", "x b r o c", "y", {"x": real(3, 8)}, b | scales),
        "QAttention": case("QAttention", "a w b s r m z o", "y", {"a": codes("uint8", 2, 5, 8), "m": MASK},
                           {"w": codes("int8", 8, 24), "b": real(24), "s": scale(0.01), "r": scale(0.02),
                            "z": np.uint8(128), "o": np.int8(0)}, num_heads=2),
        "QLinearWhere": typed(case("QLinearWhere", "c a s z b p i u z", "y", pairs, one), y=uint8),
        "NhwcMaxPool": typed(case("NhwcMaxPool", "a", "y", {"a": codes("uint8", 1, 6, 6, 3)}, kernel_shape=[2, 2],
                                  strides=[2, 2]), y=uint8),
        "QLinearConv": typed(case("QLinearConv", "a s z w p o u i", "y", {"a": turned["a"]},
                                  {**one, "w": turned["w"]}, channels_last=1, pads=[1, 1, 1, 1]), y=uint8),
        "QLinearAveragePool": typed(case("QLinearAveragePool", "a s z u i", "y", {"a": turned["a"]}, one,
                                         channels_last=1, kernel_shape=[2, 2]), y=uint8),
        "MatMulNBits": case("MatMulNBits", "x w s z - b", "y", {"x": real(3, 28)}, weights, N=5, K=28, bits=4,
                            block_size=16),
        "MatMulNBits 8": case("MatMulNBits", "x w s", "y", {"x": real(3, 32)},
                              {"w": codes("uint8", 5, 2, 16), "s": real(5, 2)}, N=5, K=32, bits=8, block_size=16),
        "GatherBlockQuantized": case("GatherBlockQuantized", "t i s", "y", {"i": np.array([[0, 3, 5]])}, table,
                                     block_size=16, bits=4, quantize_axis=1),
    }  # fmt: skip


CASES = _cases()


@pytest.mark.parametrize("name", CASES)
def test_the_nodes_compute_what_onnx_runtime_computes(name: str) -> None:
    proto, feeds = CASES[name]
    expected = reference(proto, feeds)
    model = load(proto)
    assert not {each.domain for each in model.nodes} - {"", MICROSOFT}
    found = execute(model, feeds)
    for output, want in expected.items():
        if name.endswith("cache") and output != "y":  # behind the words that there are, it may hold anything
            want, found[output] = want[:, :, :7], found[output][:, :, :7]
        if want.dtype.kind == "f":
            np.testing.assert_allclose(found[output], want, rtol=1e-4, atol=2e-5, err_msg=output)
        else:
            assert np.abs(found[output].astype(int) - want.astype(int)).max() <= (1 if "Pool" in name else 0), output


@pytest.mark.parametrize("form", ["near zero", "far from zero", "computed", "signed", "to float"])
def test_products_with_a_zero_point_for_each_column_are_those_of_the_runtime(form: str) -> None:
    dtype = "int8" if form == "signed" else "uint8"
    zeros = RANDOM.integers(90, 128, 5).astype(dtype) if form == "near zero" else codes(dtype, 5)
    weights = (zeros.astype(int) + RANDOM.integers(-60, 60, (8, 5))).astype(dtype)
    if form != "near zero":
        weights = codes(dtype, 8, 5)
    feeds: Arrays = {"a": codes("uint8", 2, 3, 8)}
    constants: Arrays = {"z": np.uint8(120), "o": zeros}
    (feeds if form == "computed" else constants)["b"] = weights
    if form == "to float":
        scales = {"s": scale(0.02), "r": (np.abs(real(5)) + 0.1).astype(np.float32)}
        proto, _ = case("MatMulIntegerToFloat", "a b s r z o", "y", feeds, constants | scales)
    else:
        proto, _ = case("MatMulInteger", "a b z o", "y", feeds, constants)
        proto.graph.node[0].domain = ""
        proto.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    model = load(proto)
    assert (len(model.nodes) == 1) == (form == "near zero")
    np.testing.assert_allclose(execute(model, feeds)["y"], reference(proto, feeds)["y"], rtol=1e-6, atol=1e-5)


def test_channels_last() -> None:
    """ONNX Runtime has no kernel of it for processors without certain instructions."""
    operands = {"x": CONV["x"].transpose(0, 2, 3, 1), "w": CONV["w"], "b": CONV["b"]}
    proto, feeds = case("NhwcFusedConv", "x w b", "y", operands, activation="Relu")
    plain, _ = case("FusedConv", "x w b", "y", CONV, activation="Relu")
    want = reference(plain, CONV)["y"].transpose(0, 2, 3, 1)
    np.testing.assert_allclose(execute(load(proto), feeds)["y"], want, rtol=1e-4, atol=2e-5)


def test_the_mean_of_codes() -> None:
    """ONNX Runtime has no kernel of it for processors any more."""
    feeds = {"a": codes("uint8", 2, 3, 4)}
    one = {"s": scale(0.05), "z": np.uint8(110), "u": scale(0.07), "i": np.array(3, np.uint8)}
    proto, _ = case("QLinearReduceMean", "a s z u i", "y", feeds, one, axes=[1, 2], keepdims=0)
    mean = (feeds["a"].astype(float) - 110).mean((1, 2)) * 0.05
    want = np.clip(np.rint(mean / 0.07) + 3, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(execute(load(typed((proto, feeds), y=2)[0]), feeds)["y"], want)


def test_an_lstm_of_codes_is_near_to_that_which_rounds_its_inputs_too() -> None:
    weights = {"w": codes("int8", 1, 6, 16), "r": codes("int8", 1, 4, 16), "b": real(1, 32),
               "s": np.full((1,), 0.004, np.float32), "z": np.zeros(1, np.int8)}  # fmt: skip
    feeds = {"x": real(5, 1, 6)}
    proto, _ = case("DynamicQuantizeLSTM", "x w r b - - - - s z s z", "y h c", feeds, weights, hidden_size=4)
    found, expected = execute(load(proto), feeds), reference(proto, feeds)
    for name, want in expected.items():
        np.testing.assert_allclose(found[name], want, atol=0.02)


def test_what_is_not_split_says_why() -> None:
    proto, _ = case("FusedConv", "x w b", "y", CONV, activation="Snake")
    with pytest.raises(UnsupportedNode, match=r"node 'n' \(FusedConv\): its activation 'Snake' is not known; save the"):
        load(proto)
    proto, _ = case("Attention", "x w b", "y", QKV, num_heads=2, do_rotary=1)
    with pytest.raises(
        UnsupportedNode, match=r"node 'n' \(Attention\): it turns its operands, or writes into its past"
    ):
        load(proto)


@pytest.mark.parametrize("key", rules())
def test_a_node_without_sense_is_no_crash(key: tuple[str, str]) -> None:
    domain, op = key
    for count, shape in ((1, [3]), (3, []), (8, [2, 3]), (12, [1, 2, 3])):
        names = [f"x{index}" for index in range(count)]
        made = node(op, " ".join(names), "y", "n", domain, num_heads=2, axis=7, bits=3, K=1 << 40, N=5, block_size=0)
        with contextlib.suppress(TilewrightError):
            load(_with(made, names, shape))


def _with(made: onnx.NodeProto, names: list[str], shape: list[int]) -> onnx.ModelProto:
    proto = onnx_model([made], dict.fromkeys(names, shape), ["y"])
    if made.domain:
        proto.opset_import.add(domain=made.domain, version=1)
    return proto


def test_every_rule_has_a_case() -> None:
    tried = {proto.graph.node[0].op_type for proto, _ in CASES.values()}
    of_training = {"InPlaceAccumulatorV2"}  # as those of gradients in test_training_graphs.py
    named = {name for domain, name in rules() if domain == MICROSOFT and "Grad" not in name} - of_training
    twins = {"GatherND", "HardSwish", "LayerNormalization", "Pad", "Range", "SimplifiedLayerNormalization", "Trilu"}
    alike = {"NhwcConv", "NhwcFusedConv", "TransposeMatMul", "QLinearGlobalAveragePool"}
    assert named - tried - twins - alike == {"DynamicQuantizeLSTM", "QLinearReduceMean"}


EQUATIONS: dict[str, list[tuple[int, ...]]] = {
    "bld,bln,bld->bldn": [(2, 5, 3), (2, 5, 4), (2, 5, 3)],
    "ij,jk,kl": [(6, 7), (7, 5), (5, 2)],
    "...i,...ij,jk->...k": [(3, 1, 4), (2, 4, 5), (5, 6)],
    "a...,b...,c,...->...ba": [(2, 4, 3), (3, 1, 3), (5,), (4, 1)],
    "ii,ik,k,ij -> j": [(4, 4), (4, 3), (3,), (4, 6)],
    "i, j, ik": [(4,), (3,), (1, 5)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_an_einsum_of_several_operands_is_one_of_two_after_the_other(equation: str) -> None:
    feeds = {name: real(*shape) for name, shape in zip("xywz", EQUATIONS[equation], strict=False)}
    made = node("Einsum", " ".join(feeds), "r", "n", equation=equation)
    shapes = {name: list(array.shape) for name, array in feeds.items()}
    model = load(onnx_model([made], shapes, ["r"], opset=17))
    assert [(each.op, len(each.inputs)) for each in model.nodes] == [("Einsum", 2)] * (len(feeds) - 1)
    want = np.einsum(equation.replace(" ", ""), *feeds.values())
    np.testing.assert_allclose(execute(model, feeds)["r"], want, rtol=1e-5, atol=1e-5)


def test_an_einsum_of_several_operands_without_sense_says_so() -> None:
    for equation in ("ij,jk->ik", "ij,jk,kl,lm->im", "ijk,jk,kl->il", "ij,jk,kl->ix"):
        made = node("Einsum", "x y w", "r", "n", equation=equation)
        with pytest.raises(TilewrightError, match="Einsum"):
            load(onnx_model([made], {"x": [2, 3], "y": [3, 4], "w": [4, 5]}, ["r"], opset=17))


ROIS: Arrays = {
    "x": real(1, 3, 7, 9),
    "r": np.array([[0, 0, 8, 6], [1.5, -3, 12, 5.25], [4, 4, 4.2, 4.1], [20, 20, 22, 22]], np.float32),
    "b": np.zeros(4, np.int64),
}
BATCH: Arrays = {"x": real(2, 3, 7, 9), "b": np.array([1, 0, 1, 1], np.int64)}
CONV_KEYS = ("strides", "pads", "dilations", "group")
PIXELS = "coordinate_transformation_mode"


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize(
    ("feeds", "attributes"),
    [
        (ROIS, {"sampling_ratio": 2, "output_height": 3, "output_width": 2}),
        (ROIS | BATCH, {"sampling_ratio": 3, PIXELS: "output_half_pixel", "spatial_scale": 0.5, "output_width": 4}),
    ],
    ids=["one image", "a batch"],
)
def test_roi_align_is_that_of_the_runtime(mode: str, feeds: Arrays, attributes: dict[str, Any]) -> None:
    made = node("RoiAlign", "x r b", "y", "n", mode=mode, **attributes)
    types = {"b": INT64}
    proto = onnx_model([made], {name: array.shape for name, array in feeds.items()}, ["y"], {}, 16, types=types)
    np.testing.assert_allclose(execute(load(proto), feeds)["y"], reference(proto, feeds)["y"], rtol=1e-4, atol=2e-5)


def test_regions_that_decide_the_number_of_samples_are_refused() -> None:
    made = node("RoiAlign", "x r b", "y", "n")
    proto = onnx_model([made], {name: v.shape for name, v in ROIS.items()}, ["y"], {}, 16, types={"b": INT64})
    with pytest.raises(UnsupportedNode, match=r"how many samples a cell has \(sampling_ratio 0\); set sampling_ratio"):
        load(proto)


@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]}, {"group": 2, "offset_group": 2}],
    ids=["plain", "strides, pads, dilations", "groups"],
)
def test_deformed_convolutions_are_those_of_the_standard(attributes: dict[str, Any]) -> None:
    plain = onnx.helper.make_node("Conv", ["x", "w"], ["y"], **{k: v for k, v in attributes.items() if k in CONV_KEYS})
    feeds: Arrays = {"x": real(2, 4, 6, 7), "w": real(6, 4 // attributes.get("group", 1), 3, 2), "b": real(6)}
    shape = {name: feeds[name].shape for name in "xw"}
    rows, columns = reference(onnx_model([plain], shape, ["y"]), {name: feeds[name] for name in "xw"})["y"].shape[2:]
    groups = attributes.get("offset_group", 1)
    feeds |= {"o": 2 * real(2, groups * 12, rows, columns), "m": real(2, groups * 6, rows, columns)}
    made = node("DeformConv", "x w o b m", "y", "n", **attributes)
    proto = onnx_model([made], {name: array.shape for name, array in feeds.items()}, ["y"], {}, 22)
    want: Any = onnx.reference.ReferenceEvaluator(proto).run(None, feeds)
    np.testing.assert_allclose(execute(load(proto), feeds)["y"], want[0], rtol=1e-4, atol=2e-5)
