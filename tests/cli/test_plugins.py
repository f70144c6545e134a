"""Platforms are found by place and by entry point; what is broken or doubled is named and hides nothing else."""

import importlib.metadata
import sys
from pathlib import Path

import pytest
from tilewright import plugins
from tilewright.errors import PlatformError, UsageError
from tilewright.platform import KernelMethods, MemoryLevel, Platform
from tilewright.plugins import Platforms, Source, entry_point_sources, folder_sources, kernels_of


def made(name: str, inherits: str | None = None, kernels: int = 1) -> Platform:
    platform = Platform(name=name, summary=f"{name} in a test", memory=[MemoryLevel("ram")], inherits=inherits)
    for _ in range(kernels):

        @platform.kernel("Relu", types="f32 -> f32", template="relu.c.mako")
        class Relu(KernelMethods):
            """Relu."""

    return platform


def source(platform: object, name: str = "", origin: str = "acme 1.0") -> Source:
    return Source(name or getattr(platform, "name", ""), origin, lambda: platform)


def fails() -> object:
    raise ImportError("No module named 'acme_dma'")


def leaves() -> object:
    raise SystemExit(3)


def test_a_folder_with_a_platform_file_is_a_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = tmp_path / "acme_house"
    for name in ("beta", "alpha", "no_platform"):
        (house / name).mkdir(parents=True)
    for file in (house, house / "alpha", house / "beta"):
        (file / "__init__.py").write_text("")
    text = "from tilewright.platform import Platform\nPLATFORM = Platform(name='{}', summary='', memory=())\n"
    for name in ("alpha", "beta"):
        (house / name / "platform.py").write_text(text.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    platforms = Platforms(folder_sources("acme_house"))
    assert list(platforms) == ["alpha", "beta"]
    assert "acme_house.alpha.platform" not in sys.modules, "nothing is imported before it is asked for"
    assert platforms["alpha"].name == "alpha"
    assert platforms["alpha"] is platforms["alpha"]
    assert platforms.origin("beta") == "folder platforms/beta"


def test_an_installed_distribution_publishes_a_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_rv32.py").write_text(
        "from tilewright.platform import Platform\nPLATFORM = Platform(name='acme-rv32', summary='', memory=())\n"
    )
    info = tmp_path / "acme_rv32-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rv32\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[tilewright.platforms]\nacme-rv32 = acme_rv32:PLATFORM\n")
    monkeypatch.syspath_prepend(tmp_path)
    [distribution] = importlib.metadata.distributions(path=[str(tmp_path)])
    platforms = Platforms(entry_point_sources(distribution.entry_points))
    assert platforms.origin("acme-rv32") == "acme-rv32 1.2"
    assert platforms["acme-rv32"].name == "acme-rv32"
    assert not platforms.problems()


def test_a_clash_names_both_distributions_and_hides_nothing_else() -> None:
    platforms = Platforms([source(made("acme")), source(made("acme"), origin="other 2.0"), source(made("fine"))])
    assert len(platforms) == 2
    with pytest.raises(PlatformError) as caught:
        platforms["acme"]
    assert str(caught.value) == (
        "two platforms are called 'acme': one comes from acme 1.0, the other from other 2.0; "
        "uninstall one of the two distributions"
    )
    assert platforms["fine"].name == "fine"
    assert list(platforms.problems()) == ["acme"]


def test_a_broken_platform_is_reported_and_the_others_work() -> None:
    platforms = Platforms(
        [
            Source("broken", "acme 1.0", fails),
            Source("leaver", "acme 1.0", leaves),
            source("text", "odd"),
            source(made("inner"), "outer"),
            source(made("orphan", inherits="nobody")),
            source(made("fine")),
        ]
    )
    assert {name: str(error) for name, error in platforms.problems().items()} == {
        "broken": (
            "platform 'broken' (acme 1.0) cannot be loaded: ImportError: No module named 'acme_dma'; "
            "fix the plug-in, or uninstall it"
        ),
        "leaver": "platform 'leaver' (acme 1.0) cannot be loaded: SystemExit: 3; fix the plug-in, or uninstall it",
        "odd": (
            "platform 'odd' (acme 1.0) cannot be loaded: a str stands where a Platform should; "
            "name the PLATFORM object in the entry point"
        ),
        "outer": (
            "platform 'outer' (acme 1.0) calls itself 'inner': its folder or entry point and its 'name' differ; "
            "give both the same name"
        ),
        "orphan": (
            "platform 'orphan' inherits from 'nobody': there is no platform 'nobody'; "
            "installed are broken, leaver, odd, outer, orphan, fine; install it, or correct 'inherits'"
        ),
    }
    assert "broken" in platforms


def test_own_kernels_come_before_inherited_ones() -> None:
    grand, parent, child = made("grand", kernels=2), made("parent", "grand", 1), made("child", "parent", 2)
    platforms = Platforms([source(grand), source(parent), source(child)])
    assert [kernel.platform for kernel in kernels_of(child, platforms)] == [
        "child", "child", "parent", "grand", "grand",
    ]  # fmt: skip
    assert len(kernels_of(grand, platforms)) == 2


def test_circles_are_refused() -> None:
    first, second, own = made("first", "second"), made("second", "first"), made("own", "own")
    platforms = Platforms([source(first), source(second), source(own)])
    with pytest.raises(PlatformError, match="'first' inherits from itself: first -> second -> first; let one of them"):
        kernels_of(first, platforms)
    with pytest.raises(PlatformError, match="own -> own"):
        kernels_of(own, platforms)


def test_an_unknown_platform_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "find_platforms", lambda: Platforms([source(made("generic")), source(made("pulp"))]))
    assert plugins.platform("pulp").name == "pulp"
    with pytest.raises(
        UsageError, match="there is no platform 'plup': installed are generic, pulp; did you mean 'pulp'"
    ):
        plugins.platform("plup")
    with pytest.raises(UsageError, match="see 'tilewright platforms'"):
        plugins.platform("zx81")


def test_a_name_that_is_not_there_is_a_key_error() -> None:
    platforms = Platforms([source(made("fine"))])
    assert platforms.get("other") is None
    assert "other" not in platforms
