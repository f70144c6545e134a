"""Every command on these pages works as it stands there and prints what the page promises."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from follow_page import follow

ROOT = Path(__file__).parents[2]
NEEDS = {
    "tutorial": (), "errors": (), "memory_map": (), "into_your_build": ("cmake", "make"),
    "tiled_matmul": (),
    "pytorch": (),
    "regions": (),
    "decisions_file": (),
    "state": (),
    "tflite": (),
    "bundles": (),
    "backend": ("gcc",),
    "training": (),
    "language_model": (),
    "streaming": (),
}  # fmt: skip


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with this repository's networks and `tilewright` on the path, as the pages assume."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.mark.parametrize("page", NEEDS)
def test_a_page_is_followed(page: str, reader: Path) -> None:
    for tool in NEEDS[page]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    assert follow((ROOT / "docs" / f"{page}.md").read_text(), reader) == []


def test_the_ten_minutes_keep_their_promise(reader: Path) -> None:
    for package in ("torch", "onnxscript", "sklearn"):
        pytest.importorskip(package, reason=f"torch: {package} is not installed")
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    assert follow((ROOT / "docs" / "from_pytorch.md").read_text(), reader) == []
    assert "<svg" in (reader / "memory.html").read_text()


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("```sh\nfalse\n```\n", "false: exit 1, the page says 0"),
        ("```sh exit=3\ntrue\n```\n", "true: exit 0, the page says 3"),
        ("```sh\necho one\n```\n```text\ntwo\n```\n", "not printed: two"),
        ('```text title="a.txt"\nhello\n```\n```sh\ncat a.txt\n```\n```text\nhello\n```\n', ""),
    ],
)
def test_a_page_that_promises_too_much_is_found(page: str, fault: str, tmp_path: Path) -> None:
    faults = follow(page, tmp_path)
    assert [text.splitlines()[0] for text in faults] == ([fault] if fault else [])


def test_the_operators_page_is_that_of_the_registry() -> None:
    from operators_page import PAGE, page

    assert PAGE.read_text() == page(), "run python ci/operators_page.py"


def test_every_page_is_in_the_navigation() -> None:
    named = (ROOT / "mkdocs.yml").read_text()
    assert [page.name for page in (ROOT / "docs").glob("*.md") if page.name not in named] == []
