"""The model of N-EUREKA against plain sums: words written down from its description, and each of its traps."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tilewright.platforms.siracusa.kernels.packing import Mode, bits_of, pack

HERE = Path(__file__).parent
START = HERE.parents[1] / "targets" / "start"
HARNESS = HERE.parents[1] / "sdk" / "tilewright" / "run" / "harness"
X, Y, SCALE, BIAS = 0x100, 0x10000, 0x30000, 0x31000
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """A job: results, channels, padding (top, right, bottom, left) by a value, bits of weights.

    `reduced`: of the last square what is read ends before the padding. `widened`: the padding behind is counted from
    the end of a full square, as the unit does.
    """

    mode: Mode
    rows: int
    columns: int
    ins: int
    outs: int
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    value: int = 0
    signed: bool = False
    bits: int = 8
    reduced: bool = True
    widened: bool = False
    step: int = 1
    near: bool = False

    @property
    def around(self) -> int:
        """Rows of taps beside the middle one's."""
        return 0 if self.mode is Mode.ONE else 2

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the input that lies in memory."""
        top, right, bottom, left = self.pads
        rows, columns = ((n - 1) * self.step + 1 for n in (self.rows, self.columns))
        return rows + self.around - top - bottom, columns + self.around - left - right


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    library = tmp_path_factory.mktemp("unit") / "unit.so"
    places = "extern unsigned char near_memory[], weight_memory[];\n#include <stdint.h>\n"
    (library.parent / "places.h").write_text(places)
    sources = [str(START / "neureka_model.c"), str(HERE / "neureka_alone.c")]
    defined = ["-DTW_NEUREKA_PLAYED", "-DTW_NEUREKA_L1=(uintptr_t)near_memory",
               "-DTILEWRIGHT_NEUREKA_WEIGHTS=(uintptr_t)weight_memory"]  # fmt: skip
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    folders = [f"-I{START}", f"-I{HARNESS}", "-include", str(library.parent / "places.h")]
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *strict, *defined, *folders, *sources, "-o", str(library)],
                   check=True)  # fmt: skip
    return ctypes.CDLL(str(library))


@pytest.fixture
def fresh(unit: Any, tmp_path: Path) -> Any:
    """A unit of its own: a job that ended the program stays where it is."""
    shutil.copy(unit._name, tmp_path / "fresh.so")
    made = ctypes.CDLL(str(tmp_path / "fresh.so"))
    made.what_it_said.restype = ctypes.c_char_p
    return made


def memory(unit: Any, name: str) -> NDArray[np.uint8]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * (1 << 18)).in_dll(unit, name))


def ends(total: int, most: int) -> int:
    """Of an exact multiple the rest is all of it."""
    return total % most or most


def words_of(job: Job, x: int = X) -> list[int]:
    """The 24 words of a job whose channels are one block of outputs."""
    blocks = -(-job.ins // job.mode.ins)
    top, right, bottom, left = job.pads
    rest_rows, rest_columns = ends(job.rows, 6), ends(job.columns, 6)
    less = (bottom, right) if job.reduced else (0, 0)
    if job.widened:
        bottom, right = bottom and bottom + 6 - rest_rows, right and right + 6 - rest_columns
    apart = job.mode is Mode.APART
    planes = 1 if job.mode is Mode.ONE else job.bits
    pitch, width = job.ins * job.step, job.size[1]
    return [
        0, x - (top * width + left) * job.ins, Y, SCALE, 0, BIAS, pitch, pitch * width, 0,
        32, 4 * job.outs, 4 * job.outs * job.columns, 32, 0 if apart else 32 * planes * blocks, 0,
        job.outs << 16 | ends(job.ins, job.mode.ins), rest_rows << 16 | rest_columns,
        (rest_rows + job.around - less[0]) << 16 | (rest_columns + job.around - less[1]),
        1 << 16 | (1 if apart else blocks), -(-job.rows // 6) << 16 | -(-job.columns // 6),
        top << 28 | right << 24 | bottom << 20 | left << 16 | job.value & 255, -(1 << job.bits - 1) & 0xFFFFFFFF, 0,
        job.bits - 1 | 1 << 4 | job.mode << 5 | (not job.near) << 9 | 2 << 21 | 1 << 23 | 1 << 25 | job.signed << 26,
    ]  # fmt: skip


def computed(unit: Any, job: Job, seed: int = 0) -> tuple[Codes, Codes]:
    """What the unit computes, and what plain sums are, with the value of the padding everywhere."""
    rng = np.random.default_rng(seed)
    half, taps = 1 << job.bits - 1, (job.around + 1) ** 2
    weights = rng.integers(-half, half, (job.outs, taps, 1 if job.mode is Mode.APART else job.ins))
    weights[0, 0, 0] = -half
    assert bits_of(weights, job.mode) == job.bits
    codes = rng.integers(*((-128, 128) if job.signed else (0, 256)), (*job.size, job.ins))
    bias = rng.integers(-(1 << 20), 1 << 20, job.outs).astype(np.int32)
    near, packed = memory(unit, "near_memory"), pack(weights, job.mode)
    place = memory(unit, "near_memory")[0x20000:] if job.near else memory(unit, "weight_memory")
    place[: packed.size] = packed
    near[X : X + codes.size] = codes.astype(np.uint8).reshape(-1)
    near[SCALE : SCALE + job.outs] = 1
    near[BIAS : BIAS + 4 * job.outs] = bias.view(np.uint8)
    words = words_of(job)
    words[0] = 0x20000 if job.near else 0
    assert unit.run_job((ctypes.c_uint32 * 24)(*words)) == 0
    size = job.rows * job.columns * job.outs
    ours = near[Y : Y + 4 * size].view(np.int32).reshape(job.rows, job.columns, job.outs).astype(np.int64)
    top, right, bottom, left = job.pads
    padded = np.pad(codes, ((top, bottom), (left, right), (0, 0)), constant_values=job.value)
    plain = np.zeros((job.rows, job.columns, job.outs), np.int64) + bias
    side = job.around + 1
    for tap in range(taps):
        at = padded[tap // side :, tap % side :][:: job.step, :: job.step][: job.rows, : job.columns]
        plain += at * weights[:, tap, 0] if job.mode is Mode.APART else at @ weights[:, tap].T
    return ours, plain


@pytest.mark.parametrize(
    "job",
    [
        Job(Mode.ONE, 7, 13, 33, 31), Job(Mode.ONE, 6, 6, 32, 32, signed=True), Job(Mode.ONE, 3, 4, 8, 5, step=2),
        Job(Mode.THREE, 6, 12, 28, 32), Job(Mode.THREE, 5, 7, 29, 3, (1, 1, 1, 1), signed=True),
        Job(Mode.THREE, 7, 6, 3, 4, (0, 1, 0, 1), bits=4), Job(Mode.THREE, 2, 2, 57, 32, (1, 0, 0, 0), bits=2),
        Job(Mode.APART, 8, 9, 28, 28, (1, 1, 1, 1)), Job(Mode.APART, 1, 6, 5, 5, (1, 0, 0, 0), bits=6, signed=True),
        Job(Mode.THREE, 4, 4, 8, 8, near=True),
    ],
)  # fmt: skip
def test_sums_are_plain_sums(unit: Any, job: Job) -> None:
    ours, plain = computed(unit, job)
    assert np.array_equal(ours, plain)


def test_right_and_lower_padding_is_zero_whatever_its_value(unit: Any) -> None:
    job = Job(Mode.THREE, 8, 8, 4, 4, (1, 1, 1, 1), value=-128, signed=True)
    ours, plain = computed(unit, job)
    assert np.array_equal(ours[:7, :7], plain[:7, :7])
    assert (ours[7] != plain[7]).any()
    assert (ours[:, 7] != plain[:, 7]).any()
    for size in (6, 12):  # with all of the last tile read, the value comes where that is six wide and high
        ours, plain = computed(unit, replace(job, rows=size, columns=size, reduced=False))
        assert np.array_equal(ours, plain)
    ours, plain = computed(unit, replace(job, reduced=False))
    assert not np.array_equal(ours, plain)


@pytest.mark.parametrize("mode", [Mode.THREE, Mode.APART])
@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 1, 1, 0), (1, 0, 1, 1), (1, 1, 0, 0)])
def test_padding_counted_from_a_full_square_has_its_value(unit: Any, mode: Mode, pads: tuple[int, ...]) -> None:
    top, right, bottom, left = pads
    for rows, columns in ((1, 8), (2, 7), (5, 6), (6, 1), (8, 3), (9, 13), (12, 10)):
        rows, columns = max(rows, top + bottom), max(columns, left + right)
        job = Job(mode, rows, columns, 5, 5, (top, right, bottom, left), -77, signed=True, reduced=False, widened=True)
        ours, plain = computed(unit, job, rows)
        assert np.array_equal(ours, plain)


def test_addresses_reach_the_near_memory_only(unit: Any) -> None:
    job = Job(Mode.ONE, 2, 2, 4, 4)
    first, _ = computed(unit, job)
    words = words_of(job, x=X + 0x1C000000)  # the low bits of a far pointer
    words[0] = 0
    memory(unit, "near_memory")[Y : Y + 64] = 0
    assert unit.run_job((ctypes.c_uint32 * 24)(*words)) == 0
    again = memory(unit, "near_memory")[Y : Y + 64].view(np.int32).reshape(2, 2, 4)
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    ("word", "value", "why"),
    [
        (16, 6, "has no size"),
        (15, 40 << 16 | 4, "has no size"),
        (22, 1, "not played"),
        (20, 1 << 28, "padding of a single tap"),
    ],
)
def test_words_that_the_unit_does_not_take_end_the_program(fresh: Any, word: int, value: int, why: str) -> None:
    words = words_of(Job(Mode.ONE, 6, 6, 4, 4))
    words[word] = value
    assert fresh.run_job((ctypes.c_uint32 * 24)(*words)) == 1
    assert why in fresh.what_it_said().decode()


def test_two_jobs_at_once_a_pending_event_and_what_may_not_be_written(fresh: Any) -> None:
    seen = (ctypes.c_uint32 * 5)()
    assert fresh.two_jobs((ctypes.c_uint32 * 24)(*words_of(Job(Mode.ONE, 1, 1, 4, 4))), seen) == 0
    assert list(seen) == [0x101, 0xFFFFFFFF, 0x100, 0x100, 0]  # the first wait finds an event that was pending
    assert fresh.barrier() == 1
    assert "its event is in the mask at a barrier" in fresh.what_it_said().decode()
    assert fresh.soft_clear() == 1
    assert "may not be written" in fresh.what_it_said().decode()
