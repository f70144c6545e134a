"""Which results a converted file says that TensorFlow Lite Micro computes in another way than its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.errors import ModelError
from tilewright.tflite import unlike

if TYPE_CHECKING:
    import onnx


def unlike_results(proto: onnx.ModelProto, file: str) -> tuple[tuple[str, str], ...]:
    """The results and their words; ModelError where the metadata holds anything else."""
    text = next((entry.value for entry in proto.metadata_props if entry.key == unlike.METADATA), "")
    try:
        return unlike.read(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"the model's metadata '{unlike.METADATA}' cannot be read", why=str(error)[:160],
            fix="convert the network again", file=file,
        ) from None  # fmt: skip
