"""Write a TensorFlow Lite network as standard ONNX, with QuantizeLinear and DequantizeLinear where it is quantised."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import existing, path

if TYPE_CHECKING:
    from tilewright.report.codec import Json

SUMMARY = "write a TensorFlow Lite network as ONNX"
SCHEMA = "tilewright/convert/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL and the file."""
    parser.add_argument("model", metavar="MODEL", type=path, help="the network, a .tflite file")
    parser.add_argument("-o", "--output", metavar="FILE.onnx", type=path, required=True, help="the file to write")


def execute(arguments: argparse.Namespace) -> Answer:
    """Read the network, let the frontend check all of it, write the message."""
    from tilewright.errors import UsageError
    from tilewright.frontend.load import load
    from tilewright.frontend.read import read
    from tilewright.output.staged import write_bytes

    output: Path = arguments.output
    if output.suffix != ".onnx":
        raise UsageError(
            f"-o {output}", why="the name of an ONNX file ends in .onnx", fix=f"write {output.with_suffix('.onnx')}"
        )
    existing(arguments.model)
    if arguments.model.suffix == ".onnx":
        raise UsageError(
            f"'{arguments.model}' is an ONNX file already", why="there is nothing to convert", fix="pass a .tflite file"
        )
    source = read(arguments.model)
    network = load(arguments.model)
    states: list[Json] = [[state.in_file[0], state.in_file[1]] for state in network.states]
    write_bytes(output, source.proto.SerializeToString(deterministic=True))
    text = f"{len(source.proto.graph.node)} nodes, {len(states)} states\nwritten to {output}"
    return Answer(
        text,
        {
            "schema": SCHEMA,
            "file": str(output),
            "nodes": len(source.proto.graph.node),
            "inputs": list(network.given),
            "outputs": list(network.results),
            "states": states,
        },
    )
