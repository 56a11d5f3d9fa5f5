"""Shapes and operations of `docs/openapi.json`, for the generators of the Go and Java clients."""

from __future__ import annotations

import functools
import html
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tests.architecture.repository import ROOT
from tests.clients.python.types_file import ALIASES

Schema = Mapping[str, Any]
Name = Literal[
    "any", "bool", "float", "instant", "int", "list", "map", "shape", "text", "words", "file"
]
_PATCHED: Final = "Patched"
_SCHEMAS: Final = "#/components/schemas/"
_WRAPPED: Final = 92
"""Letters of a line of a comment, without the indentation."""
_FORMATS: Final[Mapping[str, Name]] = {"date-time": "instant"}
_PLAIN: Final[Mapping[str | None, Name]] = {
    None: "any",
    "boolean": "bool",
    "integer": "int",
    "number": "float",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a value."""

    name: Name
    of: str = ""
    """The name of a shape or of an enumeration."""
    inner: Kind | None = None
    """The type of the items of a list, or of the values of a map."""

    @property
    def item(self) -> Kind:
        """The inner type; `any` if the document names no type."""
        return self.inner or Kind("any")


@dataclass(frozen=True, slots=True)
class Field:
    """A property of a shape, or a parameter of a path or of a query."""

    name: str
    kind: Kind
    said: str
    is_required: bool
    is_nullable: bool

    @property
    def is_optional(self) -> bool:
        """True if the value can be absent or null."""
        return self.is_nullable or not self.is_required


@dataclass(frozen=True, slots=True)
class Shape:
    """An object of requests or responses, or the query of an operation."""

    name: str
    said: str
    fields: tuple[Field, ...]
    is_sent: bool
    """True if a request holds the shape."""
    is_read: bool
    """True if a response or a webhook holds the shape."""
    is_change: bool
    """True for the body of a PATCH, in which null differs from an absent field."""


@dataclass(frozen=True, slots=True)
class Words:
    """An enumeration without the empty word; later versions of the service may add words."""

    name: str
    said: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of a client."""

    name: str
    """The operation id."""
    method: str
    path: str
    said: str
    at: tuple[Field, ...]
    """The parameters of the path, in the order of the path."""
    query: Shape | None
    body: Kind | None
    """A shape, or a file."""
    answer: str
    """The name of the shape of the response; empty: no content."""
    has: str
    """The first field that each answer has: the JSON of a proxy lacks the field. Empty: no content.
    """
    item: str
    """The name of the shape of the items of a page; empty: the response is no page."""
    is_list: bool
    """True if a cursor leads from page to page."""
    takes_key: bool
    """True if the header Idempotency-Key belongs to the operation."""
    has_own_key: bool
    """True if the body can have an idempotency key."""


@dataclass(frozen=True, slots=True)
class Contract:
    """The parts of the document that producers' clients use."""

    words: tuple[Words, ...]
    shapes: tuple[Shape, ...]
    operations: tuple[Operation, ...]


class _Document:
    """Reads one document."""

    def __init__(self, document: Schema) -> None:
        self._schemas: Schema = document["components"]["schemas"]
        self._paths: Schema = document["paths"]
        self._webhooks: Schema = document["webhooks"]
        self._words: dict[str, Words] = {}
        self._read: set[str] = set()
        self._sent: set[str] = set()

    def contract(self) -> Contract:
        operations = tuple(
            self._operation(method, path, found)
            for path, methods in self._paths.items()
            for method, found in methods.items()
            if {"key": []} in found["security"]
        )
        for methods in self._webhooks.values():
            self._reach(methods["post"]["requestBody"], self._read)
        names = sorted(self._read | self._sent, key=_spelled)
        shapes = tuple(self._shape(name) for name in names)
        words = tuple(each for _, each in sorted(self._words.items()))
        return Contract(words, tuple(filter(None, shapes)), operations)

    def _operation(self, method: str, path: str, found: Schema) -> Operation:
        parameters = found.get("parameters", [])
        named = {each["name"]: each for each in parameters if each["in"] == "path"}
        at = tuple(self._parameter(named[name]) for name in re.findall(r"{(\w+)}", path))
        query = tuple(self._parameter(each) for each in parameters if each["in"] == "query")
        body, answer = self._body(found), self._answer(found)
        item = ""
        if answer.endswith("Page"):
            results = self._schemas[answer]["properties"]["results"]
            item = _last(results["items"]["$ref"])
        own = self._schemas[body.of]["properties"] if body and body.of else {}
        self._reach(found.get("requestBody"), self._sent)
        self._reach(found["responses"], self._read)
        return Operation(
            name=found["operationId"],
            method=method.upper(),
            path=path,
            said=found["description"],
            at=at,
            query=_query(found["operationId"], query),
            body=Kind("shape", _spelled(body.of)) if body and body.of else body,
            answer=_spelled(answer),
            has=self._first_field(answer),
            item=item,
            is_list=bool(item) and "cursor" in {each.name for each in query},
            takes_key=any(each["name"] == "Idempotency-Key" for each in parameters),
            has_own_key="idempotency_key" in own,
        )

    def _body(self, found: Schema) -> Kind | None:
        content = found.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            return Kind("shape", _last(content["application/json"]["schema"]["$ref"]))
        return Kind("file") if content else None

    def _answer(self, found: Schema) -> str:
        """Return the shape of the last success: 201 tells more than 200 where both are possible."""
        answers = [
            content["application/json"]["schema"]["$ref"]
            for status, response in sorted(found["responses"].items())
            if status.startswith("2") and (content := response.get("content"))
        ]
        return _last(answers[-1]) if answers else ""

    def _first_field(self, answer: str) -> str:
        if not answer:
            return ""
        found = self._schemas[answer]
        return next(str(each) for each in found["properties"] if each in found["required"])

    def _parameter(self, found: Schema) -> Field:
        said = found.get("description") or found["schema"].get("description", "")
        kind = self._kind(found["schema"])
        return Field(found["name"], kind, said, found.get("required", False), is_nullable=False)

    def _reach(self, place: object, into: set[str]) -> None:
        for name in _references(place):
            if name not in into:
                into.add(name)
                self._reach(self._schemas[name], into)

    def _shape(self, name: str) -> Shape | None:
        found = self._schemas[name]
        if "enum" in found:
            self._kind({"$ref": name})
            return None
        if name.endswith("Page"):
            return None
        required = found.get("required", [])
        fields = tuple(
            Field(
                each,
                self._kind(schema),
                schema.get("description", ""),
                each in required,
                {"type": "null"} in schema.get("anyOf", []),
            )
            for each, schema in found["properties"].items()
        )
        said = found["description"]
        return Shape(
            _spelled(name),
            said,
            fields,
            is_sent=name in self._sent,
            is_read=name in self._read,
            is_change=name.startswith(_PATCHED),
        )

    def _kind(self, schema: Schema) -> Kind:
        if "$ref" in schema:
            return self._named(_last(schema["$ref"]))
        if "anyOf" in schema:
            kinds = [each for each in schema["anyOf"] if each != {"type": "null"}]
            return self._kind(kinds[0]) if len(kinds) == 1 else Kind("any")
        if "enum" in schema and schema["enum"][0] in ALIASES:
            return self._enumeration(ALIASES[schema["enum"][0]], schema)
        return self._plain(schema)

    def _named(self, name: str) -> Kind:
        found = self._schemas[name]
        if "enum" in found:
            return self._enumeration(name, found)
        return Kind("shape", _spelled(name))

    def _plain(self, schema: Schema) -> Kind:
        match schema.get("type"):
            case "array":
                return Kind("list", inner=self._kind(schema["items"]))
            case "object":
                [further] = schema.get("patternProperties", {}).values() or [
                    schema.get("additionalProperties")
                ]
                return Kind("map", inner=self._kind(further) if isinstance(further, dict) else None)
            case "string":
                return Kind(_FORMATS.get(schema.get("format", ""), "text"))
            case other:
                return Kind(_PLAIN[other])

    def _enumeration(self, name: str, schema: Schema) -> Kind:
        values = tuple(each for each in schema["enum"] if each)
        words = Words(name, schema.get("description", ""), values)
        if self._words.setdefault(name, words).values != words.values:
            raise ValueError(f"{name} has different words: {words.values}")
        return Kind("words", name)


def _query(operation: str, fields: tuple[Field, ...]) -> Shape | None:
    if not fields:
        return None
    name = operation.title().replace("_", "") + "Query"
    said = f"The query of `{operation}`."
    return Shape(name, said, fields, is_sent=True, is_read=False, is_change=False)


def _references(place: object) -> Iterator[str]:
    if isinstance(place, dict):
        reference = place.get("$ref")
        if isinstance(reference, str) and reference.startswith(_SCHEMAS):
            yield _last(reference)
        for part in place.values():
            yield from _references(part)
    elif isinstance(place, list):
        for part in place:
            yield from _references(part)


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]


def _spelled(name: str) -> str:
    return name.removeprefix(_PATCHED)


def lines(said: str) -> list[str]:
    """Return the wrapped lines of a description; an empty line is between two paragraphs."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", said.strip()):
        found += [""] * bool(found)
        for item in re.split(r"\n(?=- )", paragraph):
            text = " ".join(item.split())
            found += textwrap.wrap(text, _WRAPPED, break_long_words=False, break_on_hyphens=False)
    return found


def javadoc(said: str) -> str:
    """Return a description in the HTML of a comment of Java."""
    parts = said.replace("*/", "* /").split("`")
    escaped = [html.escape(each, quote=False).replace("@", "&#64;") for each in parts]
    for at in range(1, len(parts), 2):
        is_simple = re.fullmatch(r"[^{}@\\]*", parts[at]) is not None
        escaped[at] = f"{{@code {parts[at]}}}" if is_simple else f"<code>{escaped[at]}</code>"
    return "".join(escaped).replace("\\", "&#92;")


@functools.cache
def contract() -> Contract:
    """Read the document that the repository holds."""
    return _Document(json.loads((ROOT / "docs" / "openapi.json").read_text())).contract()
