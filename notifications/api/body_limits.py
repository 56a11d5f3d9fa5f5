"""The largest body of a request, by path: checked before a byte of the body is read.

The table is the only place where a size is written. A path without a line takes no body. Whoever is
not signed in sends small forms only: Django's CSRF check reads a form before anybody is recognised,
and would spool each file of a multipart form to the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from notifications.api.problems import respond
from notifications.rules.problems import Kind, Problem

KIBIBYTE: Final = 1024
MEBIBYTE: Final = 1024 * KIBIBYTE
BODY_LIMIT: Final = MEBIBYTE
"""Bytes of one notification with its content: 600 kB at most, and some room for escapes."""
UNSUBSCRIBE_LIMIT: Final = 4 * KIBIBYTE
"""The longest honest form has a few hundred bytes, also as multipart."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a path takes."""

    size: int
    """Bytes at most, by the Content-Length."""
    multipart: bool = False
    """Whether the body may be a multipart form."""
    signed_out: int | None = None
    """Bytes at most without a session of an operator; None: the path asks for no session."""


_NOTHING: Final = Limit(0)
_TABLE: Final[tuple[tuple[str, Limit], ...]] = (
    ("/v1/notifications/batch", Limit(16 * MEBIBYTE)),
    ("/v1/suppressions", Limit(8 * MEBIBYTE)),
    ("/v1/templates", Limit(16 * MEBIBYTE)),
    ("/v1/", Limit(BODY_LIMIT)),
    ("/unsubscribe/", Limit(UNSUBSCRIBE_LIMIT, multipart=True)),
    ("/admin/login/", Limit(16 * KIBIBYTE, multipart=True)),
    ("/admin/", Limit(16 * MEBIBYTE, multipart=True, signed_out=16 * KIBIBYTE)),
)
"""Beginning of a path -> its limit; the first line that fits counts."""


def limit_of(path: str) -> Limit:
    """The limit of a path."""
    return next((limit for begin, limit in _TABLE if path.startswith(begin)), _NOTHING)


def fault(path: str, *, length: str, media_type: str, chunked: bool) -> Problem | None:
    """What the head of a request says against reading its body.

    Args:
        path: of the request.
        length: the Content-Length, as it came.
        media_type: the Content-Type, as it came.
        chunked: whether the request has a Transfer-Encoding.
    """
    if chunked:
        return Problem(Kind.MALFORMED, "send the body with Content-Length, not chunked")
    if not length or length == "0":
        return None
    limit = limit_of(path)
    if not (length.isascii() and length.isdecimal()) or int(length[:20]) > limit.size:
        return Problem(Kind.TOO_LARGE, f"the body may have {limit.size} bytes")
    if not limit.multipart and media_type.lower().lstrip().startswith("multipart/"):
        return Problem(Kind.UNSUPPORTED_MEDIA_TYPE, "this path takes no multipart form")
    return None


class BodyLimits:
    """Middleware: refuses a body that its path does not take, by the head of the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request, or refuse its body."""
        length = request.META.get("CONTENT_LENGTH") or ""
        chunked = "HTTP_TRANSFER_ENCODING" in request.META
        if not length and not chunked:
            return self._get_response(request)
        found = fault(
            request.path_info,
            length=length,
            media_type=request.META.get("CONTENT_TYPE") or "",
            chunked=chunked,
        ) or _fault_signed_out(request, length)
        return self._get_response(request) if found is None else respond(found, request)


def _fault_signed_out(request: HttpRequest, length: str) -> Problem | None:
    """What is against reading a form of somebody without a session."""
    limit = limit_of(request.path_info)
    if limit.signed_out is None or not length or length == "0":
        return None
    if int(length) <= limit.signed_out or _has_session(request):
        return None
    return Problem(Kind.TOO_LARGE, "sign in first: without a session only small forms are read")


def _has_session(request: HttpRequest) -> bool:
    """Whether the cookie names a session of an operator, asked from the store of sessions."""
    cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return bool(cookie) and "_auth_user_id" in store(cookie)
