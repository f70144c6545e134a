"""What the test image needs to know of a generated project: its public header, read as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import UsageError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Interface:
    """Bytes of each input and output of a model.

    `has_init` says that it must be initialised, `takes_pointers` that inputs and outputs are the caller's memory.
    `blobs` are the bytes of weights that are loaded at run time, `state_bytes` live from call to call. `context`:
    every call takes an instance, whose first `arena_bytes` are the arena, a multiple of `align`. `kit` is the prefix of
    a bundle whose memory the network uses, empty where it has its own; of that memory `foreign_ram_bytes`, and of an
    assembler file with the constants of all `foreign_constant_bytes`, are of no use to this network.
    """

    model: str
    prefix: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    has_init: bool
    takes_pointers: bool = False
    blobs: tuple[int, ...] = ()
    context: bool = False
    arena_bytes: int = 0
    state_bytes: int = 0
    align: int = 1
    kit: str = ""
    foreign_ram_bytes: int = 0
    foreign_constant_bytes: int = 0
    streamed: tuple[tuple[int, int], ...] = ()

    @property
    def owner(self) -> str:
        """The prefix of arena and states."""
        return self.kit or self.model

    @property
    def trace_macro(self) -> str:
        """The macro under which the code calls the trace function."""
        return f"{self.model.upper()}_TRACE"


def read_interface(project: Path, model: str, kit: str = "") -> Interface:
    """Read `src/<model>.h`; UsageError where the folder is no project of that model.

    Where it is part of the bundle `kit`, arena and states are that one's.
    """
    if not _IDENTIFIER.fullmatch(model):
        raise UsageError(f"'{model}' is no model name", why="it is no C identifier")
    header = project / "src" / f"{model}.h"
    try:
        text = header.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{project} holds no project of the model '{model}'",
            why=f"{header} cannot be read",
            fix="compile the model into this folder first",
            file=str(header),
        ) from error
    prefix = model.upper() if _macro(text, f"{model.upper()}_INPUT_COUNT") is not None else model
    has_init = re.search(rf"\b{model}_init\s*\(\s*void\s*\)", text) is not None
    plain = rf"\b{model}_run\s*\(\s*(?:void|{model}_context \*context)\s*\)"
    takes_pointers = re.search(plain, text) is None
    context = re.search(rf"\b{model}_run\s*\(\s*{model}_context \*", text) is not None
    memory, owner = (text, prefix) if not kit else ((project / "src" / f"{kit}.h").read_text("utf-8"), kit.upper())
    inputs, outputs = (_bytes(text, prefix, kind, header) for kind in ("INPUT", "OUTPUT"))
    blobs = _bytes(text, prefix, "BLOB", header) if f"{prefix}_BLOB_COUNT" in text else ()

    def of_others(*words: str) -> int:
        macros = [(_macro(memory, f"{owner}_{word}") or 0) - (_macro(text, f"{prefix}_{word}") or 0) for word in words]
        return max(0, sum(macros)) if kit else 0

    in_assembler = (project / "src" / f"{kit}_weights.S").is_file()
    return Interface(
        model,
        prefix,
        inputs,
        outputs,
        has_init,
        takes_pointers,
        blobs,
        context,
        _macro(memory, f"{owner}_ARENA_BYTES") or 0,
        _macro(memory, f"{owner}_STATE_BYTES") or 0,
        _macro(memory, f"{owner}_ARENA_ALIGN") or 1,
        kit,
        of_others("ARENA_BYTES", "STATE_BYTES"),
        of_others("CONSTANT_BYTES") if in_assembler else 0,
        _streamed(text, prefix, len(inputs)),
    )


INSTANCE = "tw_instance"
"""The test image's instance of a network that takes one; its arena is the first member."""


def _streamed(text: str, prefix: str, inputs: int) -> tuple[tuple[int, int], ...]:
    """Rows and planes of every input that is handed over by rows; empty where none is."""
    sizes = [[_macro(text, f"{prefix}_INPUT_{i}_{word}") for word in ("ROWS", "PLANES")] for i in range(inputs)]
    return tuple((rows, planes) for rows, planes in sizes if rows is not None and planes is not None)


def instance_of(interface: Interface) -> str:
    """C for what a call that needs nothing else is given."""
    return f"&{INSTANCE}" if interface.context else ""


def caller_memory(parameter: str) -> str:
    """Symbol of the test image's memory for `input_0`, `output_0`, ... where the model takes pointers."""
    return f"tw_memory_{parameter}"


