"""A name of a stranger's model is text to every spreadsheet that opens our CSV files, and numbers stay numbers."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from tilewright.memory.csv_format import read_problem, read_solution, write_problem, write_solution
from tilewright.memory.problem import Buffer, PlacementProblem, PlacementSolution
from tilewright.report.build import load
from tilewright.report.csv_format import layers, memory, summary

SAMPLE = load(Path(__file__).with_name("sample_report.json"))
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1+1"]


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_text_in_every_file(name: str) -> None:
    layer = replace(SAMPLE.layers[0], name=name)
    level = SAMPLE.memory["ram"]
    buffers = tuple(replace(buffer, name=name) for buffer in level.buffers)
    report = replace(
        SAMPLE,
        model=replace(SAMPLE.model, name=name),
        layers=(layer,),
        memory={"ram": replace(level, buffers=buffers)},
    )
    for text, column in ((layers(report), "name"), (memory(report), "id"), (summary(report), "model")):
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert rows
        assert {row[column] for row in rows} == {"'" + name}


def test_a_carriage_return_begins_no_row() -> None:
    name = "conv\r=1+1\n=2+2"
    text = layers(replace(SAMPLE, layers=(replace(SAMPLE.layers[0], name=name),)))
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["name"], row["index"]) == (name, "0")


def test_numbers_and_plain_names_stay_as_they_are() -> None:
    report = replace(SAMPLE, layers=(replace(SAMPLE.layers[0], name="conv=1", macs=-5, max_abs_error=-0.5),))
    [row] = csv.DictReader(io.StringIO(layers(report)))
    assert (row["name"], row["macs"], row["max_abs_error"]) == ("conv=1", "-5", "-0.5")


@pytest.mark.parametrize("name", [*FORMULAS, "a\rb", "'quoted'", "'=quoted", "''=twice", "plain"])
def test_names_of_placement_problems_come_back(name: str) -> None:
    problem = PlacementProblem((Buffer(name, 0, 2, 16), Buffer("other", 1, 3, 8)))
    text = write_problem(problem)
    assert not text.splitlines()[1].startswith(tuple("=+-@"))
    assert read_problem(text) == problem
    solution = PlacementSolution({name: 0, "other": 16}, 24, 24, "csv")
    assert read_solution(problem, write_solution(problem, solution)).offsets == solution.offsets
