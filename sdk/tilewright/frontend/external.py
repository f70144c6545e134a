"""External data: weights in files beside the model, and never anywhere else."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.frontend.values import stored_bytes

if TYPE_CHECKING:
    import onnx


def embed(proto: onnx.ModelProto, folder: Path | None, limit_bytes: int, file: str) -> Iterator[bytes]:
    """Move all external data into the message and yield it piece by piece.

    ModelError where a location leaves `folder` (absolute, `..`, a link out of it), where the range is not within the
    file or not what the tensor's shape takes, or where all of it is more than `limit_bytes`.
    """
    total = 0
    for tensor in tensors(proto):
        if tensor.data_location != 1:  # EXTERNAL
            continue
        data = _External(tensor, folder, file).read(stored_bytes(tensor, file), limit_bytes - total)
        total += len(data)
        tensor.raw_data = data
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        yield data


def tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor value in the message: initialisers and attributes, in nested graphs and functions too."""
    graphs = [proto.graph]
    nodes = [node for function in proto.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes.extend(graph.node)
            continue
        for attribute in nodes.pop().attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("sparse_tensor"):
                yield from (attribute.sparse_tensor.values, attribute.sparse_tensor.indices)
            yield from attribute.tensors
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            graphs.extend(attribute.graphs)


class _External:
    """One tensor whose bytes lie in another file."""

    def __init__(self, tensor: onnx.TensorProto, folder: Path | None, file: str) -> None:
        self.name, self.folder, self.file = tensor.name, folder, file
        self.entries = {entry.key: entry.value for entry in tensor.external_data}

    def refuse(self, why: str, fix: str = "export the model again with its data beside it") -> ModelError:
        what = f"external data of tensor {quoted(self.name)} cannot be used"
        return ModelError(what, why=why, fix=fix, tensor=self.name, file=self.file)

    def read(self, needed_bytes: int | None, limit_bytes: int) -> bytes:
        """The bytes of the tensor; nothing is read where they are not the `needed_bytes` of its shape."""
        path = self._path()
        offset, length = self._number("offset"), self._number("length")
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise self.refuse(f"'{path.name}' is not a regular file")
            length = status.st_size - (offset or 0) if length is None else length
            if (offset or 0) + length > status.st_size or length < 0:
                why = f"bytes {offset or 0} to {(offset or 0) + length} of '{path.name}', which has {status.st_size}"
                raise self.refuse(why)
            if needed_bytes is not None and length != needed_bytes:
                raise self.refuse(f"{length} bytes of '{path.name}' are named, its shape and type take {needed_bytes}")
            if length > limit_bytes:
                raise self.refuse(f"{length} bytes are more than the {limit_bytes} that are left for weights")
            with path.open("rb") as stream:
                stream.seek(offset or 0)
                return stream.read(length)
        except OSError as error:
            raise self.refuse(f"'{path.name}' cannot be read: {error.strerror}") from error

    def _path(self) -> Path:
        location = self.entries.get("location", "")
        if not location or "\0" in location:
            raise self.refuse("it gives no location")
        if self.folder is None:
            raise self.refuse("the model was given as bytes, without a folder", "give the path of the model file")
        parts = {*PurePosixPath(location).parts, *PureWindowsPath(location).parts}
        if ".." in parts or PurePosixPath(location).is_absolute() or PureWindowsPath(location).anchor:
            raise self.refuse(f"its location {quoted(location)} is outside the folder of the model")
        folder = self.folder.resolve()
        try:
            path: Path = (folder / location).resolve()
        except (OSError, RuntimeError) as error:
            raise self.refuse(f"its location {quoted(location)} cannot be followed") from error
        if not path.is_relative_to(folder):
            raise self.refuse(f"its location {quoted(location)} is a link that leaves the folder of the model")
        return path

    def _number(self, key: str) -> int | None:
        text = self.entries.get(key)
        if text is None:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise self.refuse(f"its {key} {quoted(text)} is not a number of bytes")
        return int(text)
