"""What changed between two reports: layer by layer and level by level."""

from __future__ import annotations

import argparse

from tilewright.commands.answer import Answer
from tilewright.commands.common import path
from tilewright.commands.pages import add_html
from tilewright.commands.streams import terminal_width

SUMMARY = "what changed, layer by layer and level by level"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two reports, what may grow, and where the difference goes."""
    parser.add_argument("old", metavar="OLD.json", type=path, help="the earlier report, or its folder")
    parser.add_argument("new", metavar="NEW.json", type=path, help="the later report, or its folder")
    parser.add_argument(
        "--fail-on",
        metavar="NAME=+P%,...",
        help="exit 4 where a figure grows by more, e.g. ram=+2%%,cycles=+5%%,flash=+512: a level's bytes, the figures "
        "of the run, or 'macs'",
    )
    parser.add_argument("--markdown", action="store_true", help="print tables for a pull request")
    add_html(parser)


def execute(arguments: argparse.Namespace) -> Answer:
    """Compare the two; no difference is an answer too. A figure that grew beyond its limit ends with exit code 4."""
    from tilewright.output.staged import write_text
    from tilewright.report.build import load
    from tilewright.report.diff import difference, render
    from tilewright.report.growth import grown, parse_limits
    from tilewright.report.markdown import difference_markdown

    limits = parse_limits(arguments.fail_on) if arguments.fail_on is not None else {}
    old, new = load(arguments.old), load(arguments.new)
    changes = difference(old, new)
    if arguments.html is not None:
        from tilewright.report.page.render import render_difference

        write_text(arguments.html, render_difference(old, new))
    text = difference_markdown(old, new, changes) if arguments.markdown else render(changes, terminal_width())
    return Answer(text, changes.to_json(), grown(old, new, limits))
