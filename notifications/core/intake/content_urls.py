"""URLs of raw content: link, image and actions of the in-app message."""

from __future__ import annotations

from notifications.core import conf
from notifications.core.rules import in_app
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Content


def problem_of(content: Content | None) -> Problem | None:
    """Return the problem of the URLs that an inbox does not open; None: all are allowed."""
    if content is None:
        return None
    errors = tuple(
        FieldError("/content/" + "/".join(map(str, place)), fault)
        for place, fault in in_app.url_faults(content.part, conf.current().inbox_url_schemes)
    )
    if not errors:
        return None
    return Problem(Kind.INVALID, f"{errors[0].pointer}: {errors[0].detail}", errors)
