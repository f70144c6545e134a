"""CMSIS-Packs: schema, the rules of packchk that hold for a pack of one component, and what the archive builds."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest
from conftest import NetworkFiles
from project.packing import assert_printed, compiled, on_zeros, pack, tool
from tilewright.cli import main

Network = Callable[[str], NetworkFiles]
CASES = {"stm32f407": ("digits_int8", []), "cortex-m55": ("odd_several", ["--weights", "bin"]), "host": ("digits", [])}
VERSION = re.compile(r"\d+\.\d+\.\d+")


def described(folder: Path) -> Path:
    (file,) = folder.glob("*.pdsc")
    return file


def faults(file: Path) -> Iterator[str]:
    """What packchk would say of a description and the files beside it."""
    text = file.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    words = {child.tag: (child.text or "").strip() for child in root}
    if file.name != f"{words['vendor']}.{words['name']}.pdsc":
        yield "the file is not called by vendor and name"
    if not words["description"] or len(words["description"]) > 256:
        yield "the description is empty or too long"
    if not words["url"].startswith("https://") or not words["url"].endswith("/"):
        yield "the address is no folder"
    releases = [release.get("version", "") for release in root.iterfind("releases/release")]
    if not releases or not all(map(VERSION.fullmatch, releases)) or releases != sorted(releases, reverse=True):
        yield "releases are not versions from the newest to the oldest"
    known = [condition.get("id") for condition in root.iterfind("conditions/condition")]
    used = {element.get("condition") for element in root.iter()} - {None}
    if sorted(map(str, known)) != sorted(map(str, used)):
        yield f"conditions {known} are not those that are used, {used}"
    described = {(d.get("Cclass"), d.get("Cgroup")) for d in root.iterfind("taxonomy/description")}
    names = list[str]()
    for component in root.iterfind("components/component"):
        if (component.get("Cclass"), component.get("Cgroup")) not in described:
            yield "a group is not described"
        if not VERSION.fullmatch(component.get("Cversion", "")):
            yield "a component has no version"
        names += [each.get("name", "") for each in component.iterfind("files/file")]
    present = {str(path.relative_to(file.parent)) for path in file.parent.rglob("*")}
    for name in names:
        if "\\" in name or ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
            yield f"'{name}' leaves the pack"
        elif name not in present:
            yield f"'{name}' is not in the pack by this spelling"
    if len(set(names)) != len(names):
        yield "a file is named twice"


@pytest.fixture(params=CASES)
def folder(request: pytest.FixtureRequest, network: Network, tmp_path: Path) -> Path:
    name, options = CASES[request.param]
    return pack(network(name).model, tmp_path / "network", *options, target=request.param)


def test_a_pack_keeps_the_rules_and_the_schema(folder: Path) -> None:
    file = described(folder)
    assert list(faults(file)) == []
    cores = {accept.get("Dcore") for accept in ElementTree.parse(file).iter("accept")} - {None}
    wanted: dict[str, set[str]] = {
        "odd_several": {"Cortex-M55"},
        "digits_int8": {"Cortex-M4", "Cortex-M7"},
        "digits": set(),
    }
    assert cores >= wanted[file.stem.split(".")[1]]
    assert "Cortex-M0" not in cores
    assert ('Tcompiler="IAR"' in file.read_text()) == ("_weights.S" not in file.read_text())
    schema = os.environ.get("TILEWRIGHT_PACK_SCHEMA")
    if schema is None:
        pytest.skip("PACK.xsd of Open-CMSIS-Pack-Spec is not at hand; TILEWRIGHT_PACK_SCHEMA names it")
    assert "validates" in tool("xmllint", "--noout", "--schema", schema, file)


def test_the_archive_builds_what_it_promises(network: Network, tmp_path: Path) -> None:
    files = network("odd_several")
    folder, work = pack(files.model, tmp_path / "network", "--weights", "bin"), tmp_path / "unpacked"
    (archive,) = folder.glob("*.pack")
    assert archive.name == "tilewright.odd_several.1.0.0.pack"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(work)
    named = list(ElementTree.parse(described(work)).iter("file"))
    assert {str(path.relative_to(work)) for path in work.rglob("*") if path.is_file()} == {
        *(str(one.get("name")) for one in named), described(work).name,
    }  # fmt: skip
    sources = [work / str(one.get("name")) for one in named if one.get("category") == "source"]
    paths = sorted({f"-I{(work / str(one.get('name'))).parent}" for one in named if one.get("category") == "header"})
    tool("gcc", "-O1", *paths, *sources, "-o", work / "program", "-lm")
    assert_printed(tool(work / "program"), on_zeros(compiled(files.model)))
    again = pack(files.model, tmp_path / "again", "--weights", "bin")
    assert (again / archive.name).read_bytes() == archive.read_bytes()


def test_a_description_that_breaks_a_rule_is_seen(network: Network, tmp_path: Path) -> None:
    file = described(pack(network("digits_int8").model, tmp_path / "network", target="stm32f407"))
    text = file.read_text()
    for old, new, fault in (
        ("<vendor>tilewright", "<vendor>Tilewright", "is not called by vendor and name"),
        ('id="Core"', 'id="core"', "are not those that are used"),
        ("src/digits_int8.c", "src/Digits_int8.c", "is not in the pack by this spelling"),
        ("src/digits_int8.h", "../digits_int8.h", "leaves the pack"),
        ('release version="1.0.0"', 'release version="1.0"', "releases are not versions"),
        ('Cversion="1.0.0"', 'Cversion=""', "a component has no version"),
        ("digits_int8/</url>", "digits_int8</url>", "the address is no folder"),
    ):
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))
        assert [one for one in faults(file) if fault in one], old


def test_code_for_other_cores_is_no_pack(network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compile", str(network("digits").model), "-t", "rv32imc", "-o", str(tmp_path / "out"), "-q", "--project"]
    assert main([*words, "cmsis-pack"]) == 3
    assert "its kernels are for cores that are not Arm's" in capsys.readouterr().err
    assert main([*words, "all"]) == 0
    assert not list((tmp_path / "out").glob("*.pdsc"))


def test_zephyr_takes_a_full_library_for_floats_alone(network: Network, tmp_path: Path) -> None:
    kconfiglib = pytest.importorskip("kconfiglib")
    libraries = """
config REQUIRES_FULL_LIBC
\tbool
choice LIBC_IMPLEMENTATION
\tprompt "C library"
\tdefault MINIMAL_LIBC
\tdefault NEWLIB_LIBC
config MINIMAL_LIBC
\tbool "minimal"
\tdepends on !REQUIRES_FULL_LIBC
config NEWLIB_LIBC
\tbool "newlib"
endchoice
"""
    for name, options, chosen in (("digits", [], "NEWLIB_LIBC"), ("digits_int8", ["--quantized-io"], "MINIMAL_LIBC")):
        folder = pack(network(name).model, tmp_path / name, *options)
        (tmp_path / "Kconfig").write_text(libraries + f'source "{folder}/zephyr/Kconfig"\n')
        parsed = kconfiglib.Kconfig(str(tmp_path / "Kconfig"), warn_to_stderr=False)
        parsed.load_config(str(folder / "examples" / "zephyr" / "prj.conf"))
        assert parsed.named_choices["LIBC_IMPLEMENTATION"].selection.name == chosen
