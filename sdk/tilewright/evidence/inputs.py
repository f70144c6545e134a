"""What a command reads, copied beside its evidence, and the command in words that read the copies."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from tilewright.errors import StateError
from tilewright.evidence import hashes
from tilewright.evidence.document import Hashed
from tilewright.evidence.folder import INPUTS
from tilewright.frontend.external import tensors
from tilewright.tflite.file import is_tflite


def copied(
    arguments: argparse.Namespace, grammar: argparse.ArgumentParser, elsewhere: Collection[str], folder: Path, name: str
) -> list[str]:
    """Copy the files that options name below `folder`; the words of the command that reads those copies there.

    `name` is the network's in C, which a file named `model` takes from its folder. Options in `elsewhere` are left out.
    """
    words = list[str]()
    for action in grammar._actions:
        value = getattr(arguments, action.dest, action.default)
        if action.dest in elsewhere or value == action.default or value is None:
            continue
        option = max(action.option_strings, key=len, default="")
        if not option:
            words.append(_copy_model(value[0], folder, name))
        elif value is True:
            words.append(option)
        elif isinstance(value, Path):
            words += [option, _copy(value, folder, action.dest)]
        elif isinstance(value, list):
            for number, each in enumerate(value):
                words += [option, _freeze(each, folder, number) if action.dest == "freeze" else str(each)]
        else:
            words += [option, str(value)]
    return words


def _copy(file: Path, folder: Path, name: str) -> str:
    """Copy a file under a name of ours; its path from the folder."""
    suffix = file.suffix if file.suffix in (".npz", ".npy", ".json", ".toml", ".yaml", ".yml") else ""
    goal = folder / INPUTS / f"{name}{suffix}"
    goal.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, goal)
    return goal.relative_to(folder).as_posix()


def _freeze(text: str, folder: Path, number: int) -> str:
    name, _, file = text.partition("=")
    return f"{name}={_copy(Path(file), folder, f'freeze_{number}')}"


def _copy_model(file: Path, folder: Path, name: str) -> str:
    """Copy a network with the files that hold its weights, whose places beside it were checked when it was read."""
    import onnx

    content = file.read_bytes()
    goal = folder / INPUTS / name / ("model.tflite" if is_tflite(content) else "model.onnx")
    goal.parent.mkdir(parents=True, exist_ok=True)
    goal.write_bytes(content)
    if not is_tflite(content):
        for location in _locations(onnx.load_model_from_string(content)):
            beside = goal.parent / location
            beside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.parent / location, beside)
    return goal.relative_to(folder).as_posix()


def _locations(proto: object) -> Iterator[str]:
    """The files beside a model that hold its weights, each once."""
    outside = [tensor for tensor in tensors(proto) if tensor.data_location == 1]  # type: ignore[arg-type]
    entries = (entry for tensor in outside for entry in tensor.external_data)
    yield from dict.fromkeys(entry.value for entry in entries if entry.key == "location")


def inside(folder: Path, path: Path) -> Path:
    """A path of a recorded command in its folder; StateError where it leads out of it."""
    pure = PurePosixPath(path.as_posix())
    real = (folder / path).resolve()
    if pure.is_absolute() or ".." in pure.parts or folder.resolve() not in real.parents:
        raise StateError(
            f"'{folder}' names the file '{path}'", why="it does not lie in the folder", fix="make the folder again"
        )
    return folder / path


def files_of(folder: Path) -> tuple[Hashed, ...]:
    """All inputs of a folder by their paths in it."""
    return tuple(hashes.of_file(folder / INPUTS / one.name, f"{INPUTS}/{one.name}") for one in _tree(folder))


def _tree(folder: Path) -> Sequence[Hashed]:
    return hashes.of_tree(folder / INPUTS)
