"""`--port`: a real board in the place of a simulator, and `--flash`: what is run before."""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.commands.common import whole
from tilewright.errors import BoardError, ToolMissing, UsageError

if TYPE_CHECKING:
    from tilewright.run.simulator import Simulator

FLASH_SECONDS = 600


@dataclass(frozen=True)
class BoardWish:
    """The board's port and baud rate, the command that flashes it (empty: it is flashed), and how long one inference
    may take (None: what the target's simulator would be given)."""

    port: str
    baud: int
    flash: tuple[str, ...] = ()
    run_seconds: float | None = None


def add_board(parser: argparse.ArgumentParser) -> None:
    """`--port`, `--baud`, `--flash` and `--board-timeout`."""
    group = parser.add_argument_group("a real board, whose firmware holds the monitor of 'compile --project monitor'")
    group.add_argument("--port", metavar="PORT", help="where it is: /dev/ttyACM0, COM3 or tcp://HOST:PORT")
    group.add_argument("--baud", metavar="N", type=whole, help="the rate of a serial port (default: 115200)")
    group.add_argument("--flash", metavar='"CMD"', help="run this command before, for instance a flashing tool's")
    group.add_argument("--board-timeout", metavar="S", type=whole, help="seconds that one inference may take")


def board_wish(arguments: argparse.Namespace) -> BoardWish | None:
    """What the options say; None where no board is asked for."""
    if arguments.port is None:
        for option in ("baud", "flash", "board_timeout"):
            if getattr(arguments, option) is not None:
                raise UsageError(f"--{option.replace('_', '-')}", why="it applies to a board, and none is named",
                                 fix="also pass --port")  # fmt: skip
        return None
    if not arguments.port:
        raise UsageError("--port is empty", why="no board is named", fix="name a port such as /dev/ttyACM0")
    for option in ("baud", "board_timeout"):
        if getattr(arguments, option) == 0:
            raise UsageError(f"--{option.replace('_', '-')} 0", why="nothing would ever arrive", fix="use 1 or more")
    try:
        words = tuple(shlex.split(arguments.flash or ""))
    except ValueError as error:
        raise UsageError(f"--flash {arguments.flash}", why=f"its quotes are not closed: {error}",
                         fix="close them") from None  # fmt: skip
    return BoardWish(arguments.port, arguments.baud or 115200, words, arguments.board_timeout)


def refuse_others(arguments: argparse.Namespace, targets: Sequence[str]) -> None:
    """UsageError for what a board with one network in it cannot answer."""
    if arguments.bundle is not None:
        raise UsageError("--port with --bundle", why="a monitor serves one network", fix="run each network by itself")
    if len(targets) > 1 or len(arguments.models) > 1:
        raise UsageError("--port", why="a board holds one network, compiled for one target",
                         fix="name one model and one target")  # fmt: skip
    if arguments.against is not None and arguments.against.suffix.lower() == ".onnx":
        raise UsageError("--port with --against", why="the other network is not on the board",
                         fix="pass its outputs as an .npz file")  # fmt: skip


@contextmanager
def opened(wish: BoardWish | None) -> Iterator[Simulator | None]:
    """The board behind its port, flashed where that is asked for; None where there is no wish."""
    if wish is None:
        yield None
        return
    from tilewright.run.board.ports import APPEARS_SECONDS, open_port
    from tilewright.run.board.runner import Board

    if wish.flash:
        _flash(wish.flash)
    with open_port(wish.port, wish.baud, APPEARS_SECONDS if wish.flash else 0.0) as stream:
        yield Board(stream, wish.port, run_seconds=wish.run_seconds)


def _flash(words: Sequence[str]) -> None:
    """Run the user's command; BoardError where it fails."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=FLASH_SECONDS, check=False)  # fmt: skip
    except OSError as error:
        raise ToolMissing(f"--flash {words[0]} cannot be started", why=error.strerror or str(error),
                          fix="install it, or give its path") from None  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BoardError(f"--flash {words[0]} did not end", why=f"it was stopped after {FLASH_SECONDS} s",
                         fix="run it by hand to see what it is waiting for") from None  # fmt: skip
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise BoardError(f"--flash {words[0]} failed with code {done.returncode}",
                         why=lines[-1] if lines else "it gave no reason", fix="run it by hand") from None  # fmt: skip
