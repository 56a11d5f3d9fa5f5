"""Middleware: each page says what its browser may load, which is what we serve ourselves.

Unfold's widgets are evaluated by Alpine (`unsafe-eval`) and set styles at run time. Neither opens a
page to what somebody wrote into a template: texts are escaped, and previews are in sandboxed frames
that inherit this policy, so no picture of an author's server sees an operator's address. A page
that has a policy of its own keeps it. Answers that are no pages get none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER: Final = "Content-Security-Policy"
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Adds the header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request."""
        response = self._get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault(HEADER, _POLICY)
        return response
