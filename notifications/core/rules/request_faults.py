"""Request faults: validation errors of pydantic as sentences of the API, with JSON pointers.

Pydantic's messages name Python classes and regular expressions. Here each kind of error has a
sentence; a kind without a sentence becomes "is not a valid value".
"""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from notifications.core.rules.problems import FieldError, Kind, Problem, Source
from providers import graphemes

MAX_ERRORS: Final = 100
"""Errors that one problem lists."""
_LONGEST_POINTER: Final = 256
"""Characters: a caller's own field names stand in a pointer."""
_PLACED: Final = "placed"
"""The type of an error that names its place itself."""
UNKNOWN_KIND: Final = "unknown_kind"
"""The type of an error of a discriminator; `said` in the context is the sentence for the caller."""
Place = tuple[int | str, ...]
"""Names and positions from the body to a value."""


def _same_place(place: Place) -> Place:
    return place


INSTANT: Final = "must be an instant with its offset, like 2026-11-21T09:00:00Z"
_OBJECT: Final = "must be a JSON object"
_STRING: Final = "must be a string"
_WHOLE: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_BOOLEAN: Final = "must be true or false"
_LIST: Final = "must be a list"
_UUID: Final = "must be a UUID"

METADATA_PAIR: Final = r"^[^:]+:"
PATTERNS: Final[Mapping[str, str]] = MappingProxyType({
    r"^[A-Za-z0-9_.:\-]+$": "may have letters, digits and the characters _ . : - only",
    r"^[A-Za-z0-9_.\-]{1,64}$": "must be 1 to 64 of letters, digits and the characters _ . -",
    r"^[A-Za-z0-9_\-]+$": "may have letters, digits and the characters _ - only",
    r"^([01]\d|2[0-3]):[0-5]\d$": "must be a time of day like 09:00",
    r"^(\d{4}-\d{2}-\d{2}T)?([01]\d|2[0-3]):[0-5]\d$": (
        "must be a time like 09:00 or 2026-11-27T09:00"
    ),
    r"^[\x21-\x7e]+$": "may have visible ASCII characters without spaces only",
    r"^[A-Za-z]{2,3}([_\-][A-Za-z0-9]{2,8})*$": "must be a locale like en or pt-BR",
    r"^([a-z0-9][a-z0-9_\-]{0,31})?$": (
        "must be up to 32 of a-z, 0-9, - and _, with a letter or digit first"
    ),
    r"^[0-9a-f]{64}$": "must be 64 hexadecimal digits in lower case",
    METADATA_PAIR: "must be a name and a value, like order_id:ORD-1",
})
"""The pattern of a field -> what to write instead."""

_WORDS: Final[Mapping[str, str]] = MappingProxyType({
    "missing": "this field is required",
    "frozen_field": "cannot be changed",
    "string_type": _STRING,
    "string_sub_type": _STRING,
    "string_unicode": "must be text in UTF-8",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "is too large a number",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "list_type": _LIST,
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "uuid_type": _UUID,
    "uuid_parsing": _UUID,
    "timezone_naive": INSTANT,
    "timezone_aware": INSTANT,
    "datetime_type": INSTANT,
    "datetime_parsing": INSTANT,
    "datetime_object_invalid": INSTANT,
    "datetime_from_date_parsing": INSTANT,
    "time_type": "must be a time of day like 09:00",
    "time_parsing": "must be a time of day like 09:00",
    "date_type": "must be a date like 2026-11-21",
    "date_parsing": "must be a date like 2026-11-21",
    "recursion_loop": "must not contain itself",
})
"""The type of a finding -> its words, where they need no number."""


def _least(context: Mapping[str, Any]) -> str:
    least = context["min_length"]
    return "must not be empty" if least == 1 else f"must have at least {least} characters"


def _fewest(context: Mapping[str, Any]) -> str:
    fewest = context["min_length"]
    return "must not be empty" if fewest == 1 else f"must have at least {fewest} items"


_WITH_LIMITS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType({
    "string_too_short": _least,
    "string_too_long": lambda context: f"must have at most {context['max_length']} characters",
    "too_short": _fewest,
    "too_long": lambda context: f"must have at most {context['max_length']} items",
    "greater_than_equal": lambda context: f"must be at least {context['ge']}",
    "greater_than": lambda context: f"must be more than {context['gt']}",
    "less_than_equal": lambda context: f"must be at most {context['le']}",
    "less_than": lambda context: f"must be less than {context['lt']}",
    "enum": lambda context: _one_of(context["expected"]),
    "literal_error": lambda context: _one_of(context["expected"]),
    "string_pattern_mismatch": lambda context: PATTERNS.get(
        context["pattern"], "has characters that are not allowed here"
    ),
    "value_error": lambda context: str(context["error"]),
    _PLACED: lambda context: str(context["said"]),
    UNKNOWN_KIND: lambda context: str(context["said"]),
})

