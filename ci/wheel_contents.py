"""The wheel must hold every file of the package, its platforms and its targets: an editable install hides what lacks.

python ci/wheel_contents.py build/wheel/tilewright-*.whl
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {"sdk/tilewright": "tilewright", "platforms": "tilewright/platforms", "targets": "tilewright/targets"}


def wanted() -> set[str]:
    """Every file below the three roots, by its name in the wheel."""
    names = set()
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
                names.add(f"{package}/{path.relative_to(ROOT / folder).as_posix()}")
    return names


def main(wheel: str) -> int:
    """Print what is missing and what is too much; 1 if there is any."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    missing, surplus = sorted(wanted() - held), sorted(held - wanted())
    for name in missing:
        print(f"missing from the wheel: {name} (setup.py names the endings that it takes)")
    for name in surplus:
        print(f"in the wheel, but not in the sources: {name}")
    if not missing and not surplus:
        print(f"{Path(wheel).name} holds all {len(held)} files of the package, its platforms and its targets")
    return 1 if missing or surplus else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
