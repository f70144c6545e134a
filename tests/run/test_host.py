"""A hand-made project on this machine: built, run, measured, counted and fenced."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tilewright.codegen.interface import Interface
from tilewright.errors import FenceError, TilewrightError, ToolMissing, UsageError
from tilewright.run.build import build
from tilewright.run.fence import FenceMap, FenceRange
from tilewright.run.image import Image
from tilewright.run.simulate import DumpEntry, execute
from tilewright.target import load_target

TINY = Path(__file__).parent / "tiny"
CALLED = Interface("tiny", inputs=(16,), outputs=(64,), arena_bytes=96)
WEIGHTS = np.array([1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16], np.int8)
X = np.arange(16, dtype=np.int8)
SUM = (X + WEIGHTS).astype(np.int8)
Y = np.cumsum(SUM.astype(np.int32), dtype=np.int32)
FENCE = FenceMap(
    (
        FenceRange(0, "x", 0, 16, False),
        FenceRange(0, "s", 16, 16, True),
        FenceRange(1, "s", 16, 16, False),
        FenceRange(1, "y", 32, 64, True),
    ),
    ("add", "sum"),
)


def need(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


class Images:
    """Builds an image once for all tests that ask for the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[tuple[str, str, bool, bool], Image] = {}

    def __call__(self, fault: str = "", *, compiler: str = "gcc", trace: bool = False, sanitize: bool = False) -> Image:
        need(compiler)
        key = (fault, compiler, trace, sanitize)
        if key not in self.known:
            flags = [f"-DFAULT_{fault}"] if fault else []
            self.known[key] = build(
                TINY, CALLED, load_target("host"), self.folder / str(len(self.known)),
                compiler=compiler, trace=trace, sanitize=sanitize, extra_flags=flags,
            )  # fmt: skip
        return self.known[key]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Images:
    return Images(tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_outputs_sizes_and_toolchain(image: Images, compiler: str) -> None:
    built = image(compiler=compiler)
    done = execute(built, [X.tobytes()])
    assert np.array_equal(np.frombuffer(done.outputs[0], np.int32), Y)
    assert (built.sizes.rodata_bytes, built.sizes.ram_bytes) == (16, 96)
    assert 50 < built.sizes.text_bytes < 1000
    assert compiler in built.toolchain.version
    assert "-O2" in built.toolchain.flags
    assert not list(built.work.glob("run-*"))


def test_measured_stack_is_at_most_the_proved_bound(image: Images) -> None:
    built = image()
    assert built.stack is not None
    assert built.stack.proved
    assert built.stack.path[0] == "tiny_run"
    done = execute(built, [X.tobytes()])
    assert done.stack_bytes is not None
    assert 0 < done.stack_bytes <= built.stack.size_bytes


def test_recursion_is_named_and_measured(image: Images) -> None:
    built = image("STACK")
    assert built.stack is not None
    assert built.stack.unknown == ("recursion of tiny_deep",)
    done = execute(built, [X.tobytes()])
    assert done.stack_bytes is not None
    assert 400 * 512 < done.stack_bytes < 500 * 600


def test_dump_of_every_tensor(image: Images) -> None:
    built = image(trace=True)
    done = execute(built, [X.tobytes()], dump=[DumpEntry(1, "y", 32, 64), DumpEntry(0, "s", 16, 16)])
    assert [(dump.instruction, dump.tensor) for dump in done.dumps] == [(1, "y"), (0, "s")]
    assert done.dumps[0].data == Y.tobytes()
    assert done.dumps[1].data == SUM.tobytes()


def test_arena_is_poisoned_before_the_run(image: Images) -> None:
    built = image(trace=True)
    done = execute(built, [X.tobytes()], dump=[DumpEntry(0, "y", 32, 64, before=True)])
    assert done.dumps[0].data == bytes([0xA5]) * 64


def test_callgrind_counts_one_inference(image: Images) -> None:
    need("valgrind")
    counts = execute(image(), [X.tobytes()], count=True).counts
    assert counts is not None
    assert 30 < counts.instructions < 300
    assert counts.instructions == sum(counts.functions.values())
    again = execute(image(), [X.tobytes()], count=True).counts
    assert again is not None
    assert again.instructions == counts.instructions


def test_callgrind_counts_layers(image: Images) -> None:
    need("valgrind")
    counts = execute(image(trace=True), [X.tobytes()], count=True).counts
    assert counts is not None
    assert [layer.instruction for layer in counts.layers] == [0, 1]
    assert 0 < sum(layer.instructions for layer in counts.layers) <= counts.instructions < 300


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_clean_run_passes_the_fence(image: Images, sanitize: bool) -> None:
    done = execute(image(trace=True, sanitize=sanitize), [X.tobytes()], fence=FENCE)
    assert done.outputs[0] == Y.tobytes()


@pytest.mark.parametrize("sanitize", [False, True])
def test_one_byte_past_a_buffer_is_named(image: Images, sanitize: bool) -> None:
    with pytest.raises(
        FenceError, match=r"layer 0 'add' of 'tiny' wrote 1 byte at .*the first byte behind 's'"
    ) as info:
        execute(image("PAST_END", trace=True, sanitize=sanitize), [X.tobytes()], fence=FENCE)
    assert (info.value.where.node, info.value.where.tensor) == ("add", "s")


def test_a_wrong_offset_is_named(image: Images) -> None:
    with pytest.raises(FenceError, match=r"layer 1 'sum' of 'tiny' read 1 byte at .*4 bytes before 's', in 'x'"):
        execute(image("OFFSET", trace=True, sanitize=True), [X.tobytes()], fence=FENCE)


def test_a_write_to_constants_is_named(image: Images) -> None:
    with pytest.raises(FenceError, match=r"the constants 'tiny_weights' \+ 3"):
        execute(image("CONSTANT", sanitize=True), [X.tobytes()])
    with pytest.raises(FenceError, match=r"'tiny' crashed on target 'host': .*segmentation fault"):
        execute(image("CONSTANT"), [X.tobytes()])


def test_an_error_code_and_an_endless_loop_are_told(image: Images) -> None:
    with pytest.raises(TilewrightError, match="tiny_run returned the error 3"):
        execute(image("CODE"), [X.tobytes()])
    with pytest.raises(TilewrightError, match=r"did not finish on target 'host': it was stopped after 0.5 s"):
        execute(image("FOREVER"), [X.tobytes()], timeout=0.5)


def test_wrong_use_is_refused(image: Images, tmp_path: Path) -> None:
    built = image()
    with pytest.raises(UsageError, match="wrong length: given are 3 bytes, needed 16 bytes"):
        execute(built, [b"abc"])
    with pytest.raises(UsageError, match="the image has no trace"):
        execute(built, [X.tobytes()], fence=FENCE)
    with pytest.raises(UsageError, match="separate runs"):
        execute(image(trace=True), [X.tobytes()], fence=FENCE, count=True)
    with pytest.raises(UsageError, match="holds no project of the model 'other'"):
        build(TINY, replace(CALLED, model="other"), load_target("host"), tmp_path)


def test_broken_code_and_missing_compiler_are_one_sentence(tmp_path: Path) -> None:
    need("gcc")
    shutil.copytree(TINY, tmp_path / "project")
    (tmp_path / "project/src/tiny.c").write_text("int tiny_run(void) { return missing; }\n")
    with pytest.raises(TilewrightError, match=r"gcc does not compile tiny.c: tiny.c:1:29: error: .missing. undeclared"):
        build(tmp_path / "project", CALLED, load_target("host"), tmp_path / "work")
    with pytest.raises(ToolMissing, match=r"no-such-gcc is not installed: .* install the Debian package"):
        build(TINY, CALLED, load_target("host"), tmp_path / "work", compiler="no-such-gcc")
