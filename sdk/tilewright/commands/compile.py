"""Write the network as a folder of C, with report.json beside it. Nothing is written where anything goes wrong."""

from __future__ import annotations

import argparse
from dataclasses import replace

from tilewright.commands.answer import Answer
from tilewright.commands.bundling import add_bundle, bundle_wish, compile_together
from tilewright.commands.common import (
    add_compilation,
    add_force,
    compile_options,
    explanation,
    path,
    target_for,
    tell,
)
from tilewright.commands.progress import stages, watched
from tilewright.commands.streams import terminal_width
from tilewright.errors import UsageError

SUMMARY = "write the C project and report.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MODEL, target, output folder and the compilation options."""
    add_compilation(parser, several=True)
    add_bundle(parser)
    parser.add_argument("-t", "--target", metavar="TARGET", required=True, help="a target's name or folder")
    parser.add_argument("-o", "--output", metavar="DIR", type=path, required=True, help="folder for the C project")
    add_force(parser)
    parser.add_argument(
        "--project",
        metavar="A,B",
        help="build files and examples: cmake, make, zephyr, arduino, platformio, esp-idf, cmsis-pack, all; "
        "and monitor, which answers 'run --port' on a board",
    )
    parser.add_argument("--write-decisions", metavar="FILE", type=path, help="what was chosen, for --decisions")
    parser.add_argument("--explain", action="store_true", help="for each node every kernel that was tried, and why not")
    parser.add_argument("--measure", action="store_true", help="build the code to measure its size and stack")


def execute(arguments: argparse.Namespace) -> Answer:
    """Compile, check that it fits, and write."""
    if (wish := bundle_wish(arguments)) is not None:
        return compile_together(arguments, wish)
    if len(arguments.models) > 1:
        raise UsageError(
            "compile takes one network", why=f"{len(arguments.models)} are named",
            fix="pass --bundle NAME to put them into one image",
        )  # fmt: skip
    from tilewright.compile import write
    from tilewright.fitting import fitted
    from tilewright.output.staged import staged, write_files
    from tilewright.output.written import hashes, listed, protection
    from tilewright.project.cmsis_pack import write_pack
    from tilewright.project.ecosystems import CMSIS_PACK, fitting, parse_ecosystems, project_files
    from tilewright.report.build import dumps
    from tilewright.report.header import header
    from tilewright.report.text import memory_table

    if arguments.project is not None:
        parse_ecosystems(arguments.project)
    options = compile_options(arguments, measure=arguments.measure)
    target = target_for(arguments.target, options)
    with stages(arguments.quiet) as stage:
        answer_of = fitted(arguments.models[0], options, target, pipeline=watched(stage))
    compiled = answer_of.compiled
    tell(compiled.model.notes)
    if answer_of.error is not None:
        raise answer_of.error
    library, ecosystems = None, tuple[str, ...]()
    if arguments.project is not None:
        from tilewright.project.library import describe

        library = describe(compiled)
        ecosystems = fitting(library, arguments.project)
    packed = project_files(library, ecosystems) if library else {}
    with staged(arguments.output, protection(arguments.output, force=arguments.force)) as folder:
        report = replace(answer_of.report, tool=write(compiled, folder).report.tool)
        write_files(packed, folder)
        if library is not None and CMSIS_PACK in ecosystems:
            write_pack(library, folder)
        report = replace(report, files={**listed(arguments.output), **hashes(folder)})
        (folder / "report.json").write_text(dumps(report.to_json()), encoding="utf-8")
    if arguments.write_decisions is not None:
        from tilewright.schedule.decisions_file import write_decisions

        chosen, platform = compiled.decisions, compiled.request.platform.name
        write_decisions(chosen, compiled.loaded.sha256, platform, arguments.write_decisions)
    parts = [explanation(compiled, options)] if arguments.explain else []
    parts += [header(report), memory_table(report, terminal_width()), f"written to {arguments.output}"]
    return Answer("\n\n".join(parts), report.to_json())
