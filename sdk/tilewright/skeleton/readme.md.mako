<%text>#</%text> The platform ${name}
A platform for tilewright in a distribution of its own: memories and kernels in `${name}/`, a target in `board/`.

    pip install -e .
    tilewright platforms
    tilewright conform ${name}
    tilewright run model.onnx -t board --explain
    pytest

What to change:

- `${name}/platform.py`: the memories of your chip.
- `${name}/kernels/`: one module and one template per kernel. Those not written here are inherited from `generic`.
- `board/target.toml`: compilers and flags, addresses, linker script, the command of a simulator. As written, the
  "board" is this machine.
