"""Middleware that only pages for people need: sessions, CSRF tokens, sign-in and messages.

A producer's request has an API key and no cookie, so a path below `/v1/` skips these: each costs
processor time for every notification that is accepted. They are subclasses of Django's, because
Django's system checks look for those in MIDDLEWARE.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin

API: Final = "/v1/"


class _NotForTheApi(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer a request of the API without this middleware."""
        if request.path_info.startswith(API):
            return self.get_response(request)
        return super().__call__(request)


class Sessions(_NotForTheApi, SessionMiddleware):
    """Django's sessions."""


class Csrf(_NotForTheApi, CsrfViewMiddleware):
    """Django's CSRF tokens. No browser sends an API key by itself."""


class SignIn(_NotForTheApi, AuthenticationMiddleware):
    """Django's `request.user`. The views of the API set their own."""


class Messages(_NotForTheApi, MessageMiddleware):
    """Django's one-time messages."""
