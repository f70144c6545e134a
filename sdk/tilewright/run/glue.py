"""C that puts a generated network behind the plain names of the test image."""

from __future__ import annotations

from tilewright.codegen.interface import Interface

INSTANCE = "tw_instance"
"""The test image's instance of a network that takes one; its arena is the first member."""


def instance_of(interface: Interface) -> str:
    """C for what a call that needs nothing else is given."""
    return f"&{INSTANCE}" if interface.context else ""


def caller_memory(parameter: str) -> str:
    """Symbol of the test image's memory for `input_0`, `output_0`, ... where the model takes pointers."""
    return f"tw_memory_{parameter}"


def glue_code(interface: Interface, chunk: str = "") -> str:
    """C that puts the model behind the plain names of the test image; `chunk` is the network that reads prompts."""
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
        *(_either(interface, chunk) if chunk else _run(interface)),
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


def text_code(interface: Interface, *, chunks: bool = False) -> str:
    """C that puts tokeniser and sampler behind the plain names of the test image."""
    model, upper = interface.model, interface.upper
    first = _SET_CHUNK.format(model=model) if chunks else ""
    return f"""{first}
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


_SET_CHUNK = """
#include "{model}_text.h"
void tw_set_chunk(const uint16_t *tokens, int position)
{{
    {model}_feed_chunk(tokens, position);
    tw_of_chunk = 1;
}}
"""


def _either(interface: Interface, chunk: str) -> list[str]:
    """The network of one token, or that of several where its inputs were set."""
    return [
        "static int tw_of_chunk;",
        "static int tw_either(void)",
        "{",
        "    const int chunk = tw_of_chunk;",
        "    tw_of_chunk = 0;",
        f"    return chunk != 0 ? {chunk}_run() : {interface.model}_run();",
        "}",
        "int (*const tw_run)(void) = tw_either;",
    ]


def _initialise(interface: Interface) -> list[str]:
    """C that resets states and loads weights from `blob_N.bin`; what is missing of a file stays zero."""
    first = f"{interface.owner}_reset({instance_of(interface)})" if interface.state_bytes else "0"
    if not interface.blobs:
        return [f"int tw_init(void) {{ return {first}; }}"]
    given = f"{instance_of(interface)}, " if interface.context else ""
    lines = [
        f"static uint8_t tw_blob_{i}[{size}] __attribute__((aligned({interface.upper}_BLOB_ALIGN)));"
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
            of_one = f"{interface.upper}_INPUT_{i}"
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
