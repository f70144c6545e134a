"""A state is taken as it was written or not at all; old code is not given out after a new tiling."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NetworkFiles
from tilewright.deployer import CodeGenVerbosity, NetworkDeployer, OrderError, TilerDeployerWrapper
from tilewright.errors import StateError, UsageError
from tilewright.options import CompileOptions
from tilewright.target import load_target

Find = Callable[[str], NetworkFiles]
Change = Callable[[dict[str, Any]], None]


def fresh(network: Find, name: str = "digits_int8", **options: Any) -> NetworkDeployer:
    return NetworkDeployer(network(name).model, load_target("host"), CompileOptions(**options))


@pytest.fixture(scope="module")
def exported(network: Find, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the state of a prepared network."""
    folder = tmp_path_factory.mktemp("state")
    deployer = fresh(network)
    deployer.prepare()
    deployer.export_state(folder, "digits")
    return folder


def rewritten(source: Path, folder: Path, change: Change, *, signed: bool = True) -> Path:
    """The state with its body changed, and the checksum that fits it unless `signed` is off."""
    document = json.loads((source / "digits.json").read_text())
    change(document["state"])
    if signed:
        text = json.dumps(document["state"], sort_keys=True)
        document["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    for file in source.glob("*.npz"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "digits.json").write_text(json.dumps(document))
    return folder


def nothing(body: dict[str, Any]) -> None:
    """Leaves the state as it is."""


def earlier(body: dict[str, Any]) -> None:
    """Says that no code had been generated: sound, but not what was written."""
    body["transformed"] = False


def test_a_state_that_was_written_anew_is_taken(network: Find, exported: Path, tmp_path: Path) -> None:
    deployer = fresh(network)
    deployer.import_state(rewritten(exported, tmp_path, nothing), "digits")
    assert deployer.prepared
    deployer.import_state(rewritten(exported, tmp_path, earlier), "digits")
    assert not deployer.prepared
    assert deployer.artifacts is None


def test_what_was_changed_without_its_checksum_is_refused(network: Find, exported: Path, tmp_path: Path) -> None:
    deployer = fresh(network)
    with pytest.raises(StateError, match="its checksum is wrong, it was changed or damaged"):
        deployer.import_state(rewritten(exported, tmp_path, earlier, signed=False), "digits")


def another_kernel(body: dict[str, Any]) -> None:
    body["decisions"]["kernels"]["conv0"] = "Magic"


def another_platform(body: dict[str, Any]) -> None:
    body["platform"] = "pulp"


def no_offset(body: dict[str, Any]) -> None:
    body["decisions"]["offsets"].popitem()


def one_place(body: dict[str, Any]) -> None:
    body["decisions"]["offsets"] = dict.fromkeys(body["decisions"]["offsets"], 0)


def other_arrays(body: dict[str, Any]) -> None:
    body["arrays"]["sha256"] = "0" * 64


def other_shape(body: dict[str, Any]) -> None:
    name = body["model"]["constants"][0]
    body["model"]["tensors"][name][1] = [1, *body["model"]["tensors"][name][1]]


def no_model(body: dict[str, Any]) -> None:
    del body["model"]


def unknown_operator(body: dict[str, Any]) -> None:
    body["model"]["nodes"][-1]["op"] = "Nonsense"


REFUSALS: list[tuple[Change, str]] = [
    (another_kernel, "node 'conv0' was bound to 'Magic' and is now bound to"),
    (another_platform, "it is of platform 'pulp', this is 'generic'"),
    (no_offset, "the memory map has no offset for"),
    (one_place, "the memory map is wrong"),
    (other_arrays, "the checksum of 'digits-.*' is wrong"),
    (other_shape, "ValueError: constant"),
    (no_model, "KeyError: 'model'"),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSALS, ids=[change.__name__ for change, _ in REFUSALS])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_refused_state_changes_nothing(
    network: Find, exported: Path, tmp_path: Path, change: Change, sentence: str, steps: int
) -> None:
    """Whatever the deployer held before, however late it is noticed that the state does not fit."""
    deployer = fresh(network)
    for step in (deployer.front_end, deployer.mid_end, deployer.back_end)[:steps]:
        step()
    before = dict(vars(deployer))
    with pytest.raises(StateError, match=sentence):
        deployer.import_state(rewritten(exported, tmp_path, change), "digits")
    after = dict(vars(deployer))
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


def test_an_error_that_is_no_refusal_changes_nothing_either(network: Find, exported: Path, tmp_path: Path) -> None:
    deployer = fresh(network)
    deployer.front_end()
    before = dict(vars(deployer))
    with pytest.raises(Exception, match="Nonsense"):
        deployer.import_state(rewritten(exported, tmp_path, unknown_operator), "digits")
    assert all(vars(deployer)[name] is before[name] for name in before)


def test_every_kind_of_value_survives(network: Find, tmp_path: Path) -> None:
    """Attributes of all types, clamps at infinity, quantisation along an axis."""
    for name in ("odd_several", "odd_unet_int8"):
        first, second = fresh(network, name), fresh(network, name)
        first.front_end()
        first.export_state(tmp_path, name)
        second.import_state(tmp_path, name)
        assert first.model is not None
        assert second.model is not None
        assert second.model.nodes == first.model.nodes
        assert second.model.tensors == first.model.tensors
        assert (second.model.inputs, second.model.outputs) == (first.model.inputs, first.model.outputs)
        for key, value in first.model.constants.items():
            assert np.array_equal(second.model.constants[key], value)
            assert second.model.constants[key].dtype == value.dtype


# ------------------------------------------------------------------------------------------------ old code
def test_code_of_an_old_tiling_is_not_given_out(network: Find) -> None:
    wrapper = TilerDeployerWrapper(fresh(network))
    wrapper.prepare()
    code = wrapper.generate_inference_code()
    solution, memory = wrapper.tiling_solution, wrapper.memory_map
    for given in ((), (solution, memory)):
        wrapper.tile(*given)
        with pytest.raises(OrderError, match="before generating code!"):
            wrapper.generate_inference_code()
        wrapper.back_end()
        assert wrapper.generate_inference_code() == code


def test_a_moved_buffer_reaches_the_code(network: Find) -> None:
    """A memory map by hand that is right but another one: the code has its offsets."""
    wrapper = TilerDeployerWrapper(fresh(network))
    wrapper.prepare()
    code = wrapper.generate_inference_code()
    (level,) = wrapper.memory_map
    further = {name: offset + 64 for name, offset in wrapper.memory_map[level].items()}
    wrapper.tile(wrapper.tiling_solution, {level: further})
    wrapper.back_end()
    assert wrapper.memory_map == {level: further}
    assert wrapper.generate_inference_code() != code
    assert wrapper.worst_case_buffer_size["ram"] >= max(further.values()) + 64


def test_binding_again_forgets_what_followed(network: Find) -> None:
    deployer = fresh(network)
    deployer.prepare()
    assert deployer.bind()
    assert (deployer.bound, deployer.transformed, deployer.prepared) == (True, False, False)
    with pytest.raises(OrderError, match="You need to bind the network before transforming code!"):
        deployer.code_transform()
    with pytest.raises(OrderError):
        _ = deployer.worst_case_buffer_size


def test_marks_are_of_the_kind_that_was_asked_for(network: Find) -> None:
    deployer = fresh(network)
    deployer.prepare()
    assert "#define DIGITS_INT8_TRACE" not in deployer.generate_function()
    layers = deployer.generate_function(CodeGenVerbosity(untiled_profiling=True))
    tiles = deployer.generate_function(CodeGenVerbosity(tiled_profiling=True))
    assert ("#define DIGITS_INT8_TRACE\n" in layers, "#define DIGITS_INT8_TRACE_TILES\n" in layers) == (True, False)
    assert "#define DIGITS_INT8_TRACE_TILES\n" in tiles


def test_a_name_without_a_folder_is_refused(network: Find, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belong together"):
        TilerDeployerWrapper(fresh(network), work_dir=tmp_path)
