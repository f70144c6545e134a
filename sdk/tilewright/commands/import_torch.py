"""Bring weights that an exported PyTorch module was trained to back into the ONNX model."""

from __future__ import annotations

import argparse

from tilewright.commands.answer import Answer
from tilewright.commands.common import PASSES, existing, path, shape_pairs

SUMMARY = "bring trained weights back into the model"
SCHEMA = "tilewright/import-torch/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, the weights, the file to write, and the options that the module was exported with."""
    parser.add_argument("model", metavar="MODEL", type=path, help="the network that the module was exported from")
    parser.add_argument("weights", metavar="WEIGHTS.safetensors", type=path, help="what `save_weights` wrote")
    parser.add_argument("-o", "--output", metavar="NEW.onnx", type=path, required=True, help="the model to write")
    parser.add_argument("-t", "--target", metavar="TARGET", default="host", help=f"as in export-torch: {PASSES}")
    parser.add_argument("--shape", metavar="INPUT=1,3,96,96", action="append", default=[], help="as in export-torch")
    parser.add_argument("--without-pass", metavar="NAME", action="append", default=[], help="as in export-torch")


def execute(arguments: argparse.Namespace) -> Answer:
    """Read both, put the weights in place, check the model by loading it, write."""
    from tilewright.export.mirror import bound_graph, return_weights, sha256_of
    from tilewright.output.staged import write_bytes
    from tilewright.safetensors import loads

    existing(arguments.model)
    existing(arguments.weights)
    weights = loads(arguments.weights.read_bytes(), str(arguments.weights))
    graph = bound_graph(
        arguments.model,
        target=arguments.target,
        shapes=shape_pairs(arguments.shape),
        without_passes=arguments.without_pass,
    )
    data = return_weights(arguments.model, weights, graph)
    write_bytes(arguments.output, data)
    digest = sha256_of(data)
    return Answer(
        f"written to {arguments.output}, sha256 {digest}",
        {"schema": SCHEMA, "file": str(arguments.output), "sha256": digest},
    )
