"""Attributes in requests for a recipient, compared with the definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from notifications.core.api.problems import raise_problem
from notifications.core.rules import attributes
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.cached.attributes import kinds

MAX_BYTES: Final = 16 * 1024
"""Bytes of the attributes of a recipient as JSON."""


def check(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the stored form of attributes; null stays null, and None stays None.

    Raises:
        ProblemError: an attribute is unknown, has a value of another kind, or all are too large.
    """
    if given is None:
        return None
    if given.keys() - kinds().keys():
        kinds.forget()  # the definition may be a second old
    known = kinds()
    faults = attributes.faults(given, known)
    errors = tuple(
        FieldError(f"/attributes/{_pointer(name)}", detail) for name, detail in faults.items()
    )
    if not errors and len(orjson.dumps(given)) > MAX_BYTES:
        errors = (FieldError("/attributes", f"may have at most {MAX_BYTES} bytes as JSON"),)
    if errors:
        said = f"{errors[0].pointer}: {errors[0].detail}"
        raise_problem(Problem(Kind.INVALID, said, errors[:100]))
    return {
        name: None if value is None else attributes.to_stored(value, known[name])
        for name, value in given.items()
    }


def _pointer(name: str) -> str:
    return name[:64].replace("\0", "\ufffd").replace("~", "~0").replace("/", "~1")
