"""Writes the shapes of the Python client: `python -m tests.clients.python.types_file`.

They come from the components of the OpenAPI document, one module for each tag of its operations;
what several tags use is in `shared`. A shape that requests hold takes more types (a `datetime`
beside its text) than one that answers hold.
"""

from __future__ import annotations

import keyword
import os
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import django

FOLDER: Final = Path(__file__).parents[3] / "clients/python/src/notify_client/types"
_RUFF: Final = Path(sys.prefix) / "bin" / "ruff"
_SHARED: Final = "shared"
_PAGE: Final = "PageQuery"
"""The query of each operation that has no other parameters than those of a page."""
_OF_A_PAGE: Final = {"cursor": "integer", "limit": "integer"}
_WIDTH: Final = 90
ALIASES: Final = {
    "push": "Channel",
    "P0": "Priority",
    "scheduled": "Status",
    "live": "Mode",
    "mon": "Weekday",
    "bounce": "Cause",
    "inbox:read": "TokenScope",
}
"""First word of an enumeration -> its name."""
_PARTS: Final = {"campaigns": ("DryRun", "dry_runs")}
"""Module of a tag -> the first letters of names that a second module has, and the second module."""
_HEAD: Final = '''"""{title}: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

'''

Schema = Mapping[str, Any]


class Writer:
    """Python's types for one OpenAPI document."""

    def __init__(self, document: Schema) -> None:
        self._shapes: Schema = document["components"]["schemas"]
        self._operations = [
            operation for path in document["paths"].values() for operation in path.values()
        ]
        self._asked: set[str] = set()
        self._enumerations: dict[str, list[str]] = {}
        self._tags: defaultdict[str, set[str]] = defaultdict(set)
        for operation in self._operations:
            self._walk(operation)
        for path in document.get("webhooks", {}).values():
            for operation in path.values():
                [content] = operation["requestBody"]["content"].values()
                self._reach(content["schema"], operation["tags"][0], asked=False)

    def modules(self) -> dict[str, str]:
        """Module -> its source, not formatted."""
        written: defaultdict[str, list[str]] = defaultdict(list)
        names: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._tags):
            if self._is_class(name):
                module = self._module(self._tags[name], name)
                written[module].append(self._class(name))
                names[module].append(_spelled(name))
        for operation in self._operations:
            query, name = self._query(operation), _query_name(operation)
            if query and name != _PAGE:
                module = self._module(set(operation["tags"]), name)
                written[module].append(query)
                names[module].append(name)
            elif query and _PAGE not in names[_SHARED]:
                written[_SHARED].append(query)
                names[_SHARED].append(_PAGE)
        words = sorted(self._enumerations.items())
        written[_SHARED][:0] = [
            f"{name} = Literal[{', '.join(map(repr, each))}]" for name, each in words
        ]
        names[_SHARED] += self._enumerations
        return self._sources(written, names)

    def _sources(
        self, written: Mapping[str, list[str]], names: Mapping[str, list[str]]
    ) -> dict[str, str]:
        made = {
            name: _HEAD.format(title=name.replace("_", " ").capitalize())
            + "\n".join(_import(each, names[each]) for each in _used_by(name))
            + "\n\n"
            + "\n\n\n".join(parts)
            + "\n"
            for name, parts in written.items()
        }
        lines = [
            _import(module, [f"{name} as {name}" for name in each])
            for module, each in sorted(names.items())
        ]
        made["__init__"] = (
            '"""The shapes of requests and answers, generated from the OpenAPI document."""\n\n'
            + "\n".join(lines)
        )
        return made

    def _module(self, tags: set[str], name: str) -> str:
        if len(tags) > 1:
            return _SHARED
        module = next(iter(tags)).lower()
        begin, part = _PARTS.get(module, ("", module))
        return part if name.startswith(begin) else module

    def _walk(self, operation: Schema) -> None:
        tag = operation["tags"][0]
        if tag == "Receipts":
            return  # providers' callbacks
        for content in operation.get("requestBody", {}).get("content", {}).values():
            self._reach(content["schema"], tag, asked=True)
        for response in operation["responses"].values():
            for content in response.get("content", {}).values():
                self._reach(content["schema"], tag, asked=False)

    def _reach(self, schema: Schema, tag: str, *, asked: bool) -> None:
        for name in _references(schema):
            if asked:
                self._asked.add(name)
            if tag not in self._tags[name]:
                self._tags[name].add(tag)
                self._reach(self._shapes[name], tag, asked=asked)

    def _is_class(self, name: str) -> bool:
        shape = self._shapes[name]
        return shape.get("type") == "object" and not name.endswith("Page")

    def _class(self, name: str) -> str:
        shape, required = self._shapes[name], self._shapes[name].get("required", [])
        lines = [f"class {_spelled(name)}(TypedDict):", *_said(shape.get("description", ""))]
        for field, schema in shape["properties"].items():
            type_ = self._type(schema, asked=name in self._asked)
            lines.append(f"    {field}: {type_ if field in required else f'NotRequired[{type_}]'}")
            lines += _said(schema.get("description", ""))
        return "\n".join(lines)

    def _query(self, operation: Schema) -> str:
        found = [each for each in operation.get("parameters", []) if each["in"] == "query"]
        if not found or any(keyword.iskeyword(each["name"]) for each in found):
            return ""
        name = _query_name(operation)
        lines = [f"class {name}(TypedDict, total=False):"]
        said = "a page of a list" if name == _PAGE else f"`{operation['operationId']}`"
        lines.append(f'    """Parameters of {said}."""\n')
        for each in found:
            lines.append(f"    {each['name']}: {self._type(each['schema'], asked=True)}")
            lines += _said(each["schema"].get("description", each.get("description", "")))
        return "\n".join(lines)

    def _type(self, schema: Schema, *, asked: bool) -> str:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            shape = self._shapes[name]
            return _spelled(name) if self._is_class(name) else self._type(shape, asked=asked)
        if "anyOf" in schema:
            return " | ".join(self._type(each, asked=asked) for each in schema["anyOf"])
        if "enum" in schema:
            return self._enumeration(schema["enum"])
        return self._plain(schema, asked=asked)

    def _plain(self, schema: Schema, *, asked: bool) -> str:
        match schema.get("type"):
            case "array":
                inner = self._type(schema["items"], asked=asked)
                return f"Sequence[{inner}]" if asked else f"list[{inner}]"
            case "object":
                further = schema.get("additionalProperties", True)
                inner = "Any" if further is True else self._type(further, asked=asked)
                return f"Mapping[str, {inner}]" if asked else f"dict[str, {inner}]"
            case "string":
                more = {"date-time": " | datetime", "uuid": " | UUID"}.get(schema.get("format", ""))
                return "str" + (more or "") if asked else "str"
            case None:
                return "Any"
            case name:
                return {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}[
                    name
                ]

    def _enumeration(self, words: list[str]) -> str:
        alias = ALIASES.get(words[0])
        if alias is None:
            return f"Literal[{', '.join(map(repr, words))}]"
        if self._enumerations.setdefault(alias, words) != words:
            raise ValueError(f"{alias} has different words: {words}")
        return alias


