"""Completion for bash, zsh and fish, made from the command line itself: `eval "$(tilewright --completion bash)"`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Option:
    """One option: its spellings, what it takes ("" for nothing), and the values that are known."""

    names: tuple[str, ...]
    takes: str
    values: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Verb:
    """One verb; `values` are those of what stands without an option, empty for files."""

    name: str
    help: str
    options: tuple[Option, ...]
    values: tuple[str, ...] = ()


class Completion(argparse.Action):
    """Prints the script for a shell and ends, like `--version`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Write to standard output."""
        print(script(parser, str(values)), end="")
        parser.exit()


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The text that a shell reads; UsageError for a shell that is not known."""
    writers: Mapping[str, Callable[[Sequence[Verb]], Iterator[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in writers:
        raise UsageError(f"--completion {shell}", why="there is no such shell", fix="choose " + " or ".join(SHELLS))
    return "\n".join(writers[shell](verbs_of(parser))) + "\n"


def verbs_of(parser: argparse.ArgumentParser) -> tuple[Verb, ...]:
    """Every verb with its options."""
    from tilewright.plugins import find_platforms
    from tilewright.target import known_names

    known = {"TARGET": known_names(), "PLATFORM": tuple(find_platforms())}
    verbs = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, sub in action.choices.items():
                verbs.append(_verb(name, helps.get(name, ""), sub, known))
    return tuple(verbs)


def _verb(name: str, text: str, parser: argparse.ArgumentParser, known: Mapping[str, tuple[str, ...]]) -> Verb:
    options, values = list[Option](), tuple[str, ...]()
    for action in parser._actions:
        offered = tuple(map(str, action.choices)) if action.choices else _known(action, known)
        if action.option_strings:
            takes = "" if action.nargs == 0 else str(action.metavar or "VALUE")
            options.append(Option(tuple(action.option_strings), takes, offered if takes else (), action.help or ""))
        else:
            values = offered
    return Verb(name, text, tuple(options), values)


def _known(action: argparse.Action, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return known.get(str(action.metavar).removesuffix(",..."), ())


def _bash(verbs: Sequence[Verb]) -> Iterator[str]:
    names = " ".join(verb.name for verb in verbs)
    yield "_tilewright() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    local verb="${COMP_WORDS[1]}" head=""'
    yield "    COMPREPLY=()"
    yield '    [[ $word == *,* ]] && head="${word%,*},"'
    yield "    if ((COMP_CWORD == 1)); then"
    yield f'        COMPREPLY=($(compgen -W "{names} --help --version --completion" -- "$word"))'
    yield "        return"
    yield "    fi"
    yield '    case "$verb:$before" in'
    yield '    --completion:*) COMPREPLY=($(compgen -W "' + " ".join(SHELLS) + '" -- "$word")); return ;;'
    for verb in verbs:
        for option in verb.options:
            if option.takes:
                cases = " | ".join(f"{verb.name}:{name}" for name in option.names)
                offer = f'COMPREPLY=($(compgen -P "$head" -W "{" ".join(option.values)}" -- "${{word##*,}}")); '
                yield f"    {cases}) {offer if option.values else ''}return ;;"
    yield "    esac"
    yield '    case "$verb:$word" in'
    for verb in verbs:
        every = " ".join(name for option in verb.options for name in option.names)
        yield f'    {verb.name}:-*) COMPREPLY=($(compgen -W "{every}" -- "$word")) ;;'
        if verb.values:
            yield f'    {verb.name}:*) COMPREPLY=($(compgen -W "{" ".join(verb.values)}" -- "$word")) ;;'
    yield "    esac"
    yield "}"
    yield "complete -o default -F _tilewright tilewright"


def _zsh(verbs: Sequence[Verb]) -> Iterator[str]:
    yield "#compdef tilewright"
    yield "_tilewright() {"
    yield "    local -a verbs"
    yield "    verbs=("
    for verb in verbs:
        yield f"        '{verb.name}:{_quoted(verb.help)}'"
    yield "    )"
    yield "    if ((CURRENT == 2)); then"
    yield "        _describe verb verbs"
    yield "        return"
    yield "    fi"
    yield '    local verb="${words[2]}"'
    yield '    words=("${words[1]}" "${(@)words[3,-1]}")'
    yield "    ((CURRENT--))"
    yield '    case "$verb" in'
    for verb in verbs:
        yield f"    {verb.name})"
        yield "        _arguments \\"
        for option in verb.options:
            value = f":{_quoted(option.takes)}:{_zsh_values(option.values)}" if option.takes else ""
            for name in option.names:
                yield f"            '{name}[{_quoted(option.help)}]{value}' \\"
        yield f"            '*:file or name:{_zsh_values(verb.values)}'"
        yield "        ;;"
    yield "    esac"
    yield "}"
    yield "if [[ $funcstack[1] == _tilewright ]]; then _tilewright; else compdef _tilewright tilewright; fi"


def _zsh_values(values: Sequence[str]) -> str:
    return f"_values -s , name {' '.join(values)}" if values else "_files"


def _fish(verbs: Sequence[Verb]) -> Iterator[str]:
    yield "complete -c tilewright -n __fish_use_subcommand -f -l version -l help -d 'and end'"
    yield f"complete -c tilewright -n __fish_use_subcommand -x -l completion -a '{' '.join(SHELLS)}'"
    for verb in verbs:
        yield f"complete -c tilewright -n __fish_use_subcommand -f -a {verb.name} -d '{_quoted(verb.help)}'"
    for verb in verbs:
        seen = f"complete -c tilewright -n '__fish_seen_subcommand_from {verb.name}'"
        if verb.values:
            yield f"{seen} -f -a '{' '.join(verb.values)}'"
        for option in verb.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            takes = f" -x -a '{' '.join(option.values)}'" if option.values else " -r" if option.takes else ""
            yield f"{seen} {names}{takes} -d '{_quoted(option.help)}'"


def _quoted(text: str) -> str:
    """Text for a shell's single quotes, without what zsh takes for the end of a description."""
    return re.sub(r"[^A-Za-z0-9 ,.;/=|+-]", " ", text.replace("%%", "%")).strip()
