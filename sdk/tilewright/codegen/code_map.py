"""Which part of the code file serves which instruction of the plan."""

from __future__ import annotations

from tilewright.codegen.artifacts import CodeMap, LayerSite, Parts
from tilewright.codegen.functions import Functions
from tilewright.codegen.network_text import NetworkText


def code_map(shown: NetworkText, parts: Parts, functions: Functions) -> CodeMap:
    """Which instruction each part of the code file serves."""
    words = [("input", port) for port in shown.inputs] + [("output", port) for port in shown.outputs]
    ports = {f"{shown.name}_{word}_{port.index}": text for (word, port), text in zip(words, parts.ports, strict=False)}
    called: dict[int, tuple[list[str], list[str]]] = {}
    for call in functions.calls:
        names, statements = called.setdefault(call.instruction.index, ([], []))
        if call.function:
            statements.append(call.text)
            names += _with_called(call.function, functions)
    for index, kernel in functions.kernels.items():  # the cores' functions at a sitting stand in its table alone
        called.setdefault(index, ([], []))[0].extend(_with_called(kernel, functions))
    sites = tuple(
        LayerSite(index, tuple(dict.fromkeys(names)), tuple(statements))
        for index, (names, statements) in sorted(called.items())
    )
    own = {text.name: text.text for text in functions.texts}
    return CodeMap(own, functions.source_texts, {**ports, f"{shown.name}_run": parts.run}, sites)


def _with_called(name: str, functions: Functions) -> list[str]:
    """A function of a layer with those that it calls: the kernels of a chain, the tiles of a loop."""
    texts = {text.name: text.text for text in functions.texts}
    calls = {counts.function: counts.names for counts in functions.counts}
    reached, waiting = list[str](), [name]
    while waiting:
        one = waiting.pop(0)
        if one in texts and one not in reached:
            reached.append(one)
            own = (names for function, names in calls.items() if function == one or function.startswith(f"{one}_"))
            waiting += sorted(set().union(*own))
    return reached