def _bytes(text: str, prefix: str, kind: str, header: Path) -> tuple[int, ...]:
    """The byte macros of all inputs or outputs."""
    count = _macro(text, f"{prefix}_{kind}_COUNT")
    sizes = [_macro(text, f"{prefix}_{kind}_{index}_BYTES") for index in range(count or 0)]
    if count is None or None in sizes:
        raise UsageError(
            f"{header} does not say the bytes of every {kind.lower()}",
            why=f"{prefix}_{kind}_COUNT or a {prefix}_{kind}_N_BYTES is no number",
            fix="compile the model again",
            file=str(header),
        )
    return tuple(size for size in sizes if size is not None)


def _macro(text: str, name: str) -> int | None:
    """Value of `#define name number`; None where it is missing or no number."""
    match = re.search(rf"^\s*#\s*define\s+{name}\s+\(?\s*(\d+)[uUlL]*\s*\)?\s*(?:/\*.*)?$", text, re.MULTILINE)
    return int(match[1]) if match else None


def glue_code(interface: Interface) -> str:
    """C that puts the model behind the plain names of the test image."""
    model = interface.model
    lines = [
        f"/* The model {model} behind the names that the test image uses. */",
        f'#include "{interface.owner}.h"',
        "#include <stdint.h>",
        '#include "harness.h"',
        "",
        f"void {model}_trace(int instruction, int phase);",
        f"void {model}_trace(int instruction, int phase) {{ tw_trace(instruction, phase); }}",
        *((f"{model}_context {INSTANCE};",) if interface.context else ()),
        *_initialise(interface),
        *_run(interface),
    ]
    return "\n".join(lines + index_code(interface)) + "\n"


def index_code(interface: Interface) -> list[str]:
    """C that finds inputs, outputs and state by number, where the model has them or the caller."""
    lines, model = list[str](), interface.model
    for kind, result, sizes in (("input", "void *", interface.inputs), ("output", "const void *", interface.outputs)):
        places = [
            f"&{caller_memory(f'{kind}_{i}')}"
            if interface.takes_pointers
            else f"{model}_{kind}_{i}({instance_of(interface)})"
            for i in range(len(sizes))
        ]
        lines.append(f"const uint32_t tw_{kind}_count = {len(sizes)}u;")
        lines += _switch(f"{result}tw_{kind}(uint32_t index)", places, "0")
        lines += _switch(f"uint32_t tw_{kind}_bytes(uint32_t index)", [f"{size}u" for size in sizes], "0u")
    state = f"{interface.owner}_state({', '.join([*filter(None, [instance_of(interface)]), '0'])})"
    lines.append(f"const uint32_t tw_state_bytes = {interface.state_bytes}u;")
    lines.append(f"const void *tw_state(void) {{ return {state if interface.state_bytes else '0'}; }}")
    return lines


def text_code(interface: Interface) -> str:
    """C that puts tokeniser and sampler behind the plain names of the test image."""
    model, upper = interface.model, interface.prefix
    return f"""
#include "text.h"
#include "{model}_text.h"
#if defined({upper}_BEGIN_TOKEN) && defined({upper}_END_TOKEN)
int tw_ends(int token) {{ return token == {upper}_BEGIN_TOKEN || token == {upper}_END_TOKEN; }}
#elif defined({upper}_BEGIN_TOKEN)
int tw_ends(int token) {{ return token == {upper}_BEGIN_TOKEN; }}
#elif defined({upper}_END_TOKEN)
int tw_ends(int token) {{ return token == {upper}_END_TOKEN; }}
#else
int tw_ends(int token) {{ (void)token; return 0; }}
#endif
int tw_encode(const char *text, uint16_t *tokens, int most) {{ return {model}_encode(text, tokens, most); }}
void tw_set(int token, int position) {{ {model}_feed(token, position); }}
const char *tw_piece(int previous, int token, uint32_t *size_bytes)
{{
    size_t size;
    const char *piece = {model}_piece(previous, token, &size);
    *size_bytes = (uint32_t)size;
    return piece;
}}
int tw_choose(float temperature, float top_p, uint32_t *random)
{{
    {model}_sampler sampler;
    int token;
    sampler.temperature = temperature;
    sampler.top_p = top_p;
    sampler.random = *random;
    token = {model}_choose({model}_scores(), &sampler);
    *random = sampler.random;
    return token;
}}
"""


