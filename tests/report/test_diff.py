"""Two reports compared: what changed stands there with its growth, what did not is silent."""

import json
from dataclasses import replace
from pathlib import Path

from tilewright.memory.needs import MemoryReport
from tilewright.report.build import ToolReport, load
from tilewright.report.diff import Change, difference, render

OLD = load(Path(__file__).with_name("sample_report.json"))


def test_times_and_versions_are_no_difference() -> None:
    later = replace(OLD, tool=ToolReport("0.2.0", {"total": 9.0}))
    assert difference(OLD, later).empty
    assert render(difference(OLD, later)) == "nothing changed\n"


def test_level_by_level_and_layer_by_layer() -> None:
    ram = replace(OLD.memory["ram"], worst_case=4512, activations=4096, status="gap", lower_bound=4000)
    conv1 = replace(OLD.layers[0], kernel="ConvBlocked", tile=None, instructions=20500, copied_bytes={})
    assert OLD.run is not None
    new = replace(
        OLD,
        memory={"ram": ram, "l1": MemoryReport(None, False, 0, None, None, None)},
        layers=(conv1, *OLD.layers[2:]),
        run=replace(OLD.run, instructions=None, match=False),
        model=replace(OLD.model, macs=1),
    )
    found = difference(OLD, new)
    assert found.model == (Change("", "macs", 75648, 1),)
    assert found.memory == (
        Change("ram", "total", 5536, 4512),
        Change("ram", "worst_case", 5536, 4512),
        Change("ram", "activations", 5120, 4096),
        Change("ram", "lower_bound", 5376, 4000),
        Change("ram", "status", "optimal", "gap"),
    )
    assert [(change.of, change.what) for change in found.layers] == [
        ("conv1", "kernel"), ("conv1", "tile"), ("conv1", "copied_bytes"), ("conv1", "instructions"),
    ]  # fmt: skip
    assert found.run == (Change("", "match", True, False), Change("", "instructions", 120000, None))
    assert (found.added, found.removed) == (("level l1",), ("level flash", 'layer pool<1> "&"'))
    json.dumps(found.to_json(), allow_nan=False)
    assert found.to_json()["schema"] == "tilewright/diff/1"
    text = render(found)
    assert "ram     worst case     5,536  4,512  -1,024 (-18.5 %)" in text
    assert "conv1   instructions        41,000       20,500  -20,500 (-50.0 %)" in text
    assert "conv1   tile             oh=4 ow=8            -" in text
    assert 'only in the old report: layer pool<1> "&"' in text


def test_a_run_that_only_one_report_has() -> None:
    found = difference(replace(OLD, run=None), OLD)
    assert Change("", "match", None, True) in found.run


def test_layers_of_one_name_are_matched_in_order() -> None:
    first, second = replace(OLD.layers[0], macs=1), replace(OLD.layers[0], macs=2)
    twice = replace(OLD, layers=(first, second))
    changed = replace(OLD, layers=(first, replace(second, macs=3)))
    assert difference(twice, changed).layers == (Change("conv1 #2", "macs", 2, 3),)
