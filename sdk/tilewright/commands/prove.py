"""Prove that the machine code of integer layers computes what their operators mean, for all inputs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_compilation, compile_options, target_for
from tilewright.commands.comparing import project_folder
from tilewright.commands.progress import stages, watched
from tilewright.commands.streams import terminal_width
from tilewright.errors import MismatchError

if TYPE_CHECKING:
    from tilewright.prove.result import LayerProof, NetworkProof

SUMMARY = "integer layers' machine code against their operators, for all inputs"
SCHEMA = "tilewright/prove/1"
MILLION = 1_000_000
FIRST_CODES = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model, the target, the compilation options, and which layers."""
    add_compilation(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="target's name or folder")
    group = parser.add_argument_group("proof")
    group.add_argument("--layers", metavar="NAME,...", default="", help="only these; the others are run, not compared")
    group.add_argument(
        "--blocks", metavar="N", type=_blocks, default=40 * MILLION, help="blocks of machine code that may run"
    )


def _blocks(text: str) -> int:
    """A number of blocks, from 1 on."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def execute(arguments: argparse.Namespace) -> Answer:
    """One row per layer; exit 5 where one is wrong for some input."""
    from tilewright.compile import write
    from tilewright.fitting import answered
    from tilewright.prove.model import prove_project
    from tilewright.report.codec import to_plain

    options = compile_options(arguments)
    target = target_for(arguments.target, options)
    layers = [name.strip() for name in arguments.layers.split(",") if name.strip()]
    with stages(arguments.quiet) as stage:
        compiled, _ = answered(arguments.model, options, target, watched(stage))
        stage("proving")
        with project_folder(None, False) as folder:
            proof = prove_project(write(compiled, folder), target, folder, layers, arguments.blocks)
    plain = to_plain(proof)
    assert isinstance(plain, dict)
    answer = Answer(_text(proof), {"schema": SCHEMA, **plain})
    if not proof.refuted:
        return answer
    wrong = proof.refuted[0]
    error = MismatchError(
        f"layer '{wrong.name}' of '{proof.model}' is wrong on '{proof.target}'", why=wrong.why,
        fix="the codes of its operands stand under 'counterexample' in --json", node=wrong.name,
    )  # fmt: skip
    return Answer(answer.text, answer.json, error)


def _text(proof: NetworkProof) -> str:
    from tilewright.report.text import printable, table

    cells = [
        [row.name, row.op, row.kernel, row.verdict, *(str(n) if n else "-" for n in (row.elements, row.functions))]
        for row in proof.layers
    ]  # fmt: skip
    heads = ["layer", "operator", "kernel", "verdict", "elements", "functions"]
    lines = [table(heads, cells, right=[4, 5], width=terminal_width()), ""]
    lines += [printable(f"{row.name}: {row.why}", 2000) for row in proof.layers if row.why]
    for row in proof.layers:
        lines += _example(row)
    lines.append(
        f"{proof.proved} of {len(proof.layers)} layers proved for all inputs; {proof.blocks} blocks of machine code, "
        f"{proof.values} values gone through, {proof.asked} questions to the solver"
    )
    lines.append(printable(f"built with {proof.compiler}", 2000))
    lines += [f"assumed: {sentence}" for sentence in proof.assumptions]
    return "\n".join(lines)


def _example(row: LayerProof) -> list[str]:
    example = row.counterexample
    if example is None:
        return []
    lines = []
    for name, codes in example.operands.items():
        more = f", ... ({len(codes)} codes)" if len(codes) > FIRST_CODES else ""
        lines.append(f"  {name} = {', '.join(str(code) for code in codes[:FIRST_CODES])}{more}")
    if example.confirmed_by:
        lines.append(f"  run with these inputs, '{example.confirmed_by}' stores {example.stored} too")
    else:
        lines.append("  these are operands of the layer, not known to be reached by any input of the network")
    return lines
