"""A deployer's state on disk: whole or refused, and the same network afterwards."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.deployer import NetworkDeployer, OrderError
from tilewright.errors import StateError, UsageError
from tilewright.target import load_target

Find = Callable[[str], NetworkFiles]


def fresh(network: Find) -> NetworkDeployer:
    return NetworkDeployer(network("digits_int8").model, load_target("host"))


def test_a_prepared_network_comes_back(network: Find, tmp_path: Path) -> None:
    first, second = fresh(network), fresh(network)
    first.prepare()
    path = first.export_state(tmp_path, "digits")
    assert path == tmp_path / "digits.json"
    second.import_state(tmp_path, "digits")
    assert second.prepared
    assert second.artifacts == first.artifacts
    assert first.placed is not None
    assert second.placed is not None
    assert second.placed.slot_offsets == first.placed.slot_offsets
    assert second.worst_case_buffer_size == first.worst_case_buffer_size


@pytest.mark.parametrize("steps", [1, 2])
def test_a_state_goes_as_far_as_its_network(network: Find, tmp_path: Path, steps: int) -> None:
    first, second = fresh(network), fresh(network)
    for step in (first.front_end, first.mid_end)[:steps]:
        step()
    first.export_state(tmp_path, "digits")
    second.import_state(tmp_path, "digits")
    assert (second.parsed, second.bound, second.transformed) == (True, steps == 2, False)
    assert second.model is not None
    assert first.model is not None
    assert second.model.nodes == first.model.nodes
    second.prepare()
    assert second.generate_function() == first.generate_function()


def test_nothing_to_export_before_parsing(network: Find, tmp_path: Path) -> None:
    with pytest.raises(OrderError, match="You need to parse the network before exporting its state!"):
        fresh(network).export_state(tmp_path, "digits")


def test_a_second_export_replaces_the_first(network: Find, tmp_path: Path) -> None:
    deployer = fresh(network)
    deployer.front_end()
    deployer.export_state(tmp_path, "digits")
    before = (tmp_path / "digits.json").read_bytes()
    deployer.export_state(tmp_path, "digits")
    assert (tmp_path / "digits.json").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_names_of_states(network: Find, tmp_path: Path) -> None:
    deployer = fresh(network)
    deployer.front_end()
    with pytest.raises(UsageError, match="is no name for a state"):
        deployer.export_state(tmp_path, "../digits")
    with pytest.raises(StateError, match="cannot be read"):
        deployer.import_state(tmp_path, "nothing")


def test_every_damage_is_refused_and_changes_nothing(network: Find, tmp_path: Path) -> None:
    first, second = fresh(network), fresh(network)
    first.prepare()
    first.export_state(tmp_path, "digits")
    arrays = next(tmp_path.glob("*.npz"))
    draw = random.Random(4)
    for path in (tmp_path / "digits.json", arrays):
        sound = path.read_bytes()
        for _ in range(25):
            damaged = bytearray(sound)
            if draw.random() < 0.3:
                del damaged[draw.randrange(len(damaged)) :]
            else:
                place = draw.randrange(len(damaged))
                damaged[place] ^= 1 << draw.randrange(8)
            path.write_bytes(bytes(damaged))
            try:
                second.import_state(tmp_path, "digits")
            except StateError:
                assert not second.parsed
            else:  # a byte that means nothing: white space, the zip's own fields
                assert second.artifacts == first.artifacts
                second = fresh(network)
        path.write_bytes(sound)


def test_version_and_platform_are_said(network: Find, tmp_path: Path) -> None:
    deployer = fresh(network)
    deployer.front_end()
    path = deployer.export_state(tmp_path, "digits")
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "version": 99}))
    with pytest.raises(StateError, match="version 99, this is version 2"):
        deployer.import_state(tmp_path, "digits")
    path.write_text(json.dumps({"format": "other"}))
    with pytest.raises(StateError, match="no state of a deployer"):
        deployer.import_state(tmp_path, "digits")
    path.write_text(json.dumps(document))
    other = NetworkDeployer(network("digits_int8").model, load_target("qemu_mps2_an386"))
    with pytest.raises(StateError, match="it is of platform 'generic'"):
        other.import_state(tmp_path, "digits")
