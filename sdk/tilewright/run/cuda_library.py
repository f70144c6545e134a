"""A generated `network.cu` as a library in this process: built by nvcc, or by a C++ compiler with the stand-in."""

from __future__ import annotations

import _ctypes
import ctypes
import importlib.util
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tilewright.errors import TilewrightError, ToolMissing
from tilewright.model import Array
from tilewright.run.tool import start
from tilewright.target import Target

NO_GPU = {
    3: "the driver cannot be initialised",
    34: "the driver is a stub",
    35: "the driver is older than the CUDA runtime, or missing",
    100: "no GPU is found",
    101: "the GPU cannot be used",
    209: "the library holds no code for this GPU",
    999: "the driver fails",
}
INSTALLED = ("/usr/local/cuda",)
CAPTURE = {900: "the operation is not permitted while a stream is captured", 901: "the capture was invalidated"}
FUNCTIONS = (
    "init", "destroy", "poison", "write", "read", "staging", "copy_in", "copy_out", "advance_state", "run_range",
    "run_megakernel", "begin_capture", "end_capture", "replay", "drop", "nodes", "sync", "address",
)  # fmt: skip


class CudaError(TilewrightError):
    """A call of the CUDA runtime failed; `cuda_code` is its number."""

    def __init__(self, what: str, cuda_code: int) -> None:
        self.cuda_code = cuda_code
        super().__init__(f"{what} failed", why=f"CUDA error {cuda_code}{_meaning(cuda_code)}")


class CaptureError(CudaError):
    """A region of the plan could not be captured; the executor goes on without."""


def _meaning(code: int) -> str:
    text = CAPTURE.get(code) or NO_GPU.get(code)
    return f", {text}" if text else ""


def find_compiler(target: Target) -> str:
    """The first installed compiler of the target; nvcc also where the toolkit lies outside of the path."""
    for name in target.compilers:
        if path := shutil.which(name) or _toolkit(name):
            return path
    name = target.compilers[0]
    raise ToolMissing(
        f"{name} is not installed",
        why=f"it builds the code for target '{target.name}'",
        fix=f"install the package '{target.tools.get(name, name)}' or the extra 'tilewright[cuda]', "
        "or try target 'cuda_host', which needs neither",
    )


def _toolkit(name: str) -> str | None:
    """A tool of the CUDA toolkit in its usual places, the Python packages of the extra `cuda` among them."""
    wheels = importlib.util.find_spec("nvidia")
    places: Sequence[str] = (wheels.submodule_search_locations or ()) if wheels else ()
    packaged = [str(cuda) for place in places for cuda in sorted(Path(place).glob("cu[0-9]*"), reverse=True)]
    for folder in (os.environ.get("CUDA_HOME", ""), *INSTALLED, *packaged):
        path = Path(folder) / "bin" / name
        if folder and path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def compile_command(driver: str, target: Target) -> list[str]:
    """The compiler with the target's flags; the Python packages keep their libraries where nvcc does not look."""
    libraries = Path(driver).parent.parent / "lib"
    packaged = any(libraries.glob("libcudart*"))
    return [driver, *target.flags, *(["-L", str(libraries)] if packaged else [])]


def build_library(project: Path, target: Target, work: Path) -> Path:
    """Compile `project/network.cu` into `work`; ToolMissing without a compiler."""
    driver = find_compiler(target)
    work.mkdir(parents=True, exist_ok=True)
    library = work / "network.so"
    source = (project / "network.cu").resolve()
    command = [*compile_command(driver, target), "-o", str(library.resolve()), str(source)]
    done = start(command, work, timeout=target.timeout_seconds)
    if done.code != 0:
        lines = [line for line in done.errors.splitlines() if "error" in line] or done.errors.splitlines() or [""]
        raise TilewrightError(
            f"{Path(driver).name} does not compile network.cu", why=lines[0].strip()[:300], file=str(source)
        )
    return library


class Library:
    """The functions of one network; each returns at once or raises CudaError.

    The library's memory is its own: load a copy of the file for each executor.
    """

    def __init__(self, path: Path, name: str) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
            self._functions: Mapping[str, ctypes._NamedFuncPointer] = {
                function: getattr(self._library, f"{name}_{function}") for function in FUNCTIONS
            }
        except (OSError, AttributeError) as error:
            raise TilewrightError(f"'{path}' is no library of '{name}'", why=str(error), file=str(path)) from error

    def close(self) -> None:
        """Unload the library; its functions are gone."""
        self._functions = {}
        _ctypes.dlclose(self._library._handle)

    def code(self, function: str, *arguments: object) -> int:
        """Call a function; its CUDA code, 0 where it went well."""
        return int(self._functions[function](*arguments))

    def call(self, function: str, *arguments: object) -> None:
        """Call a function; CudaError where it fails."""
        if code := self.code(function, *arguments):
            raise CudaError(f"'{function}' of the generated library", code)

    def init(self, samples: int) -> None:
        """Memory for `samples` at once; ToolMissing where there is no GPU that could run it."""
        code = self.code("init", samples)
        if code in NO_GPU:
            raise ToolMissing(
                "no GPU can run this", why=f"{NO_GPU[code]} (CUDA error {code})",
                fix="run it on a machine with a GPU, or take target 'cuda_host'",
            )  # fmt: skip
        if code:
            raise CudaError("'init' of the generated library", code)

    def staging(self, output: bool, index: int, size: int) -> Array:
        """The pinned bytes of an input or output, all samples one after the other."""
        place = ctypes.c_void_p()
        self.call("staging", int(output), index, ctypes.byref(place))
        buffer = (ctypes.c_uint8 * size).from_address(place.value or 0)
        array: Array = np.ctypeslib.as_array(buffer)
        return array

    def read(self, slot: int, sample: int, size: int) -> Array:
        """The bytes of a slot."""
        array: Array = np.empty(size, np.uint8)
        self.call("read", slot, sample, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(size))
        return array

    def write(self, slot: int, sample: int, data: Array) -> None:
        """Write the bytes of a slot."""
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        self.call("write", slot, sample, ctypes.c_void_p(flat.ctypes.data), ctypes.c_size_t(flat.size))

    def address(self, slot: int) -> int:
        """Where a slot of the first sample lies on the device."""
        address = ctypes.c_ulonglong()
        self.call("address", slot, ctypes.byref(address))
        return address.value
