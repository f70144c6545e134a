"""The league: every network of `ci/league_networks` on every target; writes docs/league.json and docs/league.md.

bash ci/league                                           every cell that the record lacks
bash ci/league --only resnet_int8,gru_float --targets qemu_mps2_an386    these, anew
bash ci/league --only unet --missing                     of names that hold a word, what the record lacks
bash ci/league --page                                    measures nothing: the page is written anew from the record
bash ci/league --list                                    the names
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from league_networks.catalogue import Ready, league, ready
from league_page import TARGETS, page
from league_record import Cell, Record, cell_of, read
from tilewright.compile import compile_model, run_model, write
from tilewright.errors import TilewrightError
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.blame import overflow
from tilewright.target import load_target, missing_tools

DOCS = Path(__file__).parents[1] / "docs"


def played(network: Ready, name: str) -> Cell:
    """Compile, build, run and compare every tensor of one network on one target; a refusal is a cell too."""
    target = load_target(name)
    options = CompileOptions(shapes=network.shapes, freeze=network.freeze, quantized_io=network.codes, measure=True)
    try:
        compiled = compile_model(network.path, options, target)
        if too_large := overflow(compiled.report, {}, sure=True):
            raise too_large
        with tempfile.TemporaryDirectory() as folder:
            write(compiled, Path(folder))
            running = RunOptions(inputs=None if network.codes else network.inputs, profile=True, layers=True)
            return cell_of(compiled, run_model(compiled, target, running, Path(folder)))
    except TilewrightError as error:
        return Cell(refused=" ".join(str(error).split())[:160].replace("|", "/"))


def save(record: Record, folder: Path) -> None:
    """Write the record and its page."""
    (folder / "league.json").write_text(record.text())
    (folder / "league.md").write_text(page(record))


def play(record: Record, names: list[str], targets: list[str], missing: bool) -> None:
    """Measure cell by cell; the record is written after each, so that a stopped run goes on where it was."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            cells = record.cells.get(name, {})
            wanted = [target for target in targets if not (missing and target in cells)]
            network = ready(name, Path(folder)) if wanted else None
            if wanted and network is None:
                print(f"{name}: not at hand", flush=True)
                continue
            for target in wanted:
                assert network is not None
                cell = played(network, target)
                record.put(name, target, cell)
                save(record, DOCS)
                print(f"{name} {target}: {cell.refused or f'{cell.count:,}'}", flush=True)


def chosen(names: list[str]) -> list[str]:
    """Networks with one of the words in their name; all for no word."""
    return [name for name in league() if not names or any(word in name for word in names)]


def main(arguments: list[str]) -> int:
    """Play what is asked for; 2 where no network has such a name, or no target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="words of networks' names, with commas")
    parser.add_argument("--targets", default=",".join(TARGETS), help="targets, with commas")
    parser.add_argument("--missing", action="store_true", help="only cells that the record lacks")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--list", action="store_true", help="print the names")
    options = parser.parse_args(arguments)
    names, targets = chosen(list(filter(None, options.only.split(",")))), options.targets.split(",")
    if not names or set(targets) - set(TARGETS):
        print(f"no network or target is called so; targets: {', '.join(TARGETS)}; networks: --list", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(names))
        return 0
    record = read(DOCS / "league.json")
    ready = [target for target in targets if not missing_tools(load_target(target))]
    for target in sorted(set(targets) - set(ready)):
        print(f"{target}: skipped, its tools are missing", flush=True)
    if not options.page:
        play(record, names, ready, options.missing or not options.only)
    save(record, DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
