"""A helper or type in C has a name of its own: kernels of one network bring their headers into one file."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

FOLDERS = [Path(__file__).parents[2] / name for name in ("platforms", "sdk")]
DEFINED = re.compile(
    r"^(?:static|TILEWRIGHT_[A-Z_]+)[^;{}()=]*?\b(tilewright_\w+)\s*\(|^(?:\}|typedef [\w ]+) (tilewright_\w+);",
    re.MULTILINE,
)
ALTERNATIVES = (
    {"blocks_fpu.h", "blocks_f32.h"},
    {"code_blocks_dsp.h", "code_blocks.h"},
    {"coded_lstm_gates.h", "coded_lstm.h"},
    {"coded_lstm_dsp.h", "coded_lstm_mve.h", "coded_lstm_sums.h"},
    {"learnt_dsp.h", "learnt_blocks.h"},
    {"recurrent_fpu.h", "recurrent_mve.h", "recurrent_rvv.h"},
)
"""Headers of which a core has one: the same functions in other instructions."""


def test_no_two_headers_define_the_same_name() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for folder in FOLDERS:
        for header in folder.rglob("*.h"):
            for function, kind in DEFINED.findall(header.read_text(encoding="utf-8")):
                places[function or kind].add(header.name)
    assert len(places) > 300
    twice = {
        name: headers
        for name, headers in places.items()
        if len(headers) > 1 and not any(headers <= one_of for one_of in ALTERNATIVES)
    }
    assert twice == {}
