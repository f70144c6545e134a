"""Names that build systems keep for themselves: a model may be called like one of them."""

from __future__ import annotations

_CMAKE_TARGETS = frozenset(
    "all all_build clean depend edit_cache experimental help install list_install_components nightly package "
    "package_source rebuild_cache run_tests test uninstall zero_check app zephyr kernel m c".split()
)


def cmake_name(model: str) -> str:
    """The model's name as that of a CMake target and package."""
    return f"{model}_network" if model.lower() in _CMAKE_TARGETS else model
