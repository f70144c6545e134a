"""Check, compile and run three networks by the command line, in one process of the Python that is tried out.

python ci/main_path.py FOLDER   # which is emptied
"""

from __future__ import annotations

import shutil
import sys

from tilewright.cli import main

NETWORKS = ("digits", "digits_int8", "odd_transformer")


def command_lines(folder: str) -> list[list[str]]:
    """What is typed, network by network."""
    lines = []
    for name in NETWORKS:
        model, out = f"tests/models/{name}/model.onnx", f"{folder}/{name}"
        lines.append(["check", model, "-t", "host,qemu_mps2_an386", "-q"])
        lines += [[verb, model, "-t", "host", "-o", out, "-q"] for verb in ("compile", "run")]
    return lines


if __name__ == "__main__":
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    for words in command_lines(sys.argv[1]):
        if code := main(words):
            sys.exit(code)
