"""A model in ONNX Runtime, asked again and again: one thread and no optimisation, so that the same numbers come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import ToolMissing, UnsupportedError
from tilewright.model import Array

if TYPE_CHECKING:
    import onnx


class Session:
    """A network in ONNX Runtime; `names` are the tensors that it gives. ToolMissing without onnxruntime.

    `purpose` says in an error what it computes the network for.
    """

    def __init__(self, proto: onnx.ModelProto, names: Sequence[str], purpose: str) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise ToolMissing(
                "onnxruntime is not installed", why=f"it computes the network {purpose}",
                fix="pip install 'tilewright[verify]'",
            ) from None  # fmt: skip
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self.names = list(names)
        try:
            self._session: Any = onnxruntime.InferenceSession(
                proto.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise _refused(error) from None

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The tensors of one call, by name."""
        try:
            values = self._session.run(self.names, dict(inputs))
        except Exception as error:
            raise _refused(error) from None
        return dict(zip(self.names, map(np.asarray, values), strict=True))

    def over(
        self, calls: Iterable[Mapping[str, Array]], changed: Mapping[str, Array] | None = None
    ) -> Iterator[dict[str, Array]]:
        """The tensors of every call, each with what is `changed` beside its own inputs."""
        for inputs in calls:
            yield self.run({**inputs, **(changed or {})})


def _refused(error: Exception) -> UnsupportedError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return UnsupportedError(
        "ONNX Runtime cannot compute the network", why=lines[0][:200],
        fix="pass a form in standard operators",
    )  # fmt: skip
