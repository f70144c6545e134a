"""Files that are not there, damaged, of another kind, or that reach for data outside their folder."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import execute, node, onnx_model
from onnx import TensorProto
from tilewright.errors import ModelError, UsageError
from tilewright.frontend import read as read_module
from tilewright.frontend.load import load


def small() -> onnx.ModelProto:
    constants = {"w": np.ones(4, np.float32)}
    return onnx_model([node("Add", "x w", "y")], {"x": [1, 4]}, ["y"], constants)


def saved(tmp_path: Path, proto: onnx.ModelProto) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def message(source: Path | bytes) -> str:
    with pytest.raises(ModelError) as caught:
        load(source)
    return str(caught.value)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    with pytest.raises(UsageError) as caught:
        load(path)
    assert (
        str(caught.value) == f"cannot read the model '{path}': there is no such file; pass an .onnx or a .tflite file"
    )
    assert caught.value.code == 2
    with pytest.raises(UsageError, match="it is a folder"):
        load(tmp_path)
    with pytest.raises(UsageError, match="cannot read the model"):
        load(tmp_path / "a\0b")


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError):
        load(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04rest", "it is a zip archive (a PyTorch or Keras file?)"),
        (b"\x1f\x8brest", "it is a gzip archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer, not the model itself"),
        (b'{"a": 1}', "it is a text file (JSON?)"),
        (b"\xff\xff\xff\xff", "the file is damaged or cut off, its 4 bytes are no valid protobuf"),
        (b"\x08\x0a", "the file is damaged or cut off, it holds no graph"),
    ],
)
def test_other_content_is_told_apart(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    assert message(path) == f"'{path}' is not an ONNX model: {why}; export or download it again"
    assert message(content) == f"this is not an ONNX model: {why}; export or download it again"


def test_a_file_cut_off_anywhere_is_one_sentence_or_still_whole() -> None:
    content = small().SerializeToString()
    for length in range(len(content)):
        with pytest.raises(ModelError) as caught:
            load(content[:length])
        assert "\n" not in str(caught.value)


def test_too_large_a_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_module, "FILE_LIMIT_BYTES", 10)
    path = saved(tmp_path, small())
    size = path.stat().st_size
    assert message(path).startswith(f"the model '{path}' is too large: it has {size} bytes, the limit is 10")


def test_an_error_names_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, onnx_model([node("Add", "x w", "y")], {"x": [1, 4]}, ["y"]))
    with pytest.raises(ModelError) as caught:
        load(path)
    assert caught.value.where.file == str(path)


def external(proto: onnx.ModelProto, **entries: str) -> onnx.ModelProto:
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return proto


def test_external_data_beside_the_model_is_read_and_hashed(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    data = np.arange(8, dtype=np.float32).tobytes()
    (tmp_path / "weights" / "w.bin").write_bytes(data)
    path = saved(tmp_path, external(small(), location="weights/w.bin", offset="16", length="16"))
    model = load(path)
    result = execute(model, {"x": np.zeros((1, 4), np.float32)})
    np.testing.assert_array_equal(result["y"], [[4, 5, 6, 7]])
    assert model.sha256 == hashlib.sha256(path.read_bytes() + data[16:]).hexdigest()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"location": "/etc/passwd"}, "its location '/etc/passwd' is outside the folder of the model"),
        ({"location": "../w.bin"}, "its location '../w.bin' is outside the folder of the model"),
        ({"location": "a/../../w.bin"}, "its location 'a/../../w.bin' is outside the folder of the model"),
        ({"location": "..\\w.bin"}, "its location '..\\w.bin' is outside the folder of the model"),
        ({"location": "C:\\w.bin"}, "its location 'C:\\w.bin' is outside the folder of the model"),
        ({"location": "link.bin"}, "its location 'link.bin' is a link that leaves the folder of the model"),
        ({"location": "up/secret"}, "its location 'up/secret' is a link that leaves the folder of the model"),
        ({}, "it gives no location"),
        ({"location": "none.bin"}, "'none.bin' cannot be read: No such file or directory"),
        ({"location": "pipe"}, "'pipe' is not a regular file"),
        ({"location": "w.bin", "offset": "-4"}, "its offset '-4' is not a number of bytes"),
        ({"location": "w.bin", "length": "9" * 30}, f"its length '{'9' * 30}' is not a number of bytes"),
        ({"location": "w.bin", "offset": "8", "length": "16"}, "bytes 8 to 24 of 'w.bin', which has 16"),
        ({"location": "w.bin", "offset": "20"}, "bytes 20 to 16 of 'w.bin', which has 16"),
        ({"location": "w.bin", "offset": "8"}, "8 bytes of 'w.bin' are named, its shape and type take 16"),
    ],
)
def test_external_data_elsewhere_is_refused(tmp_path: Path, entries: dict[str, str], why: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(16))
    (folder / "w.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    text = message(saved(folder, external(small(), **entries)))
    fix = "export the model again with its data beside it"
    assert text == f"external data of tensor 'w' cannot be used: {why}; {fix}"


def test_a_file_of_another_size_than_the_tensor_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate(1 << 29)
    path = saved(tmp_path, external(small(), location="w.bin"))
    tracemalloc.start()
    text = message(path)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "536870912 bytes of 'w.bin' are named, its shape and type take 16" in text
    assert peak_bytes < 1 << 24


def test_external_data_needs_a_folder() -> None:
    text = message(external(small(), location="w.bin").SerializeToString())
    assert "the model was given as bytes, without a folder; give the path of the model file" in text


def test_the_hash_of_a_message_does_not_depend_on_its_source(tmp_path: Path) -> None:
    proto = small()
    assert load(saved(tmp_path, proto)).sha256 == load(proto.SerializeToString()).sha256
    before = proto.SerializeToString()
    load(proto)
    assert proto.SerializeToString() == before
