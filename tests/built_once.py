"""What compilers make once per session: objects of test images by what goes into them, and the header of the stand-in
for CUDA, which takes g++ longer to read than a network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES
from tilewright.run import build, cuda_library
from tilewright.run.tool import start
from tilewright.target import Target

_compiled = build._compile
_command = cuda_library.compile_command
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


class Objects:
    """A folder of objects with what the compiler wrote beside them; the workers of a session share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compile(self, driver: str, target: Target, source: Path, options: Sequence[str], folder: Path) -> Path:
        """What `build` does for one file, with what was made of the same text before; errors are never kept."""
        kept = self.folder / _key(driver, source, options)
        output = folder / f"{source.stem}.o"
        if kept.is_dir():
            folder.mkdir(exist_ok=True)
            for name in os.listdir(kept):
                shutil.copyfile(kept / name, output.with_suffix(Path(name).suffix))
            return output
        output = _compiled(driver, target, source, options, folder)
        made = self.folder / f"{kept.name}.{os.getpid()}"
        made.mkdir(parents=True)
        for file in (output, output.with_suffix(".ci"), output.with_suffix(".gcno")):
            if file.exists():
                shutil.copyfile(file, made / f"one{file.suffix}")
        try:
            made.rename(kept)
        except OSError:  # another worker was first
            shutil.rmtree(made)
        return output


class Headers:
    """A folder with the stand-in's header as g++ has read it, once for each set of options."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, driver: str, target: Target) -> list[str]:
        """The compiler's command, which takes the header from there; g++ reads the source where it cannot use that."""
        command = _command(driver, target)
        if not Path(driver).name.startswith("g++"):
            return command
        kept = self.folder / hashlib.sha256(repr(command).encode()).hexdigest()[:16]
        if not kept.is_dir():
            made = self.folder / f"{kept.name}.{os.getpid()}"
            made.mkdir(parents=True)
            shutil.copyfile(TEMPLATES / STAND_IN, made / STAND_IN)
            header = [*command, "-c", "-x", "c++-header", STAND_IN, "-o", f"{STAND_IN}.gch"]
            assert start([word for word in header if word != "-shared"], made).code == 0
            try:
                made.rename(kept)
            except OSError:  # another worker was first
                shutil.rmtree(made)
        return [*command, "-include", str(kept / STAND_IN)]


def _key(driver: str, source: Path, options: Sequence[str]) -> str:
    """A digest of the compiler, the options without paths, the file, and all that it includes by quotes.

    Its path counts where it gets into the object, by which sanitizers name the place.
    """
    said = [option for option in options if not option.startswith("-I")]
    named = any(option.startswith(("-g", "-fsanitize")) for option in said)
    digest = hashlib.sha256(
        repr((driver, os.stat(driver).st_mtime_ns, str(source) if named else source.name, said)).encode()
    )
    for text in _texts(source, [Path(option[2:]) for option in options if option.startswith("-I")], set()):
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()


def _texts(file: Path, folders: Sequence[Path], seen: set[Path]) -> Iterator[bytes]:
    """The file and what it includes, each once."""
    if file not in seen:
        seen.add(file)
        yield (text := file.read_bytes())
        for name in INCLUDE.findall(text):
            places = (folder / os.fsdecode(name) for folder in (file.parent, *folders))
            included = next((path for path in places if path.is_file()), None)
            if included is not None:  # behind a condition that does not hold here
                yield from _texts(included, folders, seen)
