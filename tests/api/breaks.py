"""What of a new OpenAPI document would break a client that was written by the old one.

What a client sends must still be taken: nothing it may send is removed, narrowed or newly required.
What a client reads must still be there: nothing it relies on is removed, and nothing has a type,
status or word that it was not told of. An enumeration of problem codes may grow (the changelog of
the API says so).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Shape = Mapping[str, Any]

_LEAST: Final = ("minimum", "minLength", "minItems", "exclusiveMinimum")
_MOST: Final = ("maximum", "maxLength", "maxItems", "exclusiveMaximum", "maxProperties")
_EXACT: Final = ("pattern", "format", "const")
_DEEPEST: Final = 12
_MAY_GROW: Final = "ProblemDetails.code"


def breaks(old: Shape, new: Shape) -> list[str]:
    """Each break in a line: where it is, and what it is."""
    return list(dict.fromkeys(_Comparison(old, new).lines()))


class _Comparison:
    def __init__(self, old: Shape, new: Shape) -> None:
        self._old, self._new = old, new

    def lines(self) -> Iterator[str]:
        for path, operations in self._old["paths"].items():
            if path not in self._new["paths"]:
                yield f"{path}: removed"
                continue
            for method, was in operations.items():
                name = f"{method.upper()} {path}"
                now = self._new["paths"][path].get(method)
                if now is None:
                    yield f"{name}: removed"
                else:
                    yield from self._operation(name, was, now)

    def _operation(self, name: str, was: Shape, now: Shape) -> Iterator[str]:
        if was["operationId"] != now["operationId"]:
            yield f"{name}: operationId {was['operationId']} is {now['operationId']} now"
        if set(now.get("x-scopes", [])) - set(was.get("x-scopes", [])):
            yield f"{name}: needs another scope"
        yield from self._parameters(name, was, now)
        yield from self._request(f"{name} request", was, now)
        for status, answer in was["responses"].items():
            if status not in now["responses"]:
                yield f"{name}: status {status} removed"
                continue
            yield from self._answer(f"{name} {status}", answer, now["responses"][status])

    def _parameters(self, name: str, was: Shape, now: Shape) -> Iterator[str]:
        old = {(each["in"], each["name"]): each for each in was.get("parameters", [])}
        new = {(each["in"], each["name"]): each for each in now.get("parameters", [])}
        for key, parameter in old.items():
            if key not in new:
                yield f"{name}: parameter {key[1]} removed"
            else:
                place = f"{name} parameter {key[1]}"
                yield from self._sent(place, parameter["schema"], new[key]["schema"])
        for key, parameter in new.items():
            if parameter.get("required") and not old.get(key, {}).get("required"):
                yield f"{name}: parameter {key[1]} is required now"

    def _request(self, name: str, was: Shape, now: Shape) -> Iterator[str]:
        old, new = was.get("requestBody"), now.get("requestBody")
        if new and new.get("required") and not (old and old.get("required")):
            yield f"{name}: a body is required now"
        for media_type, content in (old or {}).get("content", {}).items():
            taken = (new or {}).get("content", {}).get(media_type)
            if taken is None:
                yield f"{name}: {media_type} removed"
            else:
                yield from self._sent(name, content["schema"], taken["schema"])

    def _answer(self, name: str, was: Shape, now: Shape) -> Iterator[str]:
        was, now = _resolved(self._old, was), _resolved(self._new, now)
        for header in set(was.get("headers", {})) - set(now.get("headers", {})):
            yield f"{name}: header {header} removed"
        for media_type, content in was.get("content", {}).items():
            given = now.get("content", {}).get(media_type)
            if given is None:
                yield f"{name}: {media_type} removed"
            else:
                yield from self._read(name, content["schema"], given["schema"])

    def _sent(self, place: str, was: Shape, now: Shape, depth: int = 0) -> Iterator[str]:
        """A shape that clients send: it must not become narrower."""
        place, was, now = self._both(place, was, now)
        yield from _narrower(place, was, now, "no longer taken")
        for field in set(now.get("required", [])) - set(was.get("required", [])):
            yield f"{place}.{field}: required now"
        for field, shape in was.get("properties", {}).items():
            inner = now.get("properties", {}).get(field)
            if inner is None:
                yield f"{place}.{field}: removed"
            elif depth < _DEEPEST:
                yield from self._sent(f"{place}.{field}", shape, inner, depth + 1)
        if "items" in was and "items" in now and depth < _DEEPEST:
            yield from self._sent(f"{place}[]", was["items"], now["items"], depth + 1)

    def _read(self, place: str, was: Shape, now: Shape, depth: int = 0) -> Iterator[str]:
        """A shape that clients read: it must not become wider, and keeps each field."""
        place, was, now = self._both(place, was, now)
        if not place.endswith(_MAY_GROW):
            yield from _narrower(place, now, was, "not known before")
        for field in set(was.get("enum", [])) - set(now.get("enum", was.get("enum", []))):
            yield f"{place}: {field!r} removed"
        for field in set(was.get("required", [])) - set(now.get("required", [])):
            yield f"{place}.{field}: no longer always there"
        for field, shape in was.get("properties", {}).items():
            inner = now.get("properties", {}).get(field)
            if inner is None:
                yield f"{place}.{field}: removed"
            elif depth < _DEEPEST:
                yield from self._read(f"{place}.{field}", shape, inner, depth + 1)
        if "items" in was and "items" in now and depth < _DEEPEST:
            yield from self._read(f"{place}[]", was["items"], now["items"], depth + 1)

    def _both(self, place: str, was: Shape, now: Shape) -> tuple[str, Shape, Shape]:
        """Both shapes without references; a shape with a name gives its name to the place."""
        named = [each["$ref"] for each in (was, *was.get("anyOf", [])) if "$ref" in each]
        name = named[0].rpartition("/")[2] if named else ""
        return name or place, _merged(self._old, was), _merged(self._new, now)


def _resolved(document: Shape, shape: Shape) -> Shape:
    found = shape
    while "$ref" in found:
        step: Any = document
        for part in found["$ref"].removeprefix("#/").split("/"):
            step = step[part]
        found = step
    return found


def _merged(document: Shape, shape: Shape) -> Shape:
    """A shape with its choices in one: their types together, and the parts of the one object."""
    found = _resolved(document, shape)
    choices = [
        _resolved(document, each)
        for each in found.get("anyOf", [])
        if "required" not in each or "type" in each or "$ref" in each
    ]
    if not choices:
        return {**found, "types": _types(found)}
    whole: dict[str, Any] = {"types": set().union(*map(_types, choices))}
    for choice in choices:
        whole |= {key: part for key, part in choice.items() if key != "type"}
    return whole


def _types(shape: Shape) -> set[str]:
    given = shape.get("type", [])
    return {given} if isinstance(given, str) else set(given)


def _narrower(place: str, wide: Shape, narrow: Shape, said: str) -> Iterator[str]:
    """What the first shape allows and the second does not."""
    gone = (wide["types"] or {"any"}) - narrow["types"] - _covered(narrow)
    if narrow["types"] and gone:
        yield f"{place}: type {', '.join(sorted(gone))} {said}"
    if "enum" in narrow:
        for word in sorted(set(wide.get("enum", ["any text"])) - set(narrow["enum"]), key=str):
            yield f"{place}: {word!r} {said}"
    for name in (*_LEAST, *_MOST, *_EXACT):
        if name in narrow and _is_wider(name, wide.get(name), narrow[name]):
            yield f"{place}: {name} {wide.get(name)} {said}"


def _is_wider(name: str, wide: Any, narrow: Any) -> bool:  # noqa: ANN401 - whatever a schema holds
    if wide is None or name in _EXACT:
        return bool(wide != narrow)
    return bool(wide < narrow if name in _LEAST else wide > narrow)


def _covered(shape: Shape) -> set[str]:
    return {"integer"} if "number" in shape["types"] else set()
