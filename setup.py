"""Finds the packages: three top-level folders make one import package, which pyproject.toml alone cannot say."""

from pathlib import Path

from setuptools import setup

ROOTS = {"tilewright": "sdk/tilewright", "tilewright.platforms": "platforms", "tilewright.targets": "targets"}


def packages() -> list[str]:
    """Every folder with an `__init__.py` below the three roots, by its import name."""
    found = []
    for name, folder in ROOTS.items():
        for init in sorted(Path(folder).rglob("__init__.py")):
            found.append(".".join((name, *init.parent.relative_to(folder).parts)))
    return found


DATA = ["**/*." + ending for ending in ("mako", "c", "h", "S", "ld", "toml", "json", "md", "cu", "cmake", "css", "js")]

setup(
    packages=packages(),
    package_dir=ROOTS,
    package_data={"tilewright": ["py.typed", *DATA], "tilewright.platforms": DATA, "tilewright.targets": DATA},
)
