"""Drawn layers of floats and of codes are clean under every warning of each target's compiler, with its own flags."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
import tilewright
from board_layers import board_or_skip
from drawn_floats import Drawn, float_layers
from graphs import node, onnx_model
from integers.random_networks import random_network

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")
CODES = 6
"""Networks of codes that are drawn."""
BOARDS = ("qemu_mps2_an386", "qemu_mps3_an547", "qemu_rv32imc", "qemu_rv32gcv", "qemu_pulp")


def lines_of_floats() -> onnx.ModelProto:
    """Images of one row or column, one channel, one result; norms whose width is and is not a multiple of eight."""
    drawn = Drawn(3)
    shapes = ((1, 12), (12, 1), (1, 1))
    for at, (height, width) in enumerate(shapes):
        for channels, results, group in ((3, 5, 1), (8, 16, 1), (1, 16, 1), (8, 8, 8)):
            name = f"{at}_{channels}_{results}_{group}"
            kernel = [1 if height == 1 else 3, 1 if width == 1 else 3]
            for padded in (0, 1):
                drawn.inputs[f"x{name}_{padded}"] = [1, channels, height, width]
                weights = drawn.floats(f"w{name}_{padded}", results, channels // group, *kernel)
                pads = [padded * (size // 2) for size in kernel] * 2
                drawn.nodes.append(
                    node("Conv", f"x{name}_{padded} {weights}", f"y{name}_{padded}", group=group, pads=pads)
                )
    for width in (16, 19):
        drawn.inputs[f"n{width}"] = [4, width]
        scales = f"{drawn.floats(f's{width}', width)} {drawn.floats(f'o{width}', width)}"
        drawn.nodes.append(node("LayerNormalization", f"n{width} {scales}", f"norm{width}"))
        drawn.nodes.append(node("Softmax", f"norm{width}", f"shares{width}"))
        drawn.nodes.append(node("LogSoftmax", f"norm{width}", f"logs{width}"))
        drawn.inputs[f"v{width}"] = [2, width, 1]
        drawn.inputs[f"m{width}"] = [2, 5, width]
        drawn.nodes.append(node("MatMul", f"m{width} v{width}", f"column{width}"))
    drawn.inputs["t"] = [1, 5, 40]
    drawn.nodes.append(node("Softmax", "t", "across", axis=1))
    read = {name for each in drawn.nodes for name in each.input}
    outputs = [name for each in drawn.nodes for name in each.output if name not in read]
    return onnx_model(drawn.nodes, drawn.inputs, outputs, drawn.constants, opset=20)


def networks() -> Iterator[tuple[str, onnx.ModelProto]]:
    """The lines, drawn layers of floats, and drawn networks of codes."""
    yield "lines", lines_of_floats()
    yield "floats", float_layers(1)
    for seed in range(CODES):
        yield f"codes{seed}", random_network(seed, 12)


@pytest.mark.parametrize("board", BOARDS)
def test_drawn_layers_are_clean_with_the_flags_of_their_target(board: str, tmp_path: Path) -> None:
    board_or_skip(board)
    target = tilewright.load_target(board)
    flags = [*target.library_flags, "-std=c99", *target.cpu_flags, *target.compile_flags, *WARNINGS]
    for name, model in networks():
        onnx.save(model, tmp_path / f"{name}.onnx")
        options = tilewright.CompileOptions(allocator="greedy")
        done = tilewright.compile_model(tmp_path / f"{name}.onnx", options, target)
        folder = tmp_path / name
        folder.mkdir()
        tilewright.write(done, folder)
        command: list[str | Path] = [target.compilers[0], *flags, "-c", folder / "src" / f"{name}.c"]
        found = subprocess.run([*command, "-o", folder / "code.o"], capture_output=True, text=True)
        assert found.returncode == 0, found.stderr[:2000]
