"""A tour of tilewright, top to bottom: what goes in, what every stage gives, what comes out. Read it as a tutorial."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tilewright
from conftest import NetworkFiles
from tilewright.errors import DoesNotFit, ModelError
from tilewright.plan.execute import run
from tilewright.report.explain import explain

Network = Callable[[str], NetworkFiles]


@pytest.fixture
def digits(network: Network) -> NetworkFiles:
    """A small CNN that reads handwritten digits; it ships with the tests."""
    return network("digits")


def compiled(files: NetworkFiles, **options: object) -> tilewright.Compiled:
    """Everything that follows starts with this one call."""
    chosen = tilewright.CompileOptions(**options)  # type: ignore[arg-type]
    return tilewright.compile_model(files.model, chosen, tilewright.load_target("host"))


def test_a_model_is_loaded_checked_and_folded(digits: NetworkFiles) -> None:
    stages = compiled(digits)
    assert [node.op for node in stages.loaded.nodes].count("Relu") > 0
    assert "Relu" not in [node.op for node in stages.model.nodes], "activations are fused into their producers"
    assert all(isinstance(size, int) for tensor in stages.model.tensors.values() for size in tensor.shape)


def test_every_node_gets_a_kernel_and_says_why(digits: NetworkFiles) -> None:
    stages = compiled(digits)
    assert {bound.kernel.name for bound in stages.bound.nodes if bound.kernel} >= {"ConvF32", "DenseF32"}
    text = explain(stages.bound)
    assert "takes ConvF32 of generic" in text
    assert "the kernel handles as many groups as channels" in text, "refusals are sentences"


def test_the_plan_is_a_list_of_instructions_over_slots(digits: NetworkFiles) -> None:
    plan = compiled(digits).plan
    assert [i.index for i in plan.instructions] == list(range(len(plan.instructions)))
    assert plan.slots[plan.input_slots[0]].tensor.shape == (1, 1, 8, 8)


def test_numpy_runs_the_plan_and_is_the_reference(digits: NetworkFiles) -> None:
    inputs, outputs = digits.arrays()
    plan = compiled(digits).plan
    (result,) = run(plan, [inputs[plan.slots[s].tensor.name] for s in plan.input_slots])
    np.testing.assert_allclose(result, outputs[plan.output_names[0]], atol=1e-5)


def test_every_byte_is_known_before_anything_is_built(digits: NetworkFiles) -> None:
    memory = compiled(digits).report.memory
    assert memory["ram"].worst_case == memory["ram"].lower_bound
    assert memory["ram"].status == "optimal"
    assert sum(memory["ram"].parts().values()) == memory["ram"].worst_case


def test_the_code_is_plain_c_and_the_same_every_time(digits: NetworkFiles) -> None:
    first, second = compiled(digits).artifacts, compiled(digits).artifacts
    assert first.files == second.files
    code = first.files["src/digits.c"]
    assert "int digits_run(void)" in code
    assert "malloc" not in code
    assert "printf" not in code


def test_it_runs_on_this_machine_and_matches(digits: NetworkFiles, tmp_path: Path) -> None:
    stages, target = compiled(digits), tilewright.load_target("host")
    tilewright.write(stages, tmp_path)
    asked = tilewright.RunOptions(inputs=digits.inputs, expect=digits.outputs, layers=True)
    report = tilewright.run_model(stages, target, asked, tmp_path)
    assert report.run is not None
    assert report.run.match
    assert all(layer.max_abs_error is not None for layer in report.layers), "every layer was compared"


def test_integers_are_equal_in_every_bit(network: Network, tmp_path: Path) -> None:
    files, target = network("digits_int8"), tilewright.load_target("host")
    stages = compiled(files, integer_only=True, quantized_io=True)
    tilewright.write(stages, tmp_path)
    report = tilewright.run_model(stages, target, tilewright.RunOptions(), tmp_path)
    assert report.run is not None
    assert (report.run.match, report.run.max_lsb_error) == (True, 0)


def test_what_does_not_fit_is_said_in_numbers(digits: NetworkFiles) -> None:
    from tilewright.report.blame import overflow

    report = compiled(digits, level_sizes={"ram": 1024}).report
    error = overflow(report, {})
    assert isinstance(error, DoesNotFit)
    assert error.smallest["ram"] == report.memory["ram"].worst_case


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(ModelError) as caught:
        tilewright.compile_model(broken, tilewright.CompileOptions(), tilewright.load_target("host"))
    assert "broken.onnx" in str(caught.value)
    assert caught.value.code == 3
