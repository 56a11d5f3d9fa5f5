"""Pages of single sign-on: start, callback, and sign-out at the identity provider."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import structlog
from django.contrib import messages
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from notifications.core import conf
from notifications.core.store.redis import sign_ins
from notifications.features.single_sign_on import metadata
from notifications.features.single_sign_on.accounts import SignInRefused
from notifications.features.single_sign_on.backend import library_setting
from notifications.features.single_sign_on.metadata import ProviderUnavailable

_log = structlog.get_logger(__name__)


class Start(OIDCAuthenticationRequestView):
    """Redirects to the identity provider, with state, nonce and code challenge."""

    get_settings = staticmethod(library_setting)

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        """Skip the parent's settings: `get` reads the endpoints."""
        super(OIDCAuthenticationRequestView, self).__init__(**options)

    def get(self, request: HttpRequest) -> HttpResponse:
        """Redirect, or return to the sign-in page if the provider is away."""
        try:
            self.OIDC_OP_AUTH_ENDPOINT = library_setting("OIDC_OP_AUTHORIZATION_ENDPOINT")
            self.OIDC_RP_CLIENT_ID = library_setting("OIDC_RP_CLIENT_ID")
        except ProviderUnavailable as error:
            return _unavailable(request, error)
        answer: HttpResponse = super().get(request)
        return answer


class Callback(OIDCAuthenticationCallbackView):
    """Sign-in of the person returned by the identity provider."""

    get_settings = staticmethod(library_setting)

    def get(self, request: HttpRequest) -> HttpResponse:
        """Sign in; a failed check returns to the sign-in page with the reason."""
        try:
            answer: HttpResponse = super().get(request)
        except SignInRefused as refusal:
            return _back(request, str(refusal))
        except ProviderUnavailable as error:
            return _unavailable(request, error)
        except SuspiciousOperation as error:
            _log.warning("single_sign_on_invalid", reason=str(error))
            return _back(request, "The sign-in could not be verified. Start the sign-in again.")
        return answer

    def login_success(self) -> HttpResponse:
        """Mark the session: the identity provider asked for the second factor."""
        answer: HttpResponse = super().login_success()
        self.request.session[sign_ins.BY_PROVIDER] = True
        return answer

    def login_failure(self) -> HttpResponse:
        """Return to the sign-in page."""
        return _back(self.request, "The identity provider ended the sign-in. Start again.")


def end(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-out page of the identity provider (RP-Initiated Logout 1.0).

    Raises:
        Http404: the provider has no such page.
    """
    options = conf.single_sign_on()
    try:
        url = metadata.endpoints(options).end_session if options else ""
    except ProviderUnavailable as error:
        return _unavailable(request, error)
    if options is None or not url:
        raise Http404
    home = conf.current().public_url + reverse("admin:login")
    query = urlencode({"client_id": options.client_id, "post_logout_redirect_uri": home})
    return HttpResponseRedirect(f"{url}{'&' if '?' in url else '?'}{query}")


def _unavailable(request: HttpRequest, error: ProviderUnavailable) -> HttpResponse:
    _log.error("identity_provider_unavailable", reason=str(error))
    return _back(request, "The identity provider gives no usable answer. Try again in a minute.")


def _back(request: HttpRequest, message: str) -> HttpResponse:
    messages.error(request, message)
    return HttpResponseRedirect(reverse("admin:login"))
