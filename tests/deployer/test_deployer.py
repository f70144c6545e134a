"""The deployer and its tiling wrapper: life cycle, order of steps, every public method, on the host."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import NetworkFiles
from tilewright.compile import compile_model, write
from tilewright.deployer import CodeGenVerbosity, NetworkDeployer, OrderError, TilerDeployerWrapper
from tilewright.errors import DoesNotFit, StateError, UnsupportedNode, UsageError
from tilewright.frontend.load import load
from tilewright.options import CompileOptions
from tilewright.target import load_target
from torch_modules import OURS

Find = Callable[[str], NetworkFiles]


@pytest.fixture
def deployer(network: Find) -> NetworkDeployer:
    return NetworkDeployer(network("digits_int8").model, load_target("host"))


@pytest.fixture
def wrapper(deployer: NetworkDeployer) -> TilerDeployerWrapper:
    return TilerDeployerWrapper(deployer)


def test_flags_follow_the_life_cycle(deployer: NetworkDeployer) -> None:
    flags = [(deployer.parsed, deployer.bound, deployer.transformed, deployer.prepared)]
    for step in (deployer.front_end, deployer.mid_end, deployer.back_end):
        step()
        flags.append((deployer.parsed, deployer.bound, deployer.transformed, deployer.prepared))
    assert flags == [(False,) * 4, (True, False, False, False), (True, True, False, False), (True, True, True, False)]
    deployer.prepare()
    assert deployer.prepared


ASKED = (
    CompileOptions(io="caller"), CompileOptions(optimize="size", quantized_io=True),
    CompileOptions(disabled_passes=frozenset({"overlap", "views", "pinning"})),
)  # fmt: skip


@pytest.mark.parametrize("board", ["host", "qemu_mps2_an386", "qemu_pulp"])
@pytest.mark.parametrize("name", OURS)
def test_the_code_is_that_of_compile(network: Find, name: str, board: str) -> None:
    """For every network by default, and for one further set of options each, so that all meet all targets."""
    source, target = network(name).model, load_target(board)
    for options in (CompileOptions(), ASKED[OURS.index(name) % len(ASKED)]):
        expected = compile_model(source, options, target)
        wrapper = TilerDeployerWrapper(NetworkDeployer(source, target, options))
        wrapper.prepare()
        for path in expected.artifacts.files:
            assert wrapper.made().text(path) == expected.artifacts.text(path), path
        assert wrapper.compiled().report.memory == expected.report.memory
        assert wrapper.generate_function() == expected.artifacts.text(f"src/{expected.plan.name}.c")


def test_generate_function_prepares_where_nobody_did(deployer: NetworkDeployer) -> None:
    assert "int digits_int8_run(void)" in deployer.generate_function()
    assert deployer.prepared


def test_every_step_asks_for_the_one_before(deployer: NetworkDeployer) -> None:
    with pytest.raises(OrderError, match="You need to lower the network before parsing it!"):
        deployer.parse()
    with pytest.raises(OrderError, match="You need to parse the network before binding!"):
        deployer.bind()
    with pytest.raises(OrderError, match="You need to bind the network before transforming code!"):
        deployer.code_transform()
    with pytest.raises(OrderError, match="You need to load the network before asking for its inputs!"):
        deployer.inputs()
    with pytest.raises(OrderError, match="You need to load the network before asking for its outputs!"):
        deployer.outputs()


GENERATORS = [
    "generate_inference_code", "generate_inference_initialization_code", "generate_buffer_initialization_code",
    "generate_buffer_allocation_code", "generate_buffer_deallocation_code", "generate_io_buffer_initialization_code",
    "generate_global_definition_code", "generate_include_string", "generate_engine_initialization_code",
    "number_of_ops", "compiled",
]  # fmt: skip


@pytest.mark.parametrize("name", GENERATORS)
def test_code_is_refused_before_binding(deployer: NetworkDeployer, name: str) -> None:
    with pytest.raises(OrderError, match="You need to parse and bind the network before generating code!") as caught:
        getattr(deployer, name)()
    assert caught.value.code == 2
    with pytest.raises(OrderError):
        _ = deployer.worst_case_buffer_size


def test_pieces_of_the_code(deployer: NetworkDeployer) -> None:
    deployer.prepare()
    assert deployer.generate_inference_code().startswith("int digits_int8_run(void)\n{")
    setup = deployer.generate_inference_initialization_code()
    assert "unsigned char digits_int8_arena[DIGITS_INT8_ARENA_BYTES];" in setup
    assert "int digits_int8_init(void *memory, size_t size_bytes)" in setup
    weights = re.search(r"extern const \w+ (digits_int8_c\d+\[72\]);", deployer.generate_buffer_initialization_code())
    assert weights is not None
    ports = deployer.generate_buffer_allocation_code()
    assert "float *digits_int8_input_0(void)\n{" in ports
    assert "float *digits_int8_output_0(void)\n{" in ports
    assert deployer.generate_buffer_deallocation_code() == ""
    declared = deployer.generate_io_buffer_initialization_code()
    assert "#define DIGITS_INT8_INPUT_0_BYTES 256" in declared
    assert "float *digits_int8_output_0(void);" in declared
    assert f"{weights[1]} = {{" in deployer.generate_global_definition_code()
    assert deployer.generate_include_string().splitlines()[0] == '#include "digits_int8.h"'
    assert deployer.generate_engine_initialization_code() == ""


def test_files_are_put_together_from_the_pieces(deployer: NetworkDeployer) -> None:
    deployer.prepare()
    code, header = (deployer.compiled().artifacts.files[f"src/digits_int8.{kind}"] for kind in "ch")
    assert deployer.generate_inference_initialization_code() in code
    assert deployer.generate_buffer_allocation_code() in code
    assert code.endswith("\n\n" + deployer.generate_inference_code())
    assert set(deployer.generate_include_string().splitlines()) <= set(code.splitlines())
    assert set(deployer.generate_io_buffer_initialization_code().splitlines()) <= set(header.splitlines())
    internal = deployer.compiled().artifacts.files["src/digits_int8_internal.h"]
    assert deployer.generate_buffer_initialization_code() in internal


def test_inputs_of_the_caller_have_no_functions(network: Find) -> None:
    deployer = NetworkDeployer(network("digits_int8").model, load_target("host"), CompileOptions(io="caller"))
    deployer.prepare()
    assert deployer.generate_buffer_allocation_code() == ""
    assert deployer.generate_io_buffer_initialization_code().count("(") == 0
    assert deployer.generate_inference_code().startswith("int digits_int8_run(const float *input_0, float *output_0)")


def test_a_platform_with_an_emitter_of_its_own_has_one_text(network: Find) -> None:
    deployer = NetworkDeployer(network("digits_int8").model, load_target("cuda_host"))
    deployer.prepare(CodeGenVerbosity(untiled_profiling=True))
    assert deployer.generate_function().startswith("#define DIGITS_INT8_TRACE\n/* digits_int8: ")
    assert deployer.generate_global_definition_code() == deployer.generate_inference_code() == ""


def test_operations_are_two_per_multiply_accumulate(
    deployer: NetworkDeployer, capsys: pytest.CaptureFixture[str]
) -> None:
    deployer.prepare()
    total = deployer.number_of_ops()
    assert capsys.readouterr().out == ""
    assert total == 2 * deployer.compiled().report.model.macs
    assert deployer.number_of_ops(verbose=True) == total
    lines = capsys.readouterr().out.splitlines()
    assert "conv0 (Conv): 9216" in lines
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == total


def test_worst_case_counts_inputs_and_outputs(network: Find) -> None:
    inside, outside = (
        NetworkDeployer(network("digits_int8").model, load_target("host"), CompileOptions(io=io))
        for io in ("arena", "caller")
    )
    for each in (inside, outside):
        each.prepare()
    assert inside.worst_case_buffer_size["ram"] == inside.compiled().report.memory["ram"].worst_case
    assert outside.placed is not None
    assert outside.worst_case_buffer_size["ram"] == outside.placed.arena_bytes + 256 + 40
    assert inside.worst_case_buffer_size["flash"] == inside.compiled().artifacts.constant_bytes


def test_worst_case_of_tiles_is_that_of_the_report(network: Find) -> None:
    deployer = TilerDeployerWrapper(NetworkDeployer(network("digits_int8").model, load_target("qemu_pulp")))
    deployer.prepare()
    memory = deployer.compiled().report.memory
    assert deployer.worst_case_buffer_size == {
        name: level.worst_case - (level.stack or 0) for name, level in memory.items()
    }


def test_inputs_and_outputs(deployer: NetworkDeployer) -> None:
    deployer.front_end()
    assert [(t.name, t.shape) for t in deployer.inputs()] == [("input", (1, 1, 8, 8))]
    assert [(t.name, t.shape) for t in deployer.outputs()] == [("output", (1, 10))]


def test_a_loaded_model_is_a_source_too(network: Find) -> None:
    model = load(network("digits_int8").model, name="mine")
    deployer = NetworkDeployer(model, load_target("host"))
    deployer.prepare()
    assert "int mine_run(void)" in deployer.generate_inference_code()
    assert deployer.lower(model).nodes == deployer.compiled().model.nodes


def test_channels_last_is_no_default(deployer: NetworkDeployer) -> None:
    deployer.front_end()
    assert deployer.parse(default_channels_first=True)
    with pytest.raises(UsageError, match="channels come first"):
        deployer.parse(default_channels_first=False)


def test_a_node_without_kernel_is_refused_while_parsing(deployer: NetworkDeployer) -> None:
    deployer.request = replace(deployer.request, kernels=())
    with pytest.raises(UnsupportedNode, match="platform 'generic' has no kernel for it"):
        deployer.front_end()
    assert not deployer.parsed


def test_bind_says_no_and_mid_end_says_why(deployer: NetworkDeployer) -> None:
    deployer.front_end()
    deployer.request = replace(deployer.request, kernels=())
    assert not deployer.bind()
    assert deployer.refusal is not None
    with pytest.raises(UnsupportedNode) as caught:
        deployer.mid_end()
    assert "Could not find a valid binding for the graph" in caught.value.__notes__


def test_profiling_code_compiles(deployer: NetworkDeployer, tmp_path: Path) -> None:
    deployer.prepare(CodeGenVerbosity(untiled_profiling=True, tiled_profiling=True))
    text = deployer.generate_function()
    assert text.startswith("#define DIGITS_INT8_TRACE\n#define DIGITS_INT8_TRACE_TILES\n")
    write(deployer.compiled(), tmp_path)
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "-Isrc", "src/digits_int8.c", "-o", "out.o"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert deployer.generate_function(CodeGenVerbosity(untiled_profiling=True)).startswith(
        "#define DIGITS_INT8_TRACE\n/"
    )


def test_the_wrapper_on_one_level_changes_nothing(
    wrapper: TilerDeployerWrapper, deployer: NetworkDeployer, network: Find
) -> None:
    plain = NetworkDeployer(network("digits_int8").model, load_target("host"))
    plain.prepare()
    wrapper.prepare()
    assert wrapper.artifacts == plain.artifacts
    assert wrapper.prepared
    assert wrapper.bound
    assert wrapper.worst_case_buffer_size == plain.worst_case_buffer_size
    assert wrapper.generate_function() == plain.generate_function()
    assert wrapper.tiling_solution == ()
    assert wrapper.tiler is not None
    assert wrapper.deployer is deployer


def test_wrappers_compose(wrapper: TilerDeployerWrapper) -> None:
    outer = TilerDeployerWrapper(wrapper)
    outer.prepare()
    assert outer.number_of_ops() == wrapper.number_of_ops() > 0
    assert [t.name for t in outer.inputs()] == ["input"]
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = outer.no_such_thing


def test_tile_asks_for_a_bound_network_and_for_both_or_none(wrapper: TilerDeployerWrapper) -> None:
    with pytest.raises(OrderError, match="You need to bind the network before tiling!"):
        wrapper.tile()
    wrapper.front_end()
    assert wrapper.bind()
    with pytest.raises(UsageError, match="both the tiling solution and the memory map"):
        wrapper.tile(tiling_solution=())
    with pytest.raises(UsageError, match="both the tiling solution and the memory map"):
        wrapper.tile(memory_map={})


def test_a_given_memory_map_is_checked(wrapper: TilerDeployerWrapper) -> None:
    wrapper.front_end()
    wrapper.bind()
    found = {level: dict(offsets) for level, offsets in wrapper.memory_map.items()}
    wrapper.tile((), found)
    assert {level: dict(offsets) for level, offsets in wrapper.memory_map.items()} == found
    wrapper.back_end()
    clash = {"ram": dict.fromkeys(found["ram"], 0)}
    with pytest.raises(UsageError, match="the memory map is wrong"):
        wrapper.tile((), clash)
    with pytest.raises(UsageError, match="no offset"):
        wrapper.tile((), {"ram": {}})


def test_test_name_and_work_dir_belong_together(deployer: NetworkDeployer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="belong together"):
        TilerDeployerWrapper(deployer, test_name="a")
    wrapper = TilerDeployerWrapper(deployer, test_name="digits", work_dir=tmp_path / "work")
    wrapper.prepare()
    assert (tmp_path / "work" / "digits.json").exists()


def test_the_deployer_refuses_what_compile_refuses(network: Find, tmp_path: Path) -> None:
    """A budget, a level that is too small for its constants, a state for larger levels: exit 4, or a state refused."""
    source, board = network("digits_int8").model, load_target("qemu_pulp")
    for options in (CompileOptions(budgets={"l1": 1024}), CompileOptions(level_sizes={"l2": 4096})):
        with pytest.raises(DoesNotFit):
            TilerDeployerWrapper(NetworkDeployer(source, board, options)).prepare()
    plain = NetworkDeployer(network("vww_int8").model, board)
    with pytest.raises(DoesNotFit, match="'l1' has 65536 bytes: the buffers of the network take"):
        plain.prepare()
    whole = TilerDeployerWrapper(NetworkDeployer(source, board))
    whole.prepare()
    whole.export_state(tmp_path, "whole")
    for sizes in ({"l1": 4096}, {"l2": 4096}):
        smaller = NetworkDeployer(source, board, CompileOptions(level_sizes=sizes))
        with pytest.raises(StateError, match="cannot be used"):
            smaller.import_state(tmp_path, "whole")
    with pytest.raises(StateError, match="it is of another model: sha256"):
        NetworkDeployer(network("odd_several").model, board).import_state(tmp_path, "whole")


def test_what_is_named_as_the_smallest_home_level_fits(network: Find) -> None:
    source, board = network("digits_int8").model, load_target("qemu_pulp")
    with pytest.raises(DoesNotFit) as caught:
        compile_model(source, CompileOptions(level_sizes={"l2": 1024}), board)
    enough = caught.value.smallest["l2"]
    assert compile_model(source, CompileOptions(level_sizes={"l2": enough}), board).placed.arena_bytes <= enough
    assert "'l2' has 1024 bytes" in str(caught.value)


def test_tiling_by_hand_stays_when_the_code_is_asked_for(network: Find) -> None:
    wrapper = TilerDeployerWrapper(NetworkDeployer(network("digits_int8").model, load_target("host")))
    wrapper.prepare()
    (level,) = wrapper.memory_map
    further = {name: offset + 64 for name, offset in wrapper.memory_map[level].items()}
    wrapper.tile(wrapper.tiling_solution, {level: further})
    assert not wrapper.prepared
    wrapper.generate_function()
    assert wrapper.prepared
    assert wrapper.memory_map == {level: further}
