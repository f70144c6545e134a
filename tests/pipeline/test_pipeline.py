"""The pipeline: steps in order, dependencies that can be swapped, resources that are closed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tilewright.errors import DoesNotFit, UsageError
from tilewright.pipeline import Compiler, Depends, Provider


def seconds() -> float:
    raise NotImplementedError("override seconds with a number")


def test_steps_run_in_order_and_take_what_the_step_before_gave() -> None:
    compiler: Compiler[str] = Compiler()

    @compiler.step
    def load(text: str, *, times: int) -> tuple[str, int]:
        return text, times

    @compiler.step
    def repeat(text: str, times: int) -> str:
        return text * times

    @compiler.step
    def close(text: str, budget: float = Depends(seconds)) -> str:
        return f"{text} in {budget} s"

    compiler.dependency_overrides[seconds] = lambda: 0.5
    assert compiler.compile("ab", times=2) == "abab in 0.5 s"
    assert [step.name for step in compiler.steps] == ["load", "repeat", "close"]


def test_no_steps_give_none() -> None:
    assert Compiler[None]().compile(1, 2) is None


@pytest.mark.parametrize("value", [None, False, 0, [], ""])
def test_none_is_a_value_like_any_other(value: object) -> None:
    compiler: Compiler[list[object]] = Compiler()
    compiler.step(lambda _: value)
    compiler.step(lambda result: [result])
    assert compiler.compile("first") == [value]


def test_a_named_tuple_is_one_value() -> None:
    class Size(NamedTuple):
        level: str
        size_bytes: int

    compiler: Compiler[Size] = Compiler()
    compiler.step(lambda: Size("l1", 64))
    compiler.step(lambda size: size)
    assert compiler.compile() == Size("l1", 64)


def test_a_step_called_by_itself_resolves_its_dependencies() -> None:
    compiler: Compiler[float] = Compiler()

    @compiler.step
    def double(number: float, by: float = Depends(seconds)) -> float:
        """Twice is not enough."""
        return number * by

    assert double.name == "double"
    assert double.__doc__ == "Twice is not enough."
    compiler.dependency_overrides[seconds] = lambda: 3.0
    assert double(2.0) == 6.0
    assert double(2.0, 4.0) == double(2.0, by=4.0) == 8.0, "what is passed wins"


def test_a_dependency_is_made_once_for_each_compile() -> None:
    made: list[int] = []

    def clock() -> int:
        made.append(1)
        return len(made)

    def stopwatch(now: int = Depends(clock)) -> tuple[str, int]:
        return "stopwatch", now

    compiler: Compiler[Any] = Compiler()
    compiler.step(lambda value, now=Depends(clock): [value, now])
    compiler.step(lambda values, now=Depends(clock), watch=Depends(stopwatch): [*values, now, watch])
    assert compiler.compile("x") == ["x", 1, 1, ("stopwatch", 1)]
    assert compiler.compile("x") == ["x", 2, 2, ("stopwatch", 2)]


def test_overrides_are_looked_up_late_and_may_have_dependencies_of_their_own() -> None:
    def base() -> float:
        return 10.0

    def tenth(whole: float = Depends(base)) -> float:
        return whole / 10

    compiler: Compiler[float] = Compiler()
    compiler.step(lambda number, by=Depends(seconds): number * by)
    compiler.provider.override(seconds, tenth)
    assert compiler.compile(5) == 5.0
    compiler.dependency_overrides[base] = lambda: 20.0
    assert compiler.compile(5) == 10.0
    with compiler.provider.overriding({seconds: lambda: 7.0}):
        assert compiler.compile(1) == 7.0
    assert compiler.compile(5) == 10.0


def test_compilers_may_share_a_provider() -> None:
    shared = Provider()
    first, second = Compiler[float](provider=shared), Compiler[float](provider=shared)
    for compiler in (first, second):
        compiler.step(lambda by=Depends(seconds): by)
    first.dependency_overrides[seconds] = lambda: 1.5
    assert second.compile() == 1.5
    assert Compiler[None]().dependency_overrides == {}


def test_a_falsy_provider_is_still_the_one_given() -> None:
    class Empty(Provider):
        def __len__(self) -> int:
            return 0

    provider = Empty()
    assert Compiler[None](provider=provider).provider is provider


def resources(log: list[str]) -> tuple[Any, Any]:
    def device() -> Iterator[str]:
        log.append("open device")
        yield "device"
        log.append("close device")

    def stream(on: str = Depends(device)) -> Iterator[str]:
        log.append(f"open stream on {on}")
        yield "stream"
        log.append("close stream")

    return device, stream


def test_nested_resources_live_until_the_end_of_compile() -> None:
    log: list[str] = []
    device, stream = resources(log)
    compiler: Compiler[str] = Compiler()

    @compiler.step
    def first(value: str, on: str = Depends(stream)) -> str:
        log.append(f"first with {on}")
        return value

    @compiler.step
    def second(value: str, on: str = Depends(device)) -> str:
        log.append(f"second with {on}")
        return value

    assert compiler.compile("x") == "x"
    assert log == [
        "open device", "open stream on device", "first with stream", "second with device", "close stream",
        "close device",
    ]  # fmt: skip


def test_resources_are_closed_when_a_step_fails() -> None:
    log: list[str] = []
    _, stream = resources(log)
    compiler: Compiler[None] = Compiler()

    @compiler.step
    def fail(on: str = Depends(stream)) -> None:
        raise DoesNotFit("level 'l1' is too small", smallest={"l1": 4096})

    with pytest.raises(DoesNotFit):
        compiler.compile()
    assert log[-2:] == ["close stream", "close device"]


def test_a_failing_teardown_never_hides_the_error_of_a_step() -> None:
    def leaky() -> Iterator[int]:
        yield 1
        raise OSError("the file is gone")

    compiler: Compiler[int] = Compiler()
    compiler.step(lambda value, _=Depends(leaky): 1 // value)
    with pytest.raises(ZeroDivisionError) as hidden:
        compiler.compile(0)
    assert "and closing dependency 'leaky' failed: the file is gone" in hidden.value.__notes__
    with pytest.raises(OSError, match="the file is gone") as alone:
        compiler.compile(1)
    assert alone.value.__notes__ == ["while closing dependency 'leaky'"]


def test_an_error_names_its_step_and_keeps_its_class() -> None:
    compiler: Compiler[None] = Compiler()

    @compiler.step
    def tile(_: int) -> None:
        raise DoesNotFit("level 'l1' is too small", fix="give more", node="conv1", smallest={"l1": 4096})

    with pytest.raises(DoesNotFit) as caught:
        compiler.compile(1)
    error = caught.value
    assert str(error) == "level 'l1' is too small; give more"
    assert (error.code, error.smallest, error.where.node, error.where.step) == (4, {"l1": 4096}, "conv1", "tile")
    assert error.__notes__ == ["in step 'tile'"]


def test_an_error_in_a_dependency_names_both() -> None:
    def budget(number: float = Depends(seconds)) -> float:
        return number

    compiler: Compiler[float] = Compiler()

    @compiler.step
    def place(number: float = Depends(budget)) -> float:
        return number

    with pytest.raises(NotImplementedError, match="override seconds") as caught:
        compiler.compile()
    assert caught.value.__notes__ == ["in dependency 'seconds'", "in dependency 'budget'", "in step 'place'"]


def test_a_step_that_cannot_take_what_the_one_before_gives() -> None:
    compiler: Compiler[int] = Compiler()

    @compiler.step
    def load(name: str) -> tuple[str, int]:
        return name, 1

    @compiler.step
    def bind(name: str) -> int:
        return len(name)

    with pytest.raises(UsageError) as caught:
        compiler.compile("x")
    assert str(caught.value) == (
        "step 'bind' cannot take what step 'load' gives (str, int): too many positional arguments; "
        "let the one return what the other takes"
    )
    with pytest.raises(UsageError, match=r"step 'load' cannot take what the caller gives \(nothing\)"):
        compiler.compile()


def test_a_type_error_inside_a_step_stays_one() -> None:
    compiler: Compiler[int] = Compiler()
    compiler.step(lambda value: value + 1)
    with pytest.raises(TypeError, match="can only concatenate str") as caught:
        compiler.compile("x")
    assert caught.value.__notes__ == ["in step '<lambda>'"]


def test_circles_and_generators_that_yield_wrongly() -> None:
    def first(other: int = Depends(lambda: 0)) -> int:
        return other

    def second(other: int = Depends(first)) -> int:
        return other

    def silent() -> Iterator[int]:
        yield from ()

    def twice() -> Iterator[int]:
        yield 1
        yield 2

    def compiled(dependency: Any, **overrides: Any) -> object:
        compiler: Compiler[object] = Compiler()
        compiler.step(lambda value=Depends(dependency): value)
        compiler.dependency_overrides.update({first: overrides.get("first", first)})
        return compiler.compile()

    assert compiled(second) == 0
    with pytest.raises(UsageError, match="dependencies need one another: second -> second; let one of them"):
        compiled(second, first=second)
    with pytest.raises(UsageError, match="dependency 'silent' yields nothing"):
        compiled(silent)
    with pytest.raises(UsageError, match="dependency 'twice' yields twice: what follows the first yield is its"):
        compiled(twice)


def test_a_copy_takes_steps_of_a_users_own() -> None:
    compiler: Compiler[list[str]] = Compiler()

    @compiler.step
    def bind(model: list[str]) -> list[str]:
        return [*model, "bind"]

    @compiler.step
    def tile(graph: list[str]) -> list[str]:
        return [*graph, "tile"]

    def count(graph: list[str], now: float = Depends(seconds)) -> list[str]:
        return [*graph, f"count {now}"]

    mine = compiler.copy()
    mine.insert(count, after=bind.name)
    mine.dependency_overrides[seconds] = lambda: 1.0
    assert mine.compile([]) == ["bind", "count 1.0", "tile"]
    mine.replace("tile", lambda graph: [*graph, "tile by hand"])
    assert mine.compile([]) == ["bind", "count 1.0", "tile by hand"]
    assert compiler.compile([]) == ["bind", "tile"]
    compiler.insert(count, after=tile)
    compiler.dependency_overrides[seconds] = lambda: 2.0
    assert compiler.compile([]) == ["bind", "tile", "count 2.0"]
    with pytest.raises(UsageError, match="the pipeline has no step 'fuse': its steps are bind, tile, count; name one"):
        compiler.insert(count, after="fuse")


def test_a_copied_step_called_by_itself_asks_the_copys_provider() -> None:
    compiler: Compiler[float] = Compiler()

    @compiler.step
    def timed(value: float, now: float = Depends(seconds)) -> float:
        return value + now

    mine = compiler.copy()
    compiler.dependency_overrides[seconds] = lambda: 2.0
    mine.dependency_overrides[seconds] = lambda: 1.0
    assert mine.steps[0](10.0) == 11.0
    assert compiler.steps[0](10.0) == timed(10.0) == 12.0
    assert (mine.compile(10.0), compiler.compile(10.0)) == (11.0, 12.0)


def test_overrides_of_a_block_end_with_it() -> None:
    def never() -> float:
        raise AssertionError

    provider = Provider()
    provider.override(seconds, lambda: 1.0)
    compiler: Compiler[float] = Compiler(provider=provider)
    compiler.step(lambda now=Depends(seconds): now)
    with provider.overriding({seconds: lambda: 2.0, never: lambda: 3.0}):
        assert compiler.compile() == 2.0
    assert compiler.compile() == 1.0
    assert set(provider.dependency_overrides) == {seconds}, "what had no override before has none again"


def test_what_is_given_is_not_asked_for() -> None:
    compiler: Compiler[float] = Compiler()

    def never() -> float:
        raise AssertionError

    @compiler.step
    def given(value: float, now: float = Depends(never)) -> float:
        return value + now

    assert compiler.compile(1.0, 2.0) == 3.0
    assert compiler.compile(1.0, now=3.0) == 4.0


def test_resources_close_in_reverse_of_their_opening() -> None:
    told: list[str] = []

    def outer() -> Iterator[str]:
        yield "outer"
        told.append("outer")

    def inner(of: str = Depends(outer)) -> Iterator[str]:
        yield of + " inner"
        told.append("inner")

    compiler: Compiler[str] = Compiler()
    compiler.step(lambda value=Depends(inner): value)
    assert compiler.compile() == "outer inner"
    assert told == ["inner", "outer"]
