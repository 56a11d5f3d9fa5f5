"""Checks of the URLs in a request: those that an inbox opens, and those that the service calls."""

from __future__ import annotations

from notifications.core import conf
from notifications.core.rules import in_app
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Content
from notifications.core.webhooks import body
from providers.errors import ForbiddenAddress


def content_problem(content: Content | None) -> Problem | None:
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


def webhook_problem(url: str | None) -> Problem | None:
    """Return the problem of a URL that the service must not call."""
    if not url:
        return None
    try:
        body.check_url(url)
    except ForbiddenAddress as error:
        fault = FieldError("/webhook_url", str(error))
        return Problem(Kind.INVALID, f"/webhook_url: {error}", (fault,))
    return None
