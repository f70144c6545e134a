"""Prints the tables of `ci/benchmarks`: every module there has a `TITLE` and a function `table()`.

bash ci/bench                      all tables
bash ci/bench compile_time         one of them
bash ci/bench figures:m4,m55       parts of one that has parts
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "benchmarks"


def text(rows: list[tuple[str, ...]]) -> str:
    """Columns of equal width; the first row is the heading."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def main(names: list[str]) -> int:
    """Print the tables; 2 for a name that there is none of."""
    known = sorted(path.stem for path in FOLDER.glob("*.py") if "def table(" in path.read_text())
    unknown = [name for name in names if name.partition(":")[0] not in known]
    if unknown:
        print(f"no table is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for word in names or known:
        name, _, parts = word.partition(":")
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n== {module.TITLE}", flush=True)
        print(text(module.table(*filter(None, parts.split(",")))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
