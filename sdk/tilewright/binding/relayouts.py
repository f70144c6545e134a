"""Which tensors a platform can copy into another memory order, and by which kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.binding.types import mismatch
from tilewright.model import Array, Model, Node, Tensor
from tilewright.ops.operator import Call
from tilewright.ops.registry import call_of
from tilewright.ops.relayout import DOMAIN
from tilewright.platform import Kernel


def relayout_call(tensor: Tensor, result: Tensor, name: str, value: Array | None = None) -> Call:
    """The call that copies a tensor; `value` where it is a constant."""
    node = Node(name, "Relayout", (tensor.name,), (result.name,), domain=DOMAIN)
    return call_of(node, (tensor,), (result,), {} if value is None else {0: value})


class Relayouts:
    """The Relayout kernels of a platform, asked about the tensors of a model."""

    def __init__(self, model: Model, kernels: Sequence[Kernel]) -> None:
        self.model, self.kernels = model, tuple(kernels)
        self._taken: dict[str, Kernel | None] = {}

    def kernel(self, name: str) -> Kernel | None:
        """The first kernel that takes the tensor."""
        if name not in self._taken:
            takes = (kernel for kernel in self.kernels if self._refusal(kernel, name) is None)
            self._taken[name] = next(takes, None)
        return self._taken[name]

    def copied(self, name: str) -> bool:
        """True for a tensor that some kernel takes."""
        return self.kernel(name) is not None

    def why_not(self, names: Iterable[str]) -> str:
        """Why no kernel takes these tensors, each reason once."""
        return "; ".join(dict.fromkeys(self._why(name) for name in names))

    def _why(self, name: str) -> str:
        fitting = [kernel for kernel in self.kernels if mismatch(kernel, self._probe(name)) is None]
        if not fitting:
            return f"no Relayout kernel takes {self.model.tensors[name].type_token}"
        return "; ".join(f"{kernel.name} does not copy '{name}': {self._refusal(kernel, name)}" for kernel in fitting)

    def _refusal(self, kernel: Kernel, name: str) -> str | None:
        probe = self._probe(name)
        return mismatch(kernel, probe) or kernel.accepts(probe)

    def _probe(self, name: str) -> Call:
        tensor = self.model.tensors[name]
        return relayout_call(tensor, tensor, name, self.model.constants.get(name))
