"""Reads a model file, ONNX or TensorFlow Lite, into an ONNX message, external data included, and its SHA-256."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.errors import ModelError, TilewrightError, UsageError
from tilewright.frontend.external import embed
from tilewright.tflite.convert import to_onnx
from tilewright.tflite.file import is_tflite

if TYPE_CHECKING:
    import onnx

FILE_LIMIT_BYTES = 900 * 1024 * 1024  # twice this much is alive while the weights are unpacked

_KNOWN_FORMATS = (
    (0, b"version https://git-lfs", "it is a Git LFS pointer, not the model itself"),
    (0, b"PK\x03\x04", "it is a zip archive (a PyTorch or Keras file?)"),
    (0, b"\x1f\x8b", "it is a gzip archive"),
    (0, b"\x89HDF", "it is an HDF5 file (Keras?)"),
    (4, b"ORTM", "it is in ONNX Runtime's own format"),
    (0, b"<", "it is a text file (XML or HTML)"),
    (0, b"{", "it is a text file (JSON?)"),
)


@dataclass(frozen=True)
class Source:
    """The message, the SHA-256 of the file and its external data, a name for it, and the path where there is one."""

    proto: onnx.ModelProto
    sha256: str
    name: str
    file: str = ""


def read(source: Path | str | bytes | onnx.ModelProto) -> Source:
    """Read from a file, from the bytes of one, or from a message, which is copied.

    UsageError where the file cannot be opened, ModelError where it is damaged.
    """
    import onnx

    if isinstance(source, onnx.ModelProto):
        proto = onnx.ModelProto()
        proto.CopyFrom(source)
        return _complete(proto, hashlib.sha256(proto.SerializeToString(deterministic=True)), None, "")
    if isinstance(source, bytes):
        return _complete(_parse(source, ""), hashlib.sha256(source), None, "")
    path = Path(source)
    content = _content(path)
    proto, digest = _parse(content, str(path)), hashlib.sha256(content)
    del content
    return _complete(proto, digest, path, str(path))


def openable(path: Path) -> str | bytes:
    """What a runtime of ONNX opens: the path of an ONNX file, the converted model of a TensorFlow Lite file."""
    with path.open("rb") as file:
        start = file.read(8)
    if not is_tflite(start):
        return str(path)
    model: bytes = read(path).proto.SerializeToString()
    return model


def _complete(proto: onnx.ModelProto, digest: hashlib._Hash, path: Path | None, file: str) -> Source:
    for data in embed(proto, path.parent if path else None, FILE_LIMIT_BYTES, file):
        digest.update(data)
    return Source(proto, digest.hexdigest(), path.stem if path else proto.graph.name or "model", file)


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            why = "it is a folder" if path.is_dir() else "there is no such file"
            raise UsageError(
                f"cannot read the model '{path}'", why=why, fix="pass an .onnx or a .tflite file", file=str(path)
            )
        size = path.stat().st_size
        if size > FILE_LIMIT_BYTES:
            raise ModelError(
                f"the model '{path}' is too large",
                why=f"it has {size} bytes, the limit is {FILE_LIMIT_BYTES}",
                fix="a microcontroller holds no such network; keep the part to deploy",
                file=str(path),
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"cannot read the model '{path}'", why=why, fix="pass an .onnx or a .tflite file", file=str(path)
        ) from error


def _parse(content: bytes, file: str) -> onnx.ModelProto:
    import onnx
    from google.protobuf.message import DecodeError

    def damaged(why: str) -> ModelError:
        what = f"'{file}' is not an ONNX model" if file else "this is not an ONNX model"
        return ModelError(what, why=why, fix="export or download it again", file=file)

    if not content:
        raise damaged("the file is empty")
    if is_tflite(content):
        return _converted(content, file)
    for offset, magic, why in _KNOWN_FORMATS:
        if content.startswith(magic, offset):
            raise damaged(why)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError as error:
        raise damaged(f"the file is damaged or cut off, its {len(content)} bytes are no valid protobuf") from error
    if not proto.HasField("graph"):
        raise damaged("the file is damaged or cut off, it holds no graph")
    return proto


def _converted(content: bytes, file: str) -> onnx.ModelProto:
    """A TensorFlow Lite file; an error names the file."""
    try:
        return to_onnx(content, Path(file).stem or "model")
    except TilewrightError as error:
        error.where = replace(error.where, file=file)
        raise
