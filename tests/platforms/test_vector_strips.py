"""Strips of vectors on a simulated core: sums with ties to either code, functions of codes and floats, and moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from board_layers import Network, check_network, kernels
from graphs import node

BOARD = "qemu_rv32gcv"
RNG = np.random.default_rng(11)


def coded(network: Network, name: str, scale: float, zero: int, kind: type = np.int8) -> str:
    """Names of a scale and a zero point."""
    made = network.constant(f"{name}_s", np.float32(scale)), network.constant(f"{name}_z", kind(zero))
    return " ".join(made)


def pairs() -> Network:
    """Sums of two codes, of a code and a scalar, of rows and a line, with scales that tie and others that do not, of
    unsigned codes, with limits of their own; codes of other scales joined."""
    network = Network(np.random.default_rng(3))
    network.constant("least", np.float32(-4))
    network.constant("most", np.float32(9))
    shapes = {"same": ((2, 5, 7), (2, 5, 7)), "line": ((3, 5, 40), (40,)), "column": ((3, 37), (3, 1))}
    scales = {"even": (0.5, 0.25, 1.0, 0), "odd": (0.5, 0.25, 1.0, 1), "plain": (0.031, 0.017, 0.05, -7),
              "even_unsigned": (0.5, 0.25, 1.0, 130), "even_limited": (0.5, 0.25, 1.0, 2)}  # fmt: skip
    for form, (first, second, result, zero) in scales.items():
        for shape, (left, right) in shapes.items():
            for op in ("Add", "Mul"):
                n = f"{op}_{form}_{shape}"
                kind, between = (np.uint8, 128) if "unsigned" in form else (np.int8, 0)
                ends = (
                    coded(network, f"{n}_a", first, between + 3, kind),
                    coded(network, f"{n}_b", second, between - 5, kind),
                )
                made = coded(network, f"{n}_y", result * (4 if op == "Mul" else 1), zero, kind)
                network.inputs |= {f"{n}_a": (left, kind), f"{n}_b": (right, kind)}
                last = f"{n}_l" if "limited" in form else f"{n}_fy"
                network.nodes += [
                    node("DequantizeLinear", f"{n}_a {ends[0]}", f"{n}_fa"),
                    node("DequantizeLinear", f"{n}_b {ends[1]}", f"{n}_fb"),
                    node(op, f"{n}_fa {n}_fb", f"{n}_fy", n), node("QuantizeLinear", f"{last} {made}", f"{n}_y"),
                ]  # fmt: skip
                if "limited" in form:
                    network.nodes.insert(-1, node("Clip", f"{n}_fy least most", last))
                network.outputs[f"{n}_y"] = kind
    for kind in (np.int8, np.uint8):
        n = f"joined_{kind.__name__}"
        joined = [coded(network, f"{n}_{end}", scale, 7, kind) for end, scale in (("a", 0.5), ("b", 0.3), ("y", 0.4))]
        network.inputs |= {f"{n}_a": ((3, 37), kind), f"{n}_b": ((3, 21), kind)}
        network.nodes += [
            node("DequantizeLinear", f"{n}_a {joined[0]}", f"{n}_fa"),
            node("DequantizeLinear", f"{n}_b {joined[1]}", f"{n}_fb"),
            node("Concat", f"{n}_fa {n}_fb", f"{n}_fy", n, axis=1),
            node("QuantizeLinear", f"{n}_fy {joined[2]}", f"{n}_y"),
        ]
        network.outputs[f"{n}_y"] = kind
    return network


def test_sums_and_products_of_codes(tmp_path: Path) -> None:
    taken = kernels(check_network(pairs(), BOARD, tmp_path, ("random", "low", "high")))
    assert {kernel for name, kernel in taken.items() if "_plain_" in name} <= {"PairVector", "RealVector"}
    assert {kernel for name, kernel in taken.items() if "_even_" in name or "_odd_" in name} == {"PairVector"}
    assert {kernel for name, kernel in taken.items() if "joined_" in name} == {"CopyVector"}


FUNCTIONS = ("Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "Elu", "Selu", "Softplus")


def floats() -> Network:
    """Functions of floats whose operands lie alike or stand still along a strip, on either side."""
    network = Network(np.random.default_rng(4))
    shapes = {"x": (3, 4, 37), "v": (37,), "u": (4, 1)}
    for name, shape in shapes.items():
        network.inputs[name] = (shape, np.float32)
    for op in ("Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu"):
        for other in ("v", "u", "x"):
            n = f"{op}_{other}"
            network.nodes.append(node(op, f"x {other}", n, n))
            network.outputs[n] = np.float32
    for op, other in (("Sub", "v"), ("Div", "u"), ("Max", "u")):
        n = f"{op}_of_{other}"
        network.nodes.append(node(op, f"{other} x", n, n))
        network.outputs[n] = np.float32
    for op in ("Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Neg", "Abs", "Reciprocal"):
        network.nodes.append(node(op, "x", f"{op}_y", op))
        network.outputs[f"{op}_y"] = np.float32
    return network


def test_functions_of_floats(tmp_path: Path) -> None:
    taken = kernels(check_network(floats(), BOARD, tmp_path))
    assert {kernel for name, kernel in taken.items() if "copy" not in name} == {"FloatVector"}


def functions() -> Network:
    """Functions of one exponential, of operands far from zero too."""
    network = Network(np.random.default_rng(6))
    network.inputs["x"] = ((3, 5, 37), np.float32)
    network.constant("far", np.array(25, np.float32))
    network.nodes.append(node("Mul", "x far", "wide", "wide"))
    for op in FUNCTIONS:
        for operand in ("x", "wide") if op != "Exp" else ("x",):
            network.nodes.append(node(op, operand, f"{op}_{operand}", f"{op}_{operand}"))
            network.outputs[f"{op}_{operand}"] = np.float32
    return network


def test_functions_of_one_exponential(tmp_path: Path) -> None:
    taken = kernels(check_network(functions(), BOARD, tmp_path))
    assert {kernel for name, kernel in taken.items() if name.split("_")[0] in FUNCTIONS} == {"FunctionsVectorF32"}


def moves(kind: type) -> Network:
    """Moves along every axis, with runs of one element, edges on either side and nearest neighbours."""
    network = Network(np.random.default_rng(5))
    constants = {"from": [1, 2], "to": [4, 13], "axes": [1, 2], "parts": [1, 3, 7], "first": [3], "last": [-1],
                 "across": [2], "edges": [0, 0, 1, 2, 0, 1, 3, 0]}  # fmt: skip
    for name, values in constants.items():
        network.constant(name, np.array(values))
    network.constant("twice", np.array([1, 1, 2, 3], np.float32))
    shapes = {"x": (1, 4, 13, 3), "v": (1, 4, 13, 1), "w": (5, 11, 9)}
    network.inputs |= {name: (shape, kind) for name, shape in shapes.items()}
    nodes = [
        node("Slice", "x from to axes", "a", "a"), node("Concat", "x v x", "b", "b", axis=3),
        node("Concat", "x x", "c", "c", axis=1), node("Split", "w parts", "d e f", "d", axis=1),
        node("DepthToSpace", "x", "g", "g", blocksize=2), node("Slice", "x first last across", "h", "h"),
        node("Transpose", "w", "i", "i", perm=[1, 0, 2]), node("Pad", "x edges", "j", "j"),
        node("Resize", "x - twice", "k", "k", mode="nearest"), node("Transpose", "w", "l", "l", perm=[2, 0, 1]),
    ]  # fmt: skip
    network.nodes += nodes
    network.outputs |= dict.fromkeys("abcdefghijkl", kind)
    return network


def test_moves_of_bytes_and_words(tmp_path: Path) -> None:
    for kind in (np.int8, np.float32):
        folder = tmp_path / kind.__name__
        folder.mkdir()
        taken = set(kernels(check_network(moves(kind), BOARD, folder)).values())
        assert {"CopyVector", "RelayoutVector"} >= taken, taken


LINES = {
    "few": ((7, 16), 1), "long": ((2, 100), 1), "many": ((40, 9), 1), "apart": ((3, 33, 17), 1), "one": ((5, 1), 1),
    "whole": ((2, 64), 1),
}  # fmt: skip
TIED = {"few": 1 / 8, "whole": 1 / 32}
"""Steps of results of which equal shares are half a step."""


def lines() -> Network:
    """Lines of floats that registers hold and that they do not, of which there are few or many, that lie apart; and of
    codes, with shares whose codes tie."""
    network = Network(np.random.default_rng(8))
    for name, (shape, axis) in LINES.items():
        network.inputs |= {f"{name}_x": (shape, np.float32), f"{name}_c": (shape, np.int8)}
        for op in ("Softmax", "LogSoftmax"):
            network.nodes.append(node(op, f"{name}_x", f"{op}_{name}", f"{op}_{name}", axis=axis))
            network.outputs[f"{op}_{name}"] = np.float32
        ends = coded(network, f"{name}_s", 0.01, 3), coded(network, f"{name}_y", TIED.get(name, 1 / 512), -128)
        network.nodes += [
            node("DequantizeLinear", f"{name}_c {ends[0]}", f"{name}_f"),
            node("Softmax", f"{name}_f", f"{name}_g", f"Codes_{name}", axis=axis),
            node("QuantizeLinear", f"{name}_g {ends[1]}", f"{name}_codes"),
        ]
        network.outputs[f"{name}_codes"] = np.int8
    return network


def test_lines_of_floats_and_codes(tmp_path: Path) -> None:
    taken = kernels(check_network(lines(), BOARD, tmp_path, ("random", "low", "high", "random")))
    assert {kernel for name, kernel in taken.items() if "Softmax" in name} == {"SoftmaxVectorF32"}
    assert {kernel for name, kernel in taken.items() if "Codes" in name} == {"SoftmaxVectorI8"}


def norms() -> Network:
    """Norms of floats and codes of eight and sixteen bits: whole turns and not, factors of elements and of runs."""
    network = Network(np.random.default_rng(9), opset=23)
    for kind, step, zero in ((np.float32, 0.0, 0), (np.int8, 0.05, 3), (np.uint8, 0.05, 120), (np.int16, 1e-4, 0)):
        for length in (5, 37):
            for op, parts in (("Layer", 0), ("RMS", 0), ("Instance", 3), ("Group", 4)):
                n = f"{op}_{kind.__name__}_{length}"
                attributes: dict[str, Any] = {"num_groups": 2} if op == "Group" else {}
                network.inputs[f"{n}_x"] = ((2, parts or 3, length), kind)
                scales = network.generator.uniform(0.2, 1.5, (parts or length, 2)).astype(np.float32)
                names = network.constant(f"{n}_w", scales[:, 0])
                if op != "RMS":
                    names += " " + network.constant(f"{n}_b", scales[:, 1])
                whole = f"{n}_x" if kind is np.float32 else f"{n}_f"
                network.nodes.append(node(f"{op}Normalization", f"{whole} {names}", f"{n}_g", n, **attributes))
                network.outputs[f"{n}_g" if kind is np.float32 else f"{n}_y"] = kind
                if kind is np.float32:
                    continue
                s, z = network.constant(f"{n}_s", np.float32(step)), network.constant(f"{n}_z", kind(zero))
                network.nodes.insert(-1, node("DequantizeLinear", f"{n}_x {s} {z}", f"{n}_f"))
                network.nodes.append(node("QuantizeLinear", f"{n}_g {s} {z}", f"{n}_y"))
    return network


def test_norms_of_floats_and_codes(tmp_path: Path) -> None:
    taken = kernels(check_network(norms(), BOARD, tmp_path, ("random", "low", "high", "random")))
    assert {kernel for name, kernel in taken.items() if "_float32_" in name} == {"NormVectorF32"}
    assert {kernel for name, kernel in taken.items() if "int" in name} == {"NormalisedVectorI8"}


def images() -> Network:
    """Images of floats and codes that grow along rows and columns: codes of sums that tie, and of another scale."""
    network = Network(np.random.default_rng(10))
    for channels in (3, 16, 37):
        for kind, scale in ((np.float32, 0.0), (np.int8, 0.05), (np.int8, 0.0713), (np.uint8, 0.05)):
            for down, across in ((2, 2), (4, 2)):
                n = f"{kind.__name__}_{channels}_{down}_{int(1e4 * scale)}"
                network.inputs[f"{n}_x"] = ((2, channels, 3, 4), kind)
                network.constant(f"{n}_k", np.array([1, 1, down, across], np.float32))
                whole, made = (f"{n}_x", f"{n}_y") if kind is np.float32 else (f"{n}_f", f"{n}_g")
                if kind is not np.float32:
                    s, t = network.constant(f"{n}_s", np.float32(0.05)), network.constant(f"{n}_t", np.float32(scale))
                    z = network.constant(f"{n}_z", kind(7))
                    network.nodes.append(node("DequantizeLinear", f"{n}_x {s} {z}", whole))
                network.nodes.append(node("Resize", f"{whole} - {n}_k", made, n, mode="linear"))
                if kind is not np.float32:
                    network.nodes.append(node("QuantizeLinear", f"{made} {t} {z}", f"{n}_y"))
                network.outputs[f"{n}_y"] = kind
    return network


def test_images_of_floats_and_codes(tmp_path: Path) -> None:
    taken = kernels(check_network(images(), BOARD, tmp_path, ("random", "low", "high", "random")))
    assert set(taken.values()) == {"ResizeVectorF32", "ResizeVectorI8", "RelayoutVector"}
