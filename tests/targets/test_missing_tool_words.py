"""A tool that Debian does not bring is named with the place where it is published."""

from __future__ import annotations

import pytest
from tilewright.errors import ToolMissing
from tilewright.run.tool import how_to_get, require_tools
from tilewright.target import load_target


def test_packages_and_addresses_are_told_apart() -> None:
    assert how_to_get(["gcc"]) == "install the Debian package 'gcc'"
    assert how_to_get(["a", "b"]) == "install the Debian packages 'a' and 'b'"
    assert how_to_get(["a", "https://x.org"]) == "install the Debian package 'a'; it is published at https://x.org"


def test_gvsoc_is_no_debian_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == "gvsoc" else f"/usr/bin/{name}")
    with pytest.raises(ToolMissing, match="gvsoc is not installed") as raised:
        require_tools(load_target("gvsoc_pulp_open"))
    assert raised.value.code == 6
    assert raised.value.fix == "it is published at https://github.com/gvsoc/gvsoc"
