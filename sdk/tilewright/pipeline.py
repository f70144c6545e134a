"""A pipeline of functions, each from one frozen value to the next, whose dependencies can be swapped.

    compiler = Compiler()

    def solver_seconds() -> float:
        return 5.0

    @compiler.step
    def place(plan: ExecutionPlan, seconds: float = Depends(solver_seconds)) -> PlacedPlan: ...

    compiler.dependency_overrides[solver_seconds] = lambda: 0.5
    placed = compiler.compile(plan)

The first step takes the arguments of `compile`, each later one what the step before it returned (a plain tuple is
spread over its parameters; None is a value like any other). A dependency is called once per `compile`, when a step
first asks for it; one that is a generator gives what it yields and is resumed when `compile` ends, whether it ends
well or not, last opened first.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from tilewright.errors import TilewrightError, UsageError

__all__ = ["Compiler", "Depends", "Provider", "Step"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Function = Callable[..., Any]


@dataclass(frozen=True)
class Dependency:
    """A parameter's default that says where its value comes from; `Depends` makes it."""

    function: Function


def Depends(function: Callable[..., Any]) -> Any:
    """The default of a parameter that is not passed but taken from `function`, or from what overrides it."""
    return Dependency(function)


class Provider:
    """Where dependencies are looked up; several compilers may share one, and with it its overrides."""

    def __init__(self) -> None:
        self.dependency_overrides: dict[Function, Function] = {}

    def override(self, dependency: Function, replacement: Function) -> None:
        """From now on `replacement` is called wherever `dependency` is asked for."""
        self.dependency_overrides[dependency] = replacement

    @contextmanager
    def overriding(self, overrides: Mapping[Function, Function]) -> Iterator[None]:
        """Overrides that hold inside a `with` block only."""
        before = dict(self.dependency_overrides)
        self.dependency_overrides.update(overrides)
        try:
            yield
        finally:
            self.dependency_overrides.clear()
            self.dependency_overrides.update(before)


