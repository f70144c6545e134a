"""Float convolutions, matrix products and depthwise convolutions of many shapes, for the kernels of boards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from board_layers import CONVS, DENSE, DEPTHWISE, ODD_CONVS, ODD_DEPTHWISE, Layer, Network
from onnx import helper


def floats(layers: Sequence[Layer] = (*CONVS, *DENSE)) -> Network:
    """The layers with weights and operands of floats, with and without bias and activation."""
    network = Network(np.random.default_rng(11))
    for layer in layers:
        conv = len(layer.w) > 2
        if layer.weights != "random" or layer.unsigned:
            continue
        n = f"{'conv' if conv else 'dense'}_{layer.name}"
        network.inputs[f"{n}_x"] = (layer.x, np.float32)
        weights = network.generator.standard_normal(layer.w).astype(np.float32)
        names = [f"{n}_x", network.constant(f"{n}_w", weights)]
        attributes = dict(layer.attributes)
        if len(n) % 3:
            channels = layer.w[0] if conv else layer.w[1]
            names.append(network.constant(f"{n}_b", network.generator.standard_normal(channels).astype(np.float32)))
            attributes.update({} if conv else {"beta": 0.5, "alpha": 1.5})
        kind = ("Relu", "", "Clip", "")[len(n) % 4]
        network.nodes.append(
            helper.make_node("Conv" if conv else "Gemm", names, [f"{n}_r" if kind else f"{n}_y"], n, **attributes)
        )
        if kind:
            ends = [network.constant(f"{n}_{end}", np.float32(end)) for end in (-1.5, 2.5)] if kind == "Clip" else []
            network.nodes.append(helper.make_node(kind, [f"{n}_r", *ends], [f"{n}_y"]))
        network.outputs[f"{n}_y"] = np.float32
    return network


MORE_PRODUCTS = (
    Layer("groups", (1, 8, 5, 7), (8, 4, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 2}),
    Layer("groups_odd", (1, 9, 6, 5), (15, 3, 1, 3), attributes={"pads": [0, 2, 0, 1], "group": 3, "strides": [1, 2]}),
    Layer("groups_one", (1, 8, 1, 1), (24, 2, 1, 1), attributes={"group": 4}),
    Layer("one_pixel", (1, 10, 3, 3), (13, 10, 3, 3)),
    Layer("two_pixels", (1, 10, 3, 4), (20, 10, 3, 3)),
    Layer("two_padded", (1, 3, 2, 4), (17, 3, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    Layer("three_pixels", (1, 5, 3, 1), (3, 5, 1, 1)),
    Layer("two_of_a_line", (1, 12, 4), (31, 12, 3), attributes={"pads": [1, 1], "strides": [2]}),
    Layer("one_of_a_line", (1, 12, 3), (31, 12, 3), attributes={"strides": [2]}),
    Layer("strides", (1, 4, 11, 11), (6, 4, 1, 1), attributes={"strides": [3, 2]}),
    Layer("rows_odd", (9, 33), (33, 9)),
    Layer("rows_two", (2, 5), (5, 13)),
    Layer("rows_short", (3, 5), (5, 12)),
    Layer("row_short", (1, 3), (3, 4)),
    Layer("rows_narrow", (4, 4), (4, 1)),
    *ODD_CONVS,
)
PLANES = (
    Layer("same", (1, 3, 9, 13), (5, 3, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("halved", (1, 3, 16, 17), (8, 3, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    Layer("halved_wide", (1, 2, 20, 21), (4, 2, 7, 7), attributes={"pads": [3, 3, 3, 3], "strides": [2, 2]}),
    Layer("few", (1, 16, 7, 8), (3, 16, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("far_pads", (1, 4, 3, 6), (7, 4, 2, 5), attributes={"pads": [4, 6, 3, 5]}),
    Layer("dilated", (1, 5, 12, 11), (6, 5, 3, 3), attributes={"pads": [2, 3, 2, 3], "dilations": [2, 3]}),
    Layer("dilated_apart", (1, 5, 12, 19), (6, 5, 2, 3), attributes={"dilations": [3, 2], "strides": [3, 3]}),
    Layer("wide_window", (1, 3, 5, 40), (4, 3, 1, 29), attributes={"pads": [0, 2, 0, 0]}),
    Layer("wider_window", (1, 3, 5, 40), (4, 3, 1, 30)),
    Layer("of_a_line", (1, 6, 21), (9, 6, 5), attributes={"pads": [2, 2], "strides": [2]}),
    Layer("plain_line", (1, 6, 21), (9, 6, 4)),
    Layer("pointwise", (1, 10, 5, 3), (6, 10, 1, 1)),
    Layer("tall", (1, 4, 9, 3), (5, 4, 3, 2), attributes={"pads": [1, 1, 0, 0]}),
    Layer("rows_apart", (1, 4, 9, 11), (5, 4, 1, 1), attributes={"strides": [2, 2]}),
    *(layer for layer in MORE_PRODUCTS if len(layer.w) > 2 and "group" not in layer.attributes),
)
MORE_DEPTHWISE = (
    Layer("seven", (1, 8, 9, 9), (8, 1, 7, 7), attributes={"pads": [3, 3, 3, 3], "group": 8}),
    Layer("seven_stride", (1, 6, 10, 11), (6, 1, 7, 7), attributes={"pads": [3] * 4, "strides": [2, 2], "group": 6}),
    Layer("dilated", (1, 5, 9, 13), (5, 1, 3, 3), attributes={"pads": [2, 2, 2, 2], "dilations": [2, 2], "group": 5}),
    Layer("dilated_five", (1, 9, 15, 17), (9, 1, 5, 5), attributes={"pads": [4] * 4, "dilations": [2, 2], "group": 9}),
    Layer("dilated_line", (1, 12, 40), (12, 1, 7), attributes={"pads": [9, 9], "dilations": [3], "group": 12}),
    Layer("long", (1, 12, 40), (12, 1, 11), attributes={"pads": [5, 5], "group": 12}),
    Layer("long_stride", (1, 12, 40), (12, 1, 9), attributes={"pads": [4, 4], "strides": [2], "group": 12}),
    Layer("strides", (1, 7, 13, 14), (7, 1, 4, 5), attributes={"pads": [1, 2, 1, 2], "strides": [3, 3], "group": 7}),
    Layer("far", (1, 130, 5, 6), (130, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 130}),
    Layer("farther", (1, 1100, 3, 4), (1100, 1, 2, 3), attributes={"pads": [1, 1, 1, 1], "group": 1100}),
    Layer("wide_pads", (1, 4, 2, 2), (4, 1, 3, 3), attributes={"pads": [4, 4, 4, 4], "group": 4}),
    Layer("one_column", (1, 4, 8, 1), (4, 1, 3, 1), attributes={"pads": [1, 0, 1, 0], "group": 4}),
    Layer("apart", (1, 4, 12, 12), (4, 1, 3, 3),
          attributes={"pads": [1, 2, 3, 4], "dilations": [3, 4], "strides": [2, 3], "group": 4}),
    *ODD_DEPTHWISE,
)  # fmt: skip
FLOAT_DEPTHWISE = (*DEPTHWISE, *MORE_DEPTHWISE)
