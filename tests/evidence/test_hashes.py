"""What an image is made of: the tool wherever it is installed, and the libraries that the linker read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tilewright
import tilewright.platforms
import tilewright.targets
from tilewright.evidence import hashes


def test_a_package_and_a_checkout_are_one_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package holds platforms and targets in itself; they count once."""
    for name in ("version.py", "platforms/generic/platform.py", "targets/host/target.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    apart = hashes.of_tool()
    monkeypatch.setattr(tilewright, "__path__", [str(tmp_path)])
    monkeypatch.setattr(tilewright.platforms, "__path__", [str(tmp_path / "platforms")])
    monkeypatch.setattr(tilewright.targets, "__path__", [str(tmp_path / "targets")])
    inside = hashes.of_tool()
    shutil.move(tmp_path / "platforms", tmp_path.parent / "beside_platforms")
    monkeypatch.setattr(tilewright.platforms, "__path__", [str(tmp_path.parent / "beside_platforms")])
    assert hashes.of_tool() == inside != apart


def test_libraries_are_those_that_the_linker_read(tmp_path: Path) -> None:
    library, own, image = tmp_path / "lib" / "libc.a", tmp_path / "work" / "net.o", tmp_path / "work" / "net.elf"
    for path in (library, own):
        path.parent.mkdir()
        path.write_text(path.name)
    image.with_suffix(".map").write_text(f"LOAD {own}\nLOAD {library}\nLOAD gone.a\nLOAD {library}\nOUTPUT(net.elf)\n")
    found = hashes.of_compiler("/bin/sh", "1", image, tmp_path)
    assert [one.name for one in found if one.name.endswith((".a", ".o"))] == ["libc.a"]
