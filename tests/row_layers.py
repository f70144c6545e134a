"""Convolutions with few pixels of result: windows that are one run of bytes of the operand or are not."""

from board_layers import Layer

ROWS = (
    Layer("row_point", (1, 20, 1, 1), (8, 20, 1, 1), x_zero=3),
    Layer("row_line", (1, 12, 5), (16, 12, 5)),
    Layer("row_part", (1, 8, 1, 4), (8, 8, 1, 3), y_zero=9, attributes={"strides": [1, 2]}),
    Layer("row_rows", (1, 4, 5, 3), (8, 4, 2, 3), attributes={"strides": [4, 1]}),
    Layer("row_dead", (1, 16, 1, 1), (24, 16, 1, 1), weights="dead", x_zero=4),
    Layer("row_long", (1, 136, 1, 1), (8, 136, 1, 1), y_zero=-7),
)
"""One pixel, whose window is a run of bytes."""
NO_ROWS: tuple[tuple[Layer, str], ...] = (
    (Layer("pixels", (1, 8, 1, 2), (8, 8, 1, 1)), "the result has several pixels"),
    (Layer("padded", (1, 8, 2, 2), (8, 8, 3, 3), attributes={"pads": [1, 1, 0, 0]}), "the window is padded"),
    (Layer("behind", (1, 8, 2, 2), (8, 8, 3, 3), attributes={"pads": [0, 0, 1, 1]}), "the window is padded"),
    (
        Layer("apart", (1, 8, 1, 3), (8, 8, 1, 2), attributes={"dilations": [1, 2]}),
        "the window is not one run of bytes",
    ),
    (Layer("cut", (1, 8, 2, 3), (8, 8, 2, 2), attributes={"strides": [1, 2]}), "the window is not one run of bytes"),
    (Layer("few", (1, 8, 1, 1), (6, 8, 1, 1)), "inputs go by fours and channels by 8"),
    (Layer("rgb_one", (1, 3, 1, 1), (8, 3, 1, 1)), "inputs go by fours and channels by 8"),
    (
        Layer("heavy_one", (1, 640, 1, 1), (8, 640, 1, 1), weights="-127"),
        "its codes are limited, or two channels have no pair",
    ),
    (Layer("unsigned_one", (1, 8, 1, 1), (8, 8, 1, 1), unsigned=True), "the row takes signed codes"),
)
DEAD = (
    Layer("dead_two", (1, 16, 1, 2), (23, 16, 1, 1), weights="dead", x_zero=4),
    Layer("dead_three", (1, 16, 1, 3), (23, 16, 1, 1), weights="dead", x_zero=4),
)
"""Constant channels of few pixels."""