_OF_TEXTS: Final[Mapping[str, str]] = MappingProxyType({
    "too_short": "string_too_short",
    "too_long": "string_too_long",
})
"""Findings of pydantic about a text with a validator of its own -> about any other text."""
_TEXT_WITH_VALIDATOR: Final = "Value"
"""`field_type` of such a finding; lists and objects have names of their own."""


def error_at(said: str, *place: str | int) -> PydanticCustomError:
    """An error for a validator to raise, at a place below its own.

    Args:
        said: what is wrong, in words for the caller.
        place: the names and positions that lead to it.
    """
    return PydanticCustomError(_PLACED, "{said}", {"said": said, "place": list(place)})


def invalid(
    error: ValidationError,
    shape: type[BaseModel] | None = None,
    *,
    source: Source = Source.BODY,
    place_of: Callable[[Place], Place] = _same_place,
    absent: Iterable[FieldError] = (),
) -> Problem:
    """Return all errors as one problem; the first hundred errors have their places.

    Args:
        error: pydantic's error.
        shape: the validated model, for the field names in suggestions.
        source: the validated part of the request.
        place_of: maps pydantic's place to the place in the request, for unions of models.
        absent: missing fields that pydantic does not name, because it stops at an earlier error.
    """
    found = error.errors(include_url=False, include_input=False)
    errors = tuple(
        _field_error({**each, "loc": place_of(each["loc"])}, shape, source)
        for each in found[:MAX_ERRORS]
    )
    known = {each.pointer for each in errors}
    further = tuple(each for each in absent if each.pointer not in known)
    count = len(found) + len(further)
    errors = (*errors, *further)[:MAX_ERRORS]
    first = errors[0]
    name = first.pointer.lstrip("/") if source is not Source.BODY else first.pointer
    detail = f"{name or 'the body'}: {first.detail}"
    if count > MAX_ERRORS:
        detail += f" ({count} errors; the first {MAX_ERRORS} are listed)"
    return Problem(Kind.INVALID, detail, errors)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean priority?`, or an empty string without a similar known name."""
    close = difflib.get_close_matches(name[:_LONGEST_POINTER], sorted(known), n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else ""


def _field_error(found: ErrorDetails, shape: type[BaseModel] | None, source: Source) -> FieldError:
    context, place = found.get("ctx", {}), found["loc"]
    if found["type"] == _PLACED:
        place = (*place, *context["place"])
    if place and place[-1] == "[key]":
        place = place[:-1]
    if found["type"] == "extra_forbidden":
        known = _fields_at(shape, place[:-1])
        detail = f"unknown field{did_you_mean(str(place[-1]), known)}"
    else:
        kind = found["type"]
        is_text = context.get("field_type") == _TEXT_WITH_VALIDATOR
        detail = _words(_OF_TEXTS.get(kind, kind) if is_text else kind, context)
    return FieldError(_pointer(place), detail, source)


def _words(kind: str, context: Mapping[str, Any]) -> str:
    if kind in _WITH_LIMITS:
        return _WITH_LIMITS[kind](context)
    return _WORDS.get(kind, "is not a valid value")


def _one_of(expected: str) -> str:
    words = re.findall(r"'([^']*)'", expected)
    return f"must be one of {', '.join(words) or expected}"


def _pointer(place: Iterable[int | str]) -> str:
    # Postgres keeps problems and stores no NUL.
    parts = (str(part).replace("\x00", "\ufffd") for part in place)
    whole = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)
    return graphemes.cut(whole, _LONGEST_POINTER)


def _fields_at(shape: type[BaseModel] | None, place: Iterable[int | str]) -> list[str]:
    """Return the field names of the object at a place; empty if the place is not a model."""
    for part in place:
        if shape is None:
            return []
        if isinstance(part, int):
            continue
        field = shape.model_fields.get(part)
        shape = None if field is None else _shape_within(field.annotation)
    if shape is None:
        return []
    return [field.alias or name for name, field in shape.model_fields.items()]


def _shape_within(annotation: object) -> type[BaseModel] | None:
    """Return the model of a field's values, or of the items of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = map(_shape_within, typing.get_args(annotation))
    return next((found for found in inner if found is not None), None)