def _import(module: str, names: list[str]) -> str:
    return f"from notify_client.types.{module} import {', '.join(names)}"


def _used_by(module: str) -> list[str]:
    """Return the modules whose shapes a module may use."""
    whole = [tag for tag, (_, part) in _PARTS.items() if part == module]
    return whole + [_SHARED] * (module != _SHARED)


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _spelled(name: str) -> str:
    return name.removeprefix("Patched")


def _query_name(operation: Schema) -> str:
    found = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    if {each["name"]: each["schema"].get("type") for each in found} == _OF_A_PAGE:
        return _PAGE
    words: str = operation["operationId"]
    return words.title().replace("_", "") + "Query"


def _said(text: str) -> list[str]:
    """A docstring."""
    if not text:
        return []
    quoted = text.replace("\\", "\\\\")
    summary, _, rest = " ".join(quoted.split()).partition(". ")
    if not rest or len(summary) > _WIDTH:
        summary, rest = " ".join(quoted.split()), ""
    if not rest or len(f"{summary}. {rest}") <= _WIDTH:
        wrapped = textwrap.wrap(f"{summary}. {rest}" if rest else summary, _WIDTH)
    else:
        wrapped = [f"{summary}.", "", *textwrap.wrap(rest, _WIDTH)]
    lines = [f'    """{wrapped[0]}', *(f"    {line}".rstrip() for line in wrapped[1:])]
    if len(lines) == 1:
        return [f'{lines[0]}"""', ""]
    return [*lines, '    """', ""]


def sources() -> dict[str, str]:
    """Module -> its source, as the service's document wants it; formatted by ruff."""
    from notifications.core.api import schema  # noqa: PLC0415 - after Django is set up

    made = Writer(schema.document()).modules()
    return {f"{name}.py": formatted(text) for name, text in made.items()}


def formatted(text: str) -> str:
    """Source as the project's ruff writes it, without unused imports."""
    for command in (["check", "--quiet", "--fix", "--select=F401,I001"], ["format", "--quiet"]):
        text = subprocess.run(
            [_RUFF, *command, f"--stdin-filename={FOLDER}/types.py", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    made = sources()
    for stale in {path.name for path in FOLDER.glob("*.py")} - made.keys():
        (FOLDER / stale).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)
