"""The maximum body size by path, checked before the body is read.

The table below is the only place with sizes. A path which is not in the table takes no body. A
client without a session may send small forms only: Django's CSRF check parses a form before
authentication, and writes files of a multipart form to disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from notifications.core.api.problems import respond
from notifications.core.rules.problems import Kind, Problem

KIBIBYTE: Final = 1024
MEBIBYTE: Final = 1024 * KIBIBYTE
BODY_LIMIT: Final = MEBIBYTE
"""Bytes of a notification with content: at most 600 kB, plus room for JSON escapes."""
UNSUBSCRIBE_LIMIT: Final = 4 * KIBIBYTE
"""Bytes of the unsubscribe form. A regular form has a few hundred bytes, also as multipart."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The body limit of a path."""

    size: int
    """The maximum Content-Length in bytes."""
    multipart: bool = False
    """Accept multipart forms."""
    is_streamed: bool = False
    """The view reads the body in pieces, so the body is never in memory as a whole."""
    signed_out: int | None = None
    """The maximum in bytes without an operator's session; None: the path needs no session."""


_NOTHING: Final = Limit(0)
_TABLE: Final[tuple[tuple[str, Limit], ...]] = (
    ("/v1/notifications/batch", Limit(16 * MEBIBYTE)),
    ("/v1/suppressions", Limit(8 * MEBIBYTE)),
    ("/v1/templates", Limit(16 * MEBIBYTE)),
    ("/v1/attachments/", Limit(64 * KIBIBYTE)),
    ("/v1/attachments", Limit(25_000_000)),
    ("/v1/audience-uploads", Limit(512 * MEBIBYTE, is_streamed=True)),
    ("/v1/recipient-imports", Limit(4 * MEBIBYTE)),
    ("/v1/receipts/client", Limit(64 * KIBIBYTE)),
    ("/v1/inbox/", Limit(64 * KIBIBYTE)),
    ("/v1/", Limit(BODY_LIMIT)),
    ("/unsubscribe/", Limit(UNSUBSCRIBE_LIMIT, multipart=True)),
    ("/preferences/", Limit(128 * KIBIBYTE)),
    ("/demo/", Limit(16 * KIBIBYTE, multipart=True)),
    ("/admin/login/", Limit(16 * KIBIBYTE, multipart=True)),
    ("/admin/", Limit(16 * MEBIBYTE, multipart=True, signed_out=16 * KIBIBYTE)),
)
"""Prefix of a path -> limit. The first matching entry applies."""


def limit_of(path: str) -> Limit:
    """Return the limit of a path."""
    return next((limit for begin, limit in _TABLE if path.startswith(begin)), _NOTHING)


def fault(limit: Limit, *, length: str, media_type: str, chunked: bool) -> Problem | None:
    """Return the problem with the body of a request, judged by the headers; None if there is none.

    Args:
        limit: limit of the path.
        length: value of Content-Length.
        media_type: value of Content-Type.
        chunked: the request has a Transfer-Encoding.
    """
    if chunked:
        return Problem(Kind.MALFORMED, "send the body with Content-Length, not chunked")
    if not length or length == "0":
        return None
    if not (length.isascii() and length.isdecimal()) or int(length[:20]) > limit.size:
        return Problem(Kind.TOO_LARGE, f"the body may have at most {limit.size} bytes")
    if not limit.multipart and media_type.lower().lstrip().startswith("multipart/"):
        return Problem(Kind.UNSUPPORTED_MEDIA_TYPE, "this path takes no multipart form")
    return None


class BodyLimits:
    """Middleware: refuses a body larger than the limit of the path, before reading the body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, or refuse the body (400, 413, 415)."""
        length = request.META.get("CONTENT_LENGTH") or ""
        chunked = "HTTP_TRANSFER_ENCODING" in request.META
        if not length and not chunked:
            return self._get_response(request)
        limit = limit_of(request.path_info)
        found = fault(
            limit,
            length=length,
            media_type=request.META.get("CONTENT_TYPE") or "",
            chunked=chunked,
        ) or _fault_signed_out(request, limit, length)
        return self._get_response(request) if found is None else respond(found, request)


def _fault_signed_out(request: HttpRequest, limit: Limit, length: str) -> Problem | None:
    """Return the problem with a large form from a client without a session."""
    if limit.signed_out is None or not length or length == "0":
        return None
    if int(length) <= limit.signed_out or _has_session(request):
        return None
    return Problem(Kind.TOO_LARGE, "sign in first: without a session only small forms are accepted")


def _has_session(request: HttpRequest) -> bool:
    """Return True if the session cookie belongs to a signed-in operator."""
    cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return bool(cookie) and "_auth_user_id" in store(cookie)
