"""Opens what `--port` names: a serial device, or tcp://HOST:PORT, as debug probes offer it."""

from __future__ import annotations

import importlib
import os
import select
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tilewright.errors import BoardError, ToolMissing, UsageError
from tilewright.run.board.stream import ByteStream

TCP = "tcp://"
WRITE_SECONDS = 0.2
"""A board that takes no bytes for so long loses what is left: it is asked again anyway."""
APPEARS_SECONDS = 10.0
"""How long a port may take to come back after flashing."""
CONNECT_SECONDS = 5.0


class Descriptor:
    """A stream over an open file descriptor: a serial device, a pseudo-terminal, a socket."""

    def __init__(self, number: int) -> None:
        self.number = number
        os.set_blocking(number, False)

    def read(self, most: int, seconds: float) -> bytes:
        """See ByteStream."""
        if not select.select([self.number], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self.number, most)
        except BlockingIOError:
            return b""
        if not data:
            raise OSError("the other end has closed it")
        return data

    def write(self, data: bytes) -> None:
        """See ByteStream."""
        end = time.monotonic() + WRITE_SECONDS
        while data and (left := end - time.monotonic()) > 0:
            if select.select([], [self.number], [], left)[1]:
                try:
                    data = data[os.write(self.number, data) :]
                except BlockingIOError:
                    continue


class Serial:
    """A stream over pyserial, where the standard library knows no serial ports or not the baud rate."""

    def __init__(self, port: Any) -> None:
        self.port = port
        port.write_timeout = WRITE_SECONDS

    def read(self, most: int, seconds: float) -> bytes:
        """See ByteStream."""
        self.port.timeout = seconds
        data: bytes = self.port.read(1)
        return data + self.port.read(min(self.port.in_waiting, most - 1)) if data and most > 1 else data

    def write(self, data: bytes) -> None:
        """See ByteStream."""
        try:
            self.port.write(data)
        except OSError as error:
            if "Timeout" not in type(error).__name__:  # pyserial has a class of its own for it
                raise


@contextmanager
def open_port(name: str, baud: int = 115200, seconds: float = 0.0) -> Iterator[ByteStream]:
    """The stream behind a name, closed at the end; the port may take `seconds` to appear.

    UsageError for a name or a baud rate that cannot be, BoardError where the port is not there or is in use,
    ToolMissing where pyserial is needed.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            stream, close = _tcp(name) if name.startswith(TCP) else _serial(name, baud)
            break
        except OSError as error:
            if time.monotonic() >= end:
                raise _absent(name, error) from None
            time.sleep(0.1)
    try:
        yield stream
    finally:
        close()


def _tcp(name: str) -> tuple[ByteStream, Any]:
    host, _, port = name.removeprefix(TCP).rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--port {name}", why="it names no host and port", fix="write tcp://localhost:19021")
    connection = socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Descriptor(connection.fileno()), connection.close


def _serial(name: str, baud: int) -> tuple[ByteStream, Any]:
    try:
        termios: Any = importlib.import_module("termios")
    except ImportError:
        return _by_pyserial(name, baud, "this system's serial ports need it")
    rate = getattr(termios, f"B{baud}", None)
    if rate is None:
        return _by_pyserial(name, baud, f"{baud} baud is a rate that termios does not know")
    if Path(name).exists() and not stat.S_ISCHR(os.stat(name).st_mode):
        raise UsageError(f"--port {name}", why="it is not a serial device", fix="name one such as /dev/ttyACM0")
    number = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        mode = termios.tcgetattr(number)
        # eight bits as they come: no parity, no flow control, no characters with a meaning
        control = mode[2] & ~(termios.PARENB | termios.CSTOPB | termios.CSIZE | getattr(termios, "CRTSCTS", 0))
        control |= termios.CS8 | termios.CREAD | termios.CLOCAL
        termios.tcsetattr(number, termios.TCSANOW, [0, 0, control, 0, rate, rate, mode[6]])
        termios.tcflush(number, termios.TCIFLUSH)
    except termios.error as error:
        os.close(number)
        raise UsageError(f"--port {name}", why=f"it is not a serial device: {error.args[-1]}",
                         fix="name one such as /dev/ttyACM0") from None  # fmt: skip
    return Descriptor(number), lambda: os.close(number)


def _by_pyserial(name: str, baud: int, why: str) -> tuple[ByteStream, Any]:
    try:
        serial: Any = importlib.import_module("serial")
    except ImportError:
        raise ToolMissing("pyserial is not installed", why=why, fix="pip install 'tilewright[board]'") from None
    try:
        port = serial.Serial(name, baud)
    except ValueError as error:
        raise UsageError(f"--baud {baud}", why=str(error), fix="use the rate of the board's UART") from None
    return Serial(port), port.close


def _absent(name: str, error: OSError) -> BoardError:
    fix = "plug the board in and look for the name of its port"
    if isinstance(error, PermissionError):
        fix = "let your user read and write it, on Debian as a member of the group dialout"
    return BoardError(f"--port {name} cannot be opened", why=error.strerror or str(error), fix=fix)
