"""Every command in the repository that installs or fetches a package, and the packages of each.

A command ends at a quote, a backtick, `&&`, `;`, `|`, `)`, `<`, `#` or the end of the line; a line
that ends with a backslash goes on. In a script a variable stands for each value that the script
gives the variable.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.architecture import repository
from tests.architecture.repository import ROOT

_TOOLS: Final = {
    "pip": r"(?:\bpip3?|-m pip) (?:install|download|wheel)",
    "python": r"\bpipx (?:install|run|inject)|\buv (?:add|pip install|tool install|tool run)|\buvx"
    r"|\bpoetry add|\bconda install",
    "npm": r"\bnpm (?:install|i|add|exec|x|pack|create|init)|\bnpx"
    r"|\byarn (?:global )?(?:add|dlx|create)|\bpnpm (?:install|i|add|dlx|create)"
    r"|\bbunx?(?: add| install| x)|\bdeno (?:add|install)",
    "npm ci": r"\bnpm ci",
    "apt": r"\bapt(?:-get)?(?: -\S+)* install|\bapk add|\bdnf install|\byum install",
    "image": r"\b(?:docker|podman) (?:pull|run|create)",
    "helm": r"\bhelm (?:install|upgrade|template)",
    "other": r"\bgo (?:install|get)|\bgem install|\bcargo (?:install|add)|\bbrew (?:install|tap)"
    r"|\bhelm (?:repo add|pull)|\bgit clone|\bcomposer require|\bdotnet add"
    r"|\bkrew install|\bsnap install|\bpre-commit autoupdate",
}
"""Kind -> the beginning of its commands."""
_COMMANDS: Final = {
    kind: re.compile(rf"({beginning})(?=[ \t]|$)([^\n]*)", re.MULTILINE)
    for kind, beginning in _TOOLS.items()
}
_END: Final = re.compile(r"&&|\|\||[`;|)<#]|\\n|…|\s--\s|\.(?=\s|$)|,(?=\s|$)|:(?=\s|$)")
_WORD: Final = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\S+')
_WITH_VALUE: Final = frozenset({
    *("--prefix", "--python", "--target", "--cache", "--index-url", "--progress-bar", "--name"),
    *("--only-binary", "--no-binary", "--loglevel", "-p", "-v", "-e", "--network", "-C"),
    *("--namespace", "--values", "--timeout"),
})
"""Options whose value is the next word."""
_REDIRECTION: Final = re.compile(r"\d?>|&>")
_ASSIGNED: Final = re.compile(r"""\b([a-z_]+)=(?:'([^'\n]*)'|"([^"\n]*)")""")
_SKIPPED: Final = (
    "tests/architecture/install_lines.py",
    "tests/architecture/test_install_lines.py",
)
_LOCKS: Final = ("-lock.txt", "package-lock.json")


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the words that are no options."""

    place: str
    """File and line."""
    kind: str
    text: str
    """Beginning and packages."""
    packages: tuple[str, ...]
    """Names, paths and variables."""
    options: tuple[str, ...]


def files() -> Iterator[tuple[str, str]]:
    """Yield path and text of every text file of the repository but the locks."""
    for name in repository.files():
        if name in _SKIPPED or name.endswith(_LOCKS):
            continue
        try:
            yield name, (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue


def commands(name: str, text: str) -> Iterator[Command]:
    """Yield the commands of a file."""
    plain = text
    if name.endswith((".html", ".md")):
        plain = html.unescape(re.sub(r"</?(?:code|kbd|b|em|strong)>", "`", plain))
    plain = re.sub(r"\\\n\s*", " ", plain)
    values = _values(text)
    for kind, pattern in _COMMANDS.items():
        for found in pattern.finditer(plain):
            line = plain.count("\n", 0, found.start()) + 1
            yield _command(f"{name}:{line}", kind, found, values)


def _values(text: str) -> dict[str, list[str]]:
    """Return the words of each value that a script gives to a variable."""
    values: dict[str, list[str]] = {}
    for variable, single, double in _ASSIGNED.findall(text):
        words = (single or double).split()
        values.setdefault(variable, []).extend(set(words) - {f"${variable}"})
    return values


def _command(place: str, kind: str, found: re.Match[str], values: dict[str, list[str]]) -> Command:
    words, options, takes_value = [], [], False
    for word in _words(found[2]):
        if takes_value or _REDIRECTION.match(word):
            takes_value = False
        elif word.startswith("-"):
            options.append(word)
            takes_value = word in _WITH_VALUE
        else:
            words.append(word)
    packages = [each for word in words for each in _expanded(word, values)]
    return Command(place, kind, " ".join([found[1], *packages]), tuple(packages), tuple(options))


def _words(rest: str) -> Iterator[str]:
    """Yield the words up to the end of the command; a quote without its pair is an end."""
    for word in _WORD.findall(rest):
        is_quoted = len(word) > 1 and word[0] in "\"'" and word[0] == word[-1]
        if is_quoted:
            yield word[1:-1]
            continue
        end = _END.search(f"{word} ")
        quote = min((at for mark in "\"'" if (at := word.find(mark)) >= 0), default=len(word))
        until = min(end.start() if end else len(word), quote)
        if word[:until].rstrip(".,:"):
            yield word[:until].rstrip(".,:")
        if until < len(word):
            return


def _expanded(word: str, values: dict[str, list[str]], depth: int = 0) -> Iterator[str]:
    variable = re.fullmatch(r"\$\{?([a-z_]+)\}?", word)
    if variable and variable[1] in values and depth < 2:
        for each in values[variable[1]]:
            yield from _expanded(each, values, depth + 1)
    else:
        yield word
