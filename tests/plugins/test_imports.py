"""Every module can be the first that is imported: none relies on another that happened to be imported before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tilewright
import tilewright.platforms
from plugins import import_each
from tilewright.errors import PlatformError
from tilewright.platform import Platform
from tilewright.plugins import Platforms, Source, kernels_of

BEGIN = "import sys\nfrom tilewright.plugins import find_platforms\nplatform = find_platforms()['cortex_m']\n"
LOADED = "print([name for name in sys.modules if '.kernels' in name][:3])\n"


def lines_of(folder: Path, **packages: Path) -> list[str]:
    """What the script prints of these packages, which lie in the folder."""
    given = [f"{name.replace('__', '.')}={place}" for name, place in packages.items()]
    return subprocess.run(
        [sys.executable, import_each.__file__, *given], check=True, cwd=folder, text=True, capture_output=True,
        env={"PYTHONPATH": str(folder), "PATH": ""},
    ).stdout.splitlines()  # fmt: skip


def source(platform: Platform) -> Source:
    return Source(platform.name, "acme 1.0", lambda: platform)


def test_every_module_can_be_imported_first(tmp_path: Path) -> None:
    (sdk,), (platforms,) = tilewright.__path__, tilewright.platforms.__path__
    assert not lines_of(tmp_path, tilewright=Path(sdk), tilewright__platforms=Path(platforms))


def test_a_module_that_needs_another_before_it_is_named(tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text("")
    (house / "early.py").write_text("TWO = 2\n\nfrom house.late import ONE\n")
    (house / "late.py").write_text("from house.early import TWO\n\nONE = 1\n")
    (house / "outside.py").write_text("from house import early\n")
    (line,) = lines_of(tmp_path, house=house)
    assert line.startswith("house.late: ImportError: cannot import name 'ONE' from partially initialized module")


def test_a_module_that_cannot_be_imported_at_all_is_named(tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text("")
    (house / "lost.py").write_text("import house.absent\n")
    assert lines_of(tmp_path, house=house) == ["ModuleNotFoundError: No module named 'house.absent'"]


def test_kernels_are_imported_when_they_are_first_asked_for() -> None:
    script = BEGIN + LOADED + "platform.own_kernels()\n" + LOADED
    before, after = subprocess.run(
        [sys.executable, "-c", script], check=True, text=True, capture_output=True
    ).stdout.splitlines()
    assert before == "[]"
    assert "tilewright.platforms.cortex_m.kernels" in after


def test_kernels_that_cannot_be_imported_are_told_of_with_their_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / "broken_kernels"
    house.mkdir()
    (house / "__init__.py").write_text("")
    (house / "conv.py").write_text("import broken_kernels.absent\n")
    monkeypatch.syspath_prepend(tmp_path)
    made = Platform("broken", "", [], kernels="broken_kernels")
    child = Platform("child", "", [], inherits="broken")
    platforms = Platforms([source(made), source(child)])
    sentence = (
        "platform 'broken' (acme 1.0) cannot be loaded: ModuleNotFoundError: No module named "
        "'broken_kernels.absent'; fix the plug-in, or uninstall it"
    )
    with pytest.raises(PlatformError) as caught:
        kernels_of(child, platforms)
    assert str(caught.value) == sentence
    assert {name: str(error) for name, error in platforms.problems().items()} == dict.fromkeys(
        ("broken", "child"), sentence
    )
