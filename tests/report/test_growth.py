"""What may grow from one report to the next: limits are read, held to the byte, and told as an error with code 4."""

from dataclasses import replace
from pathlib import Path

import pytest
from tilewright.cli import main
from tilewright.errors import UsageError
from tilewright.report.build import dumps, load
from tilewright.report.diff import difference
from tilewright.report.growth import figures, grown, parse_limits
from tilewright.report.markdown import difference_markdown

OLD = load(Path(__file__).with_name("sample_report.json"))
RAM = OLD.memory["ram"]


def grow(size: int) -> object:
    ram = replace(RAM, activations=RAM.activations + size, worst_case=RAM.worst_case + size)
    return replace(OLD, memory={**OLD.memory, "ram": ram})


@pytest.mark.parametrize(
    ("limit", "size", "fails"),
    [
        ("+2%", 110, False),
        ("+2%", 111, True),
        ("+64", 64, False),
        ("+64", 65, True),
        ("+0%", 0, False),
        ("+0", 1, True),
    ],
)
def test_a_limit_holds_to_the_byte(limit: str, size: int, fails: bool) -> None:
    assert RAM.total == 5536, "two per cent of it are 110.72"
    error = grown(OLD, grow(size), parse_limits(f"ram={limit}"))  # type: ignore[arg-type]
    assert (error is not None) == fails
    if error is not None:
        assert (error.code, error.why) == (4, f"ram from 5,536 to {5536 + size:,}, {limit} allowed")


@pytest.mark.parametrize("text", ["ram", "ram=2%", "ram=+2%%", "=+2%", "ram=+x", "ram=+-1", "ram=+2%,", "ram=+٢"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no limit"):
        parse_limits(text)


def test_unknown_figures_are_named() -> None:
    with pytest.raises(UsageError, match=r"no figure 'cycles'.*flash"):
        grown(OLD, OLD, parse_limits("cycles=+1%"))
    assert figures(OLD)["instructions"] == 120000


def test_markdown_escapes_names() -> None:
    evil = "a|b`<img src=x>[c](d)*_"
    layers = (replace(OLD.layers[0], name=evil), *OLD.layers[1:])
    new = replace(OLD, layers=(replace(layers[0], kernel="Other"), *layers[1:]))
    text = difference_markdown(OLD, new, difference(replace(OLD, layers=layers), new))
    assert r"a\|b\`\<img src=x\>\[c\](d)\*\_" in text
    assert "| ram | 5,536 | 5,536 | none |" in text


def test_the_command_exits_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, page = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "diff.html"
    old.write_text(dumps(OLD.to_json()), encoding="utf-8")
    new.write_text(dumps(grow(600).to_json()), encoding="utf-8")  # type: ignore[attr-defined]
    words = ["diff", str(old), str(new), "--fail-on"]
    assert main([*words, "ram=+20%,flash=+0", "--html", str(page)]) == 0
    assert main([*words, "ram=+2%", "--markdown"]) == 4
    told = capsys.readouterr()
    assert "| ram | 5,536 | 6,136 | +600 (+10.8 %) |" in told.out
    assert "ram from 5,536 to 6,136, +2% allowed" in told.err
    assert "before 5,536 B" in page.read_text(encoding="utf-8")
