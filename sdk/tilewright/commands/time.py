"""How many instructions one run takes at most and at least, over all inputs, by the machine code of the built image.

The image is built as `run` builds it. Its instructions run once in an abstract machine in which nothing of memory is
known but constants; a branch on data goes both ways. Modelled cycles follow the core's published table; they bound no
silicon.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, overflow, path, target_for, tell
from tilewright.commands.progress import stages, watched
from tilewright.commands.streams import terminal_width

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = "instructions of one run at most and at least, over all inputs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, the compilation options and what is written."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="a target's name or folder")
    parser.add_argument("--layers", action="store_true", help="bounds of every layer too, of an image with trace")
    parser.add_argument("--ff", metavar="FILE", type=path, help="loop bounds of the image for OTAWA")
    parser.add_argument("--ais", metavar="FILE", type=path, help="loop bounds of the image for aiT")
    parser.add_argument("--elf", metavar="FILE", type=path, help="keep the image that the bounds are of")


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile, build, bound, and write what is wanted."""
    from tilewright.commands.common import existing
    from tilewright.compile import compile_model
    from tilewright.run.pcode import require_lifter
    from tilewright.run.tool import require_tools
    from tilewright.timing.answer import as_json, as_text
    from tilewright.timing.lift import EXTRA
    from tilewright.timing.network import bound_network

    require_lifter(EXTRA)
    options, model = compile_options(arguments), arguments.model
    existing(model)
    target = target_for(arguments.target, options)
    require_tools(target)
    with stages(arguments.quiet) as stage:
        compiled = compile_model(model, options, target, pipeline=watched(stage))
        tell(compiled.model.notes)
        if (error := overflow(compiled.report, options.budgets, sure=True)) is not None:
            raise error
        stage("bounding instructions")
        wanted = arguments.ff is not None or arguments.ais is not None
        bounded = bound_network(compiled, target, layers=arguments.layers, loops=wanted, keep=arguments.elf)
    _write(arguments.ff, arguments.ais, bounded.flow_facts, bounded.annotations)
    return Answer(as_text(bounded, terminal_width()), as_json(bounded))


def _write(ff: Path | None, ais: Path | None, flow_facts: str, annotations: str) -> None:
    from tilewright.output.staged import write_text

    for file, text in ((ff, flow_facts), (ais, annotations)):
        if file is not None:
            write_text(file, text)
