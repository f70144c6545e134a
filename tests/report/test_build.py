"""report.json: written to its schema, read back the same, and refused where it is damaged."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tilewright.report
from hypothesis import given
from hypothesis import strategies as st
from tilewright.errors import DoesNotFit, StateError
from tilewright.memory.needs import MemoryReport
from tilewright.report.build import Report, RunReport, dumps, load
from tilewright.report.envelope import Row, error_json, table_json

SAMPLE = Path(__file__).with_name("sample_report.json")
SCHEMA = json.loads(Path(tilewright.report.__file__).with_name("schema.json").read_text(encoding="utf-8"))


def valid(value: object) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(value, SCHEMA)


def plain() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return value


def test_what_is_written_is_read_back_the_same() -> None:
    report = load(SAMPLE)
    assert dumps(report.to_json()) == SAMPLE.read_text(encoding="utf-8")
    assert Report.from_json(report.to_json()) == report
    valid(report.to_json())


def test_the_contract_holds_key_by_key() -> None:
    value = load(SAMPLE).to_json()
    assert list(value) == [
        "schema", "tool", "toolchain", "model", "platform", "target", "memory", "passes", "layers", "run",
    ]  # fmt: skip
    assert value["schema"] == "tilewright/report/1"
    assert replace(load(SAMPLE), toolchain=None, run=None).to_json()["run"] is None


def test_a_folder_stands_for_its_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    assert load(tmp_path) == load(tmp_path / "report.json")


def test_every_byte_is_counted_once() -> None:
    with pytest.raises(ValueError, match="worst_case is 12, but its parts sum to 10"):
        MemoryReport(64, False, 12, 8, 8, "optimal", activations=8, io=2)
    with pytest.raises(ValueError, match="padding is negative"):
        MemoryReport(64, False, 7, 8, 8, "optimal", activations=8, padding=-1)
    level = MemoryReport(14, False, 14, 8, 8, "optimal", 1, 2, 3, 4, 0, 0, 0, 4)
    assert level.fits
    assert not replace(level, code=1).fits
    assert replace(level, size=None, code=1).fits


def test_an_error_that_is_not_finite_is_null() -> None:
    run = RunReport(False, float("inf"), None, 3, 10)
    value = replace(load(SAMPLE), run=run).to_json()
    assert value["run"] is not None
    valid(value)
    assert json.loads(dumps(value))["run"]["max_abs_error"] is None


def test_keys_of_a_newer_writer_are_ignored() -> None:
    value = plain()
    value["weather"] = "fine"
    value["memory"]["ram"]["colour"] = "blue"
    valid(value)
    assert Report.from_json(value) == load(SAMPLE)


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["schema"], "tilewright/report/2", "its schema is 'tilewright/report/2', this version reads"),
        (["layers", 1, "macs"], "many", "report.layers[1].macs is damaged: expected a whole number"),
        (["layers", 1, "macs"], True, "report.layers[1].macs is damaged: expected a whole number"),
        (["layers", 0], 3, "report.layers[0] is damaged: expected an object"),
        (["layers"], {}, "report.layers is damaged: expected a list"),
        (["memory"], [], "report.memory is damaged: expected an object"),
        (["memory", "ram", "status"], "good", "expected 'optimal' or 'gap'"),
        (
            ["memory", "ram", "worst_case"],
            1,
            "report.memory.ram is damaged: worst_case is 1, but its parts sum to 5536",
        ),
        (["run", "match"], 1, "report.run.match is damaged: expected true or false"),
        (["tool", "seconds", "total"], None, "report.tool.seconds.total is damaged: expected a number"),
        (["platform"], None, "report.platform is damaged: expected a text"),
    ],
)
def test_damage_is_named(keys: list[str | int], value: object, message: str) -> None:
    damaged = copy.deepcopy(plain())
    place: Any = damaged
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    with pytest.raises(StateError) as caught:
        Report.from_json(damaged)
    assert message in str(caught.value)
    assert "write it again with 'tilewright compile'" in str(caught.value)
    if keys[-1] != "worst_case":  # a schema cannot add
        with pytest.raises(jsonschema.ValidationError):
            valid(damaged)


def test_a_missing_key_is_named() -> None:
    value = plain()
    del value["model"]["sha256"]
    with pytest.raises(StateError, match=r"report\.model is damaged: 'sha256' is missing"):
        Report.from_json(value)


JSON_VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([]) | st.just({})
)


@given(st.data())
def test_whatever_is_changed_a_report_is_read_or_refused(data: st.DataObject) -> None:
    value = plain()
    place: Any = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(JSON_VALUES)
        break
    try:
        read = Report.from_json(value)
    except StateError:
        return
    assert dumps(read.to_json()).startswith("{")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"schema": NaN}'])
def test_a_file_that_is_no_json(tmp_path: Path, text: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StateError, match="is no report: it is not JSON"):
        load(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StateError) as caught:
        load(tmp_path)
    assert str(caught.value) == (
        f"there is no report at '{tmp_path}': No such file or directory; "
        "name a report.json or a folder that 'tilewright compile' wrote"
    )


def test_tables_and_errors_follow_the_schema() -> None:
    report = load(SAMPLE)
    error = DoesNotFit(
        "level 'ram' is too small", why="5,536 bytes are needed", fix="take more", smallest={"ram": 5536}
    )
    rows = [Row("host", report), Row("tiny", error=error), Row("host", report, strategy="greedy")]
    assert [row.fits for row in rows] == [True, False, True]
    valid(table_json(rows))
    first = rows[0].to_json()
    assert "layers" not in first
    assert first["fits"] is True
    valid(error_json(error, rows=rows, report=report))
    assert error_json(error) == {
        "schema": "tilewright/error/1",
        "code": 4,
        "what": "level 'ram' is too small",
        "where": {"node": "", "tensor": "", "file": "", "step": ""},
        "why": "5,536 bytes are needed",
        "fix": "take more",
        "smallest": {"ram": 5536},
        "given": {},
    }
