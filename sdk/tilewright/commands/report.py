"""Render a report: as text, and as one HTML page or as CSV files where asked."""

from __future__ import annotations

import argparse

from tilewright.commands.answer import Answer
from tilewright.commands.common import add_force, existing, path
from tilewright.commands.pages import add_html
from tilewright.commands.streams import terminal_width
from tilewright.errors import UsageError

SUMMARY = "render a report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The report and where its renderings go."""
    parser.add_argument("report", metavar="DIR|report.json", type=path, help="a report, or a folder that holds one")
    add_html(parser)
    parser.add_argument("--onnx", metavar="FILE", type=path, help="write the --model with what each node became")
    parser.add_argument("--model", metavar="MODEL", type=path, help="the ONNX file that the report is of")
    parser.add_argument("--csv", metavar="DIR", type=path, help="write summary.csv, layers.csv and memory.csv there")
    add_force(parser)


def execute(arguments: argparse.Namespace) -> Answer:
    """Read the report, write what was asked, and give the text."""
    from tilewright.output.staged import staged, write_bytes, write_text
    from tilewright.output.written import protection
    from tilewright.report import csv_format, terminal
    from tilewright.report.build import load
    from tilewright.report.page.render import render_page

    if (arguments.onnx is None) != (arguments.model is None):
        raise UsageError(
            "--onnx and --model", why="one says where to, the other says what is annotated", fix="pass both of them"
        )
    existing(arguments.model)
    report = load(arguments.report)
    if arguments.onnx is not None:
        from tilewright.report.annotate import annotate

        write_bytes(arguments.onnx, annotate(report, arguments.model))
    if arguments.html is not None:
        write_text(arguments.html, render_page(report))
    if arguments.csv is not None:
        guard = protection(arguments.csv, force=arguments.force, recognised=csv_format.is_table)
        with staged(arguments.csv, guard) as folder:
            for name, content in csv_format.files(report).items():
                (folder / name).write_text(content, encoding="utf-8", newline="")
    return Answer(terminal.render(report, terminal_width()), report.to_json())
