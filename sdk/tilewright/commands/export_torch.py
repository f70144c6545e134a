"""Write the network as a standalone PyTorch module, one readable line per node, with its weights beside it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tilewright.commands.answer import Answer
from tilewright.commands.common import PASSES, existing, path, shape_pairs

SUMMARY = "write a readable PyTorch mirror"
SCHEMA = "tilewright/export-torch/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, the file, and how the module is written."""
    parser.add_argument("model", metavar="MODEL", type=path, help="the network, an ONNX file")
    parser.add_argument("-o", "--output", metavar="FILE.py", type=path, required=True, help="the module to write")
    parser.add_argument("-t", "--target", metavar="TARGET", default="host", help="whose bound graph; default: host")
    parser.add_argument("--shape", metavar="INPUT=1,3,96,96", action="append", default=[], help="shape of an input")
    parser.add_argument(
        "--without-pass", metavar="NAME", action="append", default=[], help=f"leave a pass out: {PASSES}"
    )
    parser.add_argument("--class-name", metavar="NAME", default="", help="name of the class; default: the network's")
    parser.add_argument("--dtype", metavar="EXPR", default="torch.float32", help="type of real numbers")
    parser.add_argument("--no-training", action="store_true", help="leave the training skeleton out")
    parser.add_argument("--no-parameters", action="store_true", help="hold every constant as a buffer")
    parser.add_argument("--no-compression", action="store_true", help="hold equal rows in full")


def execute(arguments: argparse.Namespace) -> Answer:
    """Bind, write the source, and the weights where there are any that do not stand in the source."""
    from tilewright.errors import UsageError
    from tilewright.export.mirror import bound_graph
    from tilewright.export.pytorch import PyTorchOptions, emit
    from tilewright.output.staged import write_bytes, write_text

    output: Path = arguments.output
    if output.suffix != ".py":
        raise UsageError(
            f"-o {output}", why="the name of a Python module ends in .py", fix=f"write {output.with_suffix('.py')}"
        )
    existing(arguments.model)
    options = PyTorchOptions(
        class_name=arguments.class_name,
        dtype_expr=arguments.dtype,
        include_training_skeleton=not arguments.no_training,
        learnable_consts=not arguments.no_parameters,
        compress_broadcast_params=not arguments.no_compression,
    )
    graph = bound_graph(
        arguments.model,
        target=arguments.target,
        shapes=shape_pairs(arguments.shape),
        without_passes=arguments.without_pass,
    )
    weights = output.with_suffix(".safetensors")
    module = emit(graph, options, weights_name=weights.name)
    if module.weights:
        write_bytes(weights, module.weights_file())
    write_text(output, module.source)
    written = [str(output), *([str(weights)] if module.weights else [])]
    kinds = [binding.kind.value for binding in module.constants]
    text = f"class {module.class_name}, {len(graph.nodes)} nodes, {len(kinds)} constants\nwritten to "
    return Answer(
        text + " and ".join(written),
        {
            "schema": SCHEMA,
            "class": module.class_name,
            "nodes": len(graph.nodes),
            "files": list(written),
            "constants": [
                {"name": b.name, "attribute": b.attribute, "kind": b.kind.value, "shape": list(b.tensor.shape)}
                for b in module.constants
            ],
        },
    )
