"""What PyTorch needs for the same network on the same GPU: the emitted module under its CUDA graph and compiler."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tilewright.export.mirror import bound_graph
from tilewright.export.pytorch import emit
from tilewright.model import Array

MIRROR = "tilewright_mirror"


@dataclass(frozen=True)
class Peers:
    """Median microseconds of one call, copies of inputs and outputs included; None where it was not measured."""

    eager: float | None = None
    cuda_graph: float | None = None
    compiled: float | None = None

    @property
    def best(self) -> float | None:
        """The fastest of them."""
        known = [figure for figure in (self.eager, self.cuda_graph, self.compiled) if figure is not None]
        return min(known, default=None)


def torch_with_gpu() -> Any | None:
    """The module torch where it is installed and sees a GPU, else None."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def measure(model: Path, inputs: list[Array], median: Callable[[Callable[[], object]], float]) -> Peers:
    """The figures of a float network; the mirror of a quantised one is exact, not fast, so nothing is compared."""
    torch = torch_with_gpu()
    if torch is None or any(array.dtype != np.float32 for array in inputs):
        return Peers()
    network = mirror(model).eval().cuda()
    hosts = [torch.from_numpy(array).pin_memory() for array in inputs]
    with torch.inference_mode():
        eager = median(caller(torch, network, hosts))
        graph = median(replayed(torch, network, hosts))
        compiled = median(caller(torch, torch.compile(network, mode="reduce-overhead"), hosts))
    return Peers(eager, graph, compiled)


def mirror(model: Path) -> Any:
    """The network as the PyTorch module that `tilewright export-torch` writes."""
    module = emit(bound_graph(model), weights_name=f"{MIRROR}.safetensors")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{MIRROR}.py"
        source.write_text(module.source)
        if module.weights:
            (Path(folder) / f"{MIRROR}.safetensors").write_bytes(module.weights_file())
        spec = importlib.util.spec_from_file_location(MIRROR, source)
        assert spec is not None
        assert spec.loader is not None
        python = importlib.util.module_from_spec(spec)
        sys.modules[MIRROR] = python
        spec.loader.exec_module(python)
        return getattr(python, module.class_name)()


def caller(torch: Any, network: Any, hosts: list[Any]) -> Callable[[], object]:
    """One call from pinned host memory to host memory."""

    def call() -> object:
        outputs = network(*(host.to("cuda", non_blocking=True) for host in hosts))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        copied = [output.cpu() for output in outputs]
        torch.cuda.synchronize()
        return copied

    for _ in range(5):  # compilation and its own warm-up happen here
        call()
    return call


def replayed(torch: Any, network: Any, hosts: list[Any]) -> Callable[[], object]:
    """One replay of `torch.cuda.CUDAGraph`, the copies of inputs and outputs inside of the graph as in ours."""
    devices = [host.cuda() for host in hosts]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            network(*devices)
    torch.cuda.synchronize()
    known = network(*devices)
    known = known if isinstance(known, tuple) else (known,)
    results = [torch.empty(output.shape, dtype=output.dtype, pin_memory=True) for output in known]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for device, host in zip(devices, hosts, strict=True):
            device.copy_(host, non_blocking=True)
        outputs = network(*devices)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for result, output in zip(results, outputs, strict=True):
            result.copy_(output, non_blocking=True)

    def call() -> object:
        graph.replay()
        torch.cuda.synchronize()
        return results

    return call
