"""Middleware for HTML pages only: gzip, sessions, CSRF tokens, sign-in, messages; the Host check.

A producer's request has an API key and no cookie, so a path below `/v1/` skips the middleware,
which would cost processor time for every notification. The classes are subclasses of Django's
middleware, because Django's system checks look for Django's classes in MIDDLEWARE.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from notifications.core.rules import replica_lag

API: Final = "/v1/"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
PROBES: Final = frozenset({"/healthz", "/startupz", "/readyz", "/metrics"})
"""Paths that answer whatever the Host header is: an orchestrator and Prometheus address a process
by its IP address, which no setting can know. The answers contain no link to the host."""


class HostCheck(CommonMiddleware):
    """Django's CommonMiddleware, which refuses an unknown Host header, except for `PROBES`."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        """Check the Host header.

        Raises:
            DisallowedHost: the header names no host of NOTIFY_PUBLIC_URL or NOTIFY_ALLOWED_HOSTS.
        """
        if request.path_info in PROBES:
            return None
        return super().process_request(request)


class _NotForTheApi(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Return the response; a request of the API skips the middleware."""
        if request.path_info.startswith(API):
            return self.get_response(request)
        return super().__call__(request)


class Compression(_NotForTheApi, GZipMiddleware):
    """Django's gzip, for pages outside the API.

    The length of a compressed page tells no secret (BREACH): the CSRF token has another mask on
    each page, and Django adds a random number of bytes. Answers of the API, which are many and
    small, keep their strong ETags.
    """


class Sessions(_NotForTheApi, SessionMiddleware):
    """Django's sessions, for pages outside the API."""


class Csrf(_NotForTheApi, CsrfViewMiddleware):
    """Django's CSRF tokens, which the API does not need: no browser sends API keys by itself."""


class SignIn(_NotForTheApi, AuthenticationMiddleware):
    """Django's `request.user`; the API's authentication sets `request.user` for its views."""


class OwnWrites(_NotForTheApi, MiddlewareMixin):
    """Sets the cookie of `rules.replica_lag` in each answer of the admin to a form.

    It is in MIDDLEWARE with DATABASE_REPLICA_URL only.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the cookie, unless the request only reads."""
        pages = reverse("admin:index")
        if request.method not in _READING and request.path_info.startswith(pages):
            response.set_cookie(
                replica_lag.COOKIE,
                "1",
                max_age=replica_lag.COOKIE_AGE,
                path=pages,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


class Messages(_NotForTheApi, MessageMiddleware):
    """Django's one-time messages, for pages outside the API."""
