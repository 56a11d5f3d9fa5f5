"""Cross-origin calls of browsers: the paths that recipient tokens reach.

The middleware stands before all others, so that each refusal of a later middleware (413, 429) has
the headers, too; a browser hides an answer without the headers from the page. Client receipts
are permitted from every origin: service workers of many sites send them, and the answer holds two
numbers. All other paths answer pages of other origins without the headers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from notifications.core.api.problems import respond
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.recipient_tokens import cors

PRODUCER: Final = "notifications.token_producer"
"""Key of `request.META` for the producer of the verified token."""
RECEIPTS: Final = "/v1/receipts/client"
_RECIPIENTS: Final = re.compile(
    r"/v1/(?:inbox|push)/.*|/v1/recipients/[^/]+/(?:preferences|contacts)(?:/.*)?", re.DOTALL
)
_RECEIPTS_PREFLIGHT: Final = {
    **cors.open_headers(),
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "authorization, content-type",
    "Access-Control-Max-Age": "86400",
}


class CrossOrigin:
    """Middleware: answers preflights, and lets pages of permitted origins read answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request; a preflight reaches no view."""
        is_open = request.path_info == RECEIPTS
        if not is_open and not _RECIPIENTS.fullmatch(request.path_info):
            return self._get_response(request)
        origin = request.headers.get("Origin", "")
        if _is_preflight(request, origin):
            return _preflight(request, origin, is_open=is_open)
        response = self._get_response(request)
        if is_open:
            headers = cors.open_headers()
        else:
            producer_id = request.META.get(PRODUCER)
            # An API key must not be in a page, so no page reads what a key gets.
            is_hidden = producer_id is None and response.status_code < HTTPStatus.BAD_REQUEST
            headers = cors.answer_headers("" if is_hidden else origin, producer_id)
        _set(response, headers)
        return response


def _is_preflight(request: HttpRequest, origin: str) -> bool:
    asked = request.headers.get("Access-Control-Request-Method", "")
    return request.method == "OPTIONS" and bool(origin) and bool(asked)


def _preflight(request: HttpRequest, origin: str, *, is_open: bool) -> HttpResponse:
    headers = _RECEIPTS_PREFLIGHT if is_open else cors.preflight_headers(origin)
    if headers is None:
        said = "no producer permits this origin; an operator adds the origin to the producer"
        response = respond(Problem(Kind.FORBIDDEN, said), request)
        headers = cors.answer_headers("", None)
    else:
        response = HttpResponse(status=204)
    _set(response, headers)
    return response


def _set(response: HttpResponseBase, headers: dict[str, str]) -> None:
    for name, value in headers.items():
        if name == "Vary":
            patch_vary_headers(response, [value])
        else:
            response[name] = value
