"""Convolutions of several groups, for the kernels of boards."""

from __future__ import annotations

from board_layers import Layer

GROUPED = (
    Layer("groups", (1, 24, 7, 6), (20, 12, 3, 3), x_zero=5, attributes={"pads": [1, 1, 1, 1], "group": 2}),
    Layer(
        "groups_small", (1, 15, 5, 5), (20, 3, 3, 3), attributes={"pads": [1, 0, 1, 2], "strides": [2, 1], "group": 5}
    ),
    Layer("groups_point", (1, 40, 3, 5), (8, 20, 1, 1), x_zero=-3, y_zero=9, attributes={"group": 2}),
    Layer("groups_line", (1, 18, 19), (12, 6, 3), attributes={"pads": [4, 0], "dilations": [2], "group": 3}),
    Layer("groups_few", (1, 34, 1, 3), (12, 17, 1, 2), attributes={"pads": [0, 1, 0, 0], "group": 2}),
    Layer("groups_dead", (1, 16, 5, 3), (24, 8, 1, 1), weights="dead", x_zero=4, attributes={"group": 2}),
    Layer("groups_heavy", (1, 96, 4, 4), (8, 48, 3, 3), weights="-128", attributes={"pads": [1, 1, 1, 1], "group": 2}),
)
GROUPS_OVER_OPERAND = Layer("over", (1, 24, 12, 12), (24, 12, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 2})
"""Alone in a network: its result lies as far over its operand as the kernel allows."""