@dataclass
class _Scope:
    """The life of one `compile`: what was made for it, and what is to be closed when it ends."""

    provider: Provider
    stack: ExitStack
    made: dict[Function, Any] = field(default_factory=dict)
    making: list[Function] = field(default_factory=list)

    def call(self, function: Function, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Call a function; parameters that are not given and have a dependency are resolved."""
        signature = inspect.signature(function)
        bound = signature.bind_partial(*arguments, **named)
        missing = {
            name: parameter.default.function
            for name, parameter in signature.parameters.items()
            if isinstance(parameter.default, Dependency) and name not in bound.arguments
        }
        by_keyword = {name: self.resolve(dependency) for name, dependency in missing.items()}
        return function(*arguments, **named, **by_keyword)

    def resolve(self, dependency: Function) -> Any:
        """The one value of a dependency in this scope."""
        function = self.provider.dependency_overrides.get(dependency, dependency)
        if function in self.made:
            return self.made[function]
        if function in self.making:
            circle = " -> ".join(_name(f) for f in [*self.making[self.making.index(function) :], function])
            raise UsageError("dependencies need one another", why=circle, fix="let one of them stand alone")
        self.making.append(function)
        try:
            value = self.call(function, (), {})
            if isinstance(value, Generator):
                value = self.open(function, value)
        except Exception as error:
            error.add_note(f"in dependency '{_name(function)}'")
            raise
        finally:
            self.making.pop()
        self.made[function] = value
        return value

    def open(self, function: Function, generator: Generator[Any, None, None]) -> Any:
        """The value that a generator yields; it is resumed when the scope ends."""
        try:
            value = next(generator)
        except StopIteration:
            raise UsageError(
                f"dependency '{_name(function)}' yields nothing",
                why="a generator dependency hands over its value with yield",
            ) from None
        self.stack.push(functools.partial(_close, function, generator))
        return value


def _close(
    function: Function,
    generator: Generator[Any, None, None],
    _kind: type[BaseException] | None,
    error: BaseException | None,
    _trace: TracebackType | None,
) -> bool:
    """Resume a generator dependency once; a failure here is told, but never hides the error that came before it."""
    try:
        _finish(function, generator)
    except Exception as failure:
        if error is None:
            failure.add_note(f"while closing dependency '{_name(function)}'")
            raise
        error.add_note(f"and closing dependency '{_name(function)}' failed: {failure}")
    return False


def _finish(function: Function, generator: Generator[Any, None, None]) -> None:
    try:
        next(generator)
    except StopIteration:
        return
    generator.close()
    raise UsageError(f"dependency '{_name(function)}' yields twice", why="what follows the first yield is its teardown")


@dataclass(eq=False)
class Step(Generic[P, R]):
    """A function of a pipeline. Called by itself it resolves its dependencies too, for the time of that call."""

    function: Callable[P, R]
    provider: Provider

    def __post_init__(self) -> None:
        """Look like the function: name, docstring, signature."""
        functools.update_wrapper(self, self.function, updated=())

    @property
    def name(self) -> str:
        """The function's name."""
        return _name(self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, outside of any `compile`."""
        with ExitStack() as stack:
            result: R = _Scope(self.provider, stack).call(self.function, args, kwargs)
            return result


class Compiler(Generic[T]):
    """Steps in order, and the provider of their dependencies; `compile` gives what the last step returns."""

    def __init__(self, *, provider: Provider | None = None) -> None:
        self.provider = Provider() if provider is None else provider
        self.steps: list[Step[..., Any]] = []

    @property
    def dependency_overrides(self) -> dict[Function, Function]:
        """What is called instead of a dependency, by dependency; write to it to override."""
        return self.provider.dependency_overrides

    def step(self, function: Callable[P, R]) -> Step[P, R]:
        """Add a function at the end of the pipeline; a decorator."""
        step = Step(_function(function), self.provider)
        self.steps.append(step)
        return step

    def insert(self, function: Callable[P, R], *, after: Function | str) -> Step[P, R]:
        """Add a function behind the step `after`, a step, its function or its name."""
        step = Step(_function(function), self.provider)
        self.steps.insert(self._position(after) + 1, step)
        return step

    def replace(self, step: Function | str, function: Callable[P, R]) -> Step[P, R]:
        """Put a function in the place of a step."""
        new = Step(_function(function), self.provider)
        self.steps[self._position(step)] = new
        return new

    def copy(self) -> Compiler[T]:
        """A compiler with the same steps and overrides; what is changed in it stays in it."""
        other: Compiler[T] = Compiler()
        other.dependency_overrides.update(self.dependency_overrides)
        other.steps = [replace(step, provider=other.provider) for step in self.steps]
        return other

    def compile(self, *args: Any, **kwargs: Any) -> T:
        """Run the steps in order; an error carries the name of its step as a note and in `where.step`."""
        final: T = self._run(self.steps, args, kwargs)
        return final

    def part(self, first: Function | str | None, end: Function | str | None, *args: Any) -> Any:
        """Run the steps from `first` up to but not including `end`, with what the first of them takes.

        None is the first step, and the end of the pipeline. Dependencies live as long as this part.
        """
        start = 0 if first is None else self._position(first)
        stop = len(self.steps) if end is None else self._position(end)
        return self._run(self.steps[start:stop], args, {})

    def value(self, dependency: Callable[..., Any]) -> Any:
        """What a dependency gives outside of any `compile`, overrides regarded."""
        with ExitStack() as stack:
            return _Scope(self.provider, stack).resolve(dependency)

    def _run(self, steps: Sequence[Step[..., Any]], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        with ExitStack() as stack:
            scope = _Scope(self.provider, stack)
            result: Any = None
            before = "the caller"
            for index, step in enumerate(steps):
                if index:
                    args, kwargs = (result if type(result) is tuple else (result,)), {}
                with _naming(step.name):
                    _check_arguments(step, args, kwargs, before)
                    result = scope.call(step.function, args, kwargs)
                before = f"step '{step.name}'"
        return result

    def _position(self, wanted: Function | str) -> int:
        for index, step in enumerate(self.steps):
            if wanted in (step.name, step, step.function):
                return index
        name = wanted if isinstance(wanted, str) else _name(wanted)
        known = ", ".join(step.name for step in self.steps) or "none"
        raise UsageError(f"the pipeline has no step '{name}'", why=f"its steps are {known}", fix="name one of them")


@contextmanager
def _naming(step: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        error.add_note(f"in step '{step}'")
        if isinstance(error, TilewrightError) and not error.where.step:
            error.where = replace(error.where, step=step)
        raise


def _check_arguments(step: Step[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], before: str) -> None:
    try:
        inspect.signature(step.function).bind(*args, **kwargs)
    except TypeError as error:
        given = ", ".join([type(value).__name__ for value in args] + [f"{name}=" for name in kwargs]) or "nothing"
        raise UsageError(
            f"step '{step.name}' cannot take what {before} gives ({given})",
            why=str(error),
            fix="let the one return what the other takes",
        ) from error


def _function(function: Callable[P, R]) -> Callable[P, R]:
    return function.function if isinstance(function, Step) else function


def _name(function: Function) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
