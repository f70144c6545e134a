"""The code of a network, piece by piece, and the words in which a step that comes too early is refused."""

from __future__ import annotations

from typing import TypeVar

from tilewright.codegen.artifacts import Artifacts
from tilewright.errors import UsageError

T = TypeVar("T")


class OrderError(UsageError):
    """A step of the deployer was asked for before the step that it needs."""


class GeneratedCode:
    """What can be taken out of a network whose code was generated."""

    artifacts: Artifacts | None
    parsed: bool
    bound: bool

    def generate_inference_code(self) -> str:
        """The function that runs one inference."""
        return self.made().parts.run

    def generate_inference_initialization_code(self) -> str:
        """Static memory and what sets it up."""
        return self.made().parts.memory

    def generate_buffer_initialization_code(self) -> str:
        """Forward declarations of every constant that the inference reads."""
        return self.made().parts.declarations

    def generate_buffer_allocation_code(self) -> str:
        """The functions that say where inputs and outputs lie; memory is static, nothing is allocated at run time."""
        return "\n".join(self.made().parts.ports)

    def generate_buffer_deallocation_code(self) -> str:
        """Nothing: memory is static. The network must be bound all the same."""
        self.made()
        return ""

    def generate_io_buffer_initialization_code(self) -> str:
        """Declarations of the inputs and outputs with their sizes, from the header."""
        return self.made().parts.port_declarations

    def generate_global_definition_code(self) -> str:
        """The definitions of all constants."""
        return self.made().text(self.made().parts.weights)

    def generate_include_string(self) -> str:
        """The include lines of the network's C file."""
        return self.made().parts.includes

    def generate_engine_initialization_code(self) -> str:
        """What must run once before the first inference: nothing, no platform has engines that are set up."""
        self.made()
        return ""

    def made(self) -> Artifacts:
        """The code; OrderError before it was generated."""
        return self.generating(self.artifacts)

    def generating(self, value: T | None) -> T:
        """A value that code is made of; OrderError where it is not there yet."""
        if not self.parsed or not self.bound or value is None:
            raise OrderError("You need to parse and bind the network before generating code!", fix="call prepare()")
        return value

    def needed(self, value: T | None, what: str, fix: str) -> T:
        """A value that an earlier step leaves; OrderError where it is not there yet."""
        if value is None:
            raise OrderError(f"You need to {what}!", fix=f"call {fix} first")
        return value
