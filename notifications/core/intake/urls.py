"""Checks of the URLs in a request: those that an inbox or a link opens, and those of webhooks."""

from __future__ import annotations

from notifications.core import conf
from notifications.core.rules import in_app
from notifications.core.rules.language import link_targets
from notifications.core.rules.language.formats import RenderError
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import Content
from notifications.core.webhooks import body
from providers.errors import ForbiddenAddress


def content_problem(content: Content) -> Problem | None:
    """Return the problem of a content with a URL that nobody may open; None: all are allowed."""
    errors = [
        FieldError("/content/" + "/".join(map(str, place)), fault)
        for place, fault in in_app.url_faults(content.part, conf.current().inbox_url_schemes)
    ]
    try:
        link_targets.check(content.html)
    except RenderError as error:
        errors.append(FieldError("/content/html", str(error)))
    if not errors:
        return None
    return Problem(Kind.INVALID, f"{errors[0].pointer}: {errors[0].detail}", tuple(errors))


def webhook_problem(url: str) -> Problem | None:
    """Return the problem of a URL that the service must not call."""
    try:
        body.check_url(url)
    except ForbiddenAddress as error:
        fault = FieldError("/webhook_url", str(error))
        return Problem(Kind.INVALID, f"/webhook_url: {error}", (fault,))
    return None
