"""What changed between two reports: layer by layer and level by level."""

from __future__ import annotations

import argparse

from tilewright.commands.answer import Answer
from tilewright.commands.common import path

SUMMARY = "what changed, layer by layer and level by level"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The two reports."""
    parser.add_argument("old", metavar="OLD.json", type=path, help="the earlier report, or its folder")
    parser.add_argument("new", metavar="NEW.json", type=path, help="the later report, or its folder")


def execute(arguments: argparse.Namespace) -> Answer:
    """Compare the two; no difference is an answer too, and exits 0 like any other."""
    from tilewright.report.build import load
    from tilewright.report.diff import difference, render

    found = difference(load(arguments.old), load(arguments.new))
    return Answer(render(found), found.to_json())
