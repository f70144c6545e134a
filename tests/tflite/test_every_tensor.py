"""`--numerics tflm`: every tensor of codes inside of whole networks, and every state, against the wheel.

`tests/tflm_tensors.py` is told to compare any other file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, trained_folder
from tflite_files import streaming
from tflm_codes import lowered
from tflm_tensors import Channels, as_lowered, compared, held, over_calls

FORMS = {"lowered": as_lowered, "planned": lowered}
TENSORS = {"streaming.tflite": (8, 8, 8), "okay_nabu.tflite": (43, 31, 43), "vww_tinyengine.tflite": (57, 57, 62)}
"""Tensors of codes that are held as the file is lowered and as it is planned, and all that it computes: padded images
are part of their convolutions. Channels of which nothing depends are dropped as it is planned, the others compared."""


def content_of(name: str) -> bytes:
    """The bytes of a file, of our own or of others."""
    file = ROOT / "tests" / "models" / "tflite" / name
    file = file if file.exists() else trained_folder() / "tflite" / name
    if not file.exists():
        pytest.skip(f"trained models: no {name} in {Path(*file.parts[-3:-1])}; set TILEWRIGHT_MODELS")
    return file.read_bytes()


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("form", FORMS)
def test_no_code_of_any_tensor_differs(name: str, form: str) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    content = content_of(name)
    told = compared(content, FORMS[form](content), 1 if name.startswith("vww") else 6)
    assert told.differing == {}
    assert (told.tensors, told.computed) == (TENSORS[name][form == "planned"], TENSORS[name][2])


def test_every_tensor_of_a_network_is_recorded() -> None:
    """Sums that see order and value over five calls, as the wheel 0.dev20261023182759 gave them."""
    content = streaming()
    model, sums = as_lowered(content), dict[str, int]()
    for _, values in over_calls(content, model, 5, seed=5):
        for pair in held(content, model):
            codes = values[pair.ours].astype(np.int64).reshape(-1)
            sums[pair.ours] = sums.get(pair.ours, 0) + int((codes * (np.arange(codes.size) % 97 + 1)).sum())
    assert sums == RECORDED


def test_channels_that_are_left_are_those_of_the_file_in_their_order() -> None:
    """A channel of another order, one that is none of the file's, and one that is lost though it changes are told."""
    rng = np.random.default_rng(3)
    calls = [rng.integers(-128, 128, (1, 3, 3, 4)).astype(np.int8) for _ in range(3)]
    for codes in calls:
        codes[..., 2] = 5

    def told(places: list[int], shift: int = 0, asked: bool = True) -> int:
        channels = Channels(asked)
        for codes in calls:
            channels.see(codes[..., places] + np.int8(shift), codes, 3)
        return channels.differing()

    assert (told([0, 1, 3]), told([0, 1, 2])) == (0, 1)
    assert (told([0, 1]), told([0, 1], asked=False)) == (1, 0)
    assert told([1, 0], asked=False) == 1
    assert told([0, 1], 1, asked=False) == 2


RECORDED = {
    "RESHAPE_7/reshape": -66297,
    "frames": -28624,
    "frames/next": -28268,
    "t10/codes_first": 2755,
    "t13/channels_last_2": -66297,
    "t13/codes_first": -66297,
    "t18/codes": 351,
    "t19": 249,
    "t3/channels_first_2": -39620,
    "t3/codes": -42965,
}