def _initialise(interface: Interface) -> list[str]:
    """C that initialises the model and loads its weights from `blob_N.bin`; what is missing of a file stays zero."""
    first = f"{interface.model}_init()" if interface.has_init else "0"
    if interface.state_bytes:
        reset = f"{interface.owner}_reset({instance_of(interface)})"
        first = f"{first} != 0 ? -1 : {reset}" if interface.has_init else reset
    if not interface.blobs:
        return [f"int tw_init(void) {{ return {first}; }}"]
    given = f"{instance_of(interface)}, " if interface.context else ""
    lines = [
        f"static uint8_t tw_blob_{i}[{size}] __attribute__((aligned({interface.prefix}_BLOB_ALIGN)));"
        for i, size in enumerate(interface.blobs)
    ]
    lines += ["int tw_init(void)", "{", f"    int status = {first};", "    tw_file file;"]
    for i, size in enumerate(interface.blobs):
        lines += [
            f'    file = tw_open("blob_{i}.bin", 0);',
            "    if (status == 0 && file != 0) {",
            f"        int short_file = tw_read(file, tw_blob_{i}, {size}u) != 0;",
            f"        status = {interface.model}_load_weights({given}tw_blob_{i}, short_file ? 0u : {size}u);",
            "        tw_close(file);",
            "    }",
        ]
    return [*lines, "    return status;", "}"]


def _run(interface: Interface) -> list[str]:
    """What the test image calls: the model itself, or a function that hands it our memory."""
    if not interface.takes_pointers and not interface.context:
        return [f"int (*const tw_run)(void) = {interface.model}_run;"]
    if not interface.takes_pointers:
        call = f"{interface.model}_run({instance_of(interface)})"
        return [
            f"static int tw_instance_run(void) {{ return {call}; }}",
            "int (*const tw_run)(void) = tw_instance_run;",
        ]
    names = [f"input_{i}" for i in range(len(interface.inputs))]
    names += [f"output_{i}" for i in range(len(interface.outputs))]
    lines = [
        f"static union {{ uint8_t bytes[{max(size, 1)}]; uint64_t aligned; }} {caller_memory(name)};"
        for name, size in zip(names, interface.inputs + interface.outputs, strict=True)
    ]
    given = [instance_of(interface)] if interface.context else []
    sources = list[str]()
    places = [f"(void *)&{caller_memory(name)}" for name in names]
    if interface.streamed:
        lines += _ROWS
        for i, (size, (rows, planes)) in enumerate(zip(interface.inputs, interface.streamed, strict=True)):
            of_one = f"{interface.prefix}_INPUT_{i}"
            element = f"{of_one}_BYTES / {of_one}_ELEMENTS"
            sources.append(f"    struct tw_rows at_{i} = {{{places[i]}, 0, {rows}, {planes}, {size}, {element}}};")
            sources.append(f"    const tilewright_rows from_{i} = {{tw_next_rows, &at_{i}}};")
            places[i] = f"&from_{i}"
    call = f"    return {interface.model}_run({', '.join([*given, *places])});"
    return [
        *lines,
        "static int tw_hand_over(void)",
        "{",
        *sources,
        call,
        "}",
        "int (*const tw_run)(void) = tw_hand_over;",
    ]


_ROWS = [
    "struct tw_rows { const uint8_t *from; int row; int rows; int planes; int bytes; int element; };",
    "static void tw_next_rows(void *context, void *rows, int count)",
    "{",
    "    struct tw_rows *const source = context;",
    "    const int plane = source->bytes / source->planes, run = plane / source->rows, step = source->element;",
    "    uint8_t *to = rows;",
    "    for (; count > 0; count--, source->row++) {",
    "        for (int at = 0; at < run; at += step) {",
    "            for (int channel = 0; channel < source->planes; channel++) {",
    "                const uint8_t *const from = source->from + channel * plane + source->row * run + at;",
    "                for (int byte = 0; byte < step; byte++) {",
    "                    *to++ = from[byte];",
    "                }",
    "            }",
    "        }",
    "    }",
    "}",
]
"""C that hands over the rows of an input which lies in the model's own order, in planes, as pixels."""


def _switch(head: str, values: list[str], default: str) -> list[str]:
    """A C function that maps an index to a value."""
    cases = [f"    case {index}u: return {value};" for index, value in enumerate(values)]
    return [head, "{", "    switch (index) {", *cases, f"    default: return {default};", "    }", "}"]
