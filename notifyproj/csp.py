"""Middleware for the Content-Security-Policy: a page may load files of this service only.

Alpine evaluates Unfold's widgets (`unsafe-eval`), and the widgets set styles at run time. Neither
exception lets the text of a template run code: the admin escapes texts and shows previews in
sandboxed frames. The frames inherit the policy, so an image on an author's server cannot learn an
operator's address; the page of a brand alone names the server of the logo in `image_origin` of the
response. A page with a policy of its own keeps that policy. Responses other than HTML pages get no
policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER: Final = "Content-Security-Policy"
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:{image_origin}; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Adds the header to each HTML page without a policy."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, with the header if the response is an HTML page."""
        response = self._get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            origin = getattr(response, "image_origin", "")
            policy = _POLICY.format(image_origin=f" {origin}" if origin else "")
            response.headers.setdefault(HEADER, policy)
        return response
