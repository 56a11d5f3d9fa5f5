"""Sign-in to the admin by password: with a code for an account with a second factor, and limits.

`SignInForm` counts each try before a password is hashed. `SecondFactor` is a middleware that
redirects an account without a required second factor to the setup page. `begin` lists each session,
also of `features.single_sign_on`. `SignOut` is the page after a session.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import LogoutView
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django_otp import user_has_device
from unfold.forms import AuthenticationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.core import conf
from notifications.core.api import clients
from notifications.core.rules.single_sign_on import SecondFactorBy
from notifications.core.store.postgres import second_factors
from notifications.core.store.redis import sign_ins

SESSION_FIELD: Final = "sign_in"
_FREE: Final = frozenset({"admin:second_factor", "admin:logout", "admin:password_change"})


class SignInForm(AuthenticationForm):
    """User name, password, and a code for an account with a second factor."""

    code = forms.CharField(
        label="Code",
        required=False,
        max_length=16,
        help_text="From your authenticator app, if you have set up a second factor; without the"
        " phone, a recovery code.",
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}
        ),
    )

    @property
    def single_sign_on(self) -> str:
        """Name of the identity provider for the button; empty: not configured."""
        provider = conf.single_sign_on()
        return provider.name if provider else ""

    @property
    def takes_passwords(self) -> bool:
        """False: the page has the button of single sign-on only."""
        return bool(settings.PASSWORD_SIGN_IN)

    def clean(self) -> dict[str, Any]:
        """Check the limits, then the password and the code; too many tries skip the password.

        Raises:
            ValidationError: too many tries, a wrong user name or password, or a wrong code; or
                passwords are switched off.
        """
        if not self.takes_passwords:
            raise forms.ValidationError("Passwords are switched off here: use single sign-on.")
        account = str(self.cleaned_data.get("username", ""))
        address = clients.rate_limit_key(address_of(self.request))
        wait = sign_ins.wait(account=account, address=address)
        if wait:
            seconds = math.ceil(wait.total_seconds())
            msg = f"Too many tries. Wait {seconds} seconds, then try again."
            raise forms.ValidationError(msg, code="throttled")
        cleaned: dict[str, Any] = super().clean() or {}
        user = self.get_user()
        if user is not None:
            self._check_code(user)
            sign_ins.record_success(account=account, address=address)
        return cleaned

    def _check_code(self, user: AbstractBaseUser) -> None:
        if not user_has_device(user):
            return
        device = second_factors.match(user, self.cleaned_data.get("code", ""))
        if device is None:
            msg = (
                "The account has a second factor: enter the code that its app shows now, or a"
                " recovery code."
            )
            raise forms.ValidationError(msg, code="code")
        user.otp_device = device  # type: ignore[attr-defined]  # django-otp keeps it in the session


class SecondFactor:
    """Middleware for NOTIFY_REQUIRE_SECOND_FACTOR: limits an account without a second factor.

    Such an account reaches the setup page, the sign-out and the change of the password.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; `process_view` does the check."""
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, _view: object, _args: object, _kwargs: object
    ) -> HttpResponseRedirect | None:
        """Redirect an account without a required second factor to the setup page."""
        found = request.resolver_match
        if found is None or found.namespace != "admin":
            return None
        _see(request)
        if found.view_name in _FREE or not _lacks_second_factor(request):
            return None
        return HttpResponseRedirect(reverse("admin:second_factor"))


def _lacks_second_factor(request: HttpRequest) -> bool:
    user = request.user
    if not user.is_authenticated or getattr(user, "otp_device", None) is not None:
        return False
    is_required = conf.current().requires_second_factor
    if not request.session.get(sign_ins.BY_PROVIDER):
        return is_required
    provider = conf.single_sign_on()
    is_asked_here = provider is None or provider.second_factor is SecondFactorBy.SERVICE
    return is_asked_here and (is_required or bool(user_has_device(user)))


class SignOut(LogoutView):
    """Ends the session here and offers the sign-out at the identity provider."""

    template_name = "registration/signed_out.html"

    def get_context_data(self, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - Django's signature
        """Add the layout of the admin."""
        provider = conf.single_sign_on()
        return {
            **super().get_context_data(**given),
            **admin.site.each_context(self.request),
            "title": "Signed out",
            "provider_name": provider.name if provider else "",
        }


def address_of(request: HttpRequest | None) -> str:
    """Return the client's address; empty: the request has no valid address."""
    if request is None:
        return ""
    found = clients.address_of(request.META)
    try:
        return str(ip_address(found))
    except ValueError:
        return ""


@receiver(user_logged_in)
def begin(sender: object, request: HttpRequest, user: User, **_signal: object) -> None:
    """List a new session among the account's sessions."""
    del sender
    if request.session.session_key is None:
        request.session.create()
    made = sign_ins.begin(
        user_id=user.pk,
        session_key=str(request.session.session_key),
        address=address_of(request),
        agent=request.headers.get("User-Agent", ""),
    )
    request.session[SESSION_FIELD] = made.pk


def _see(request: HttpRequest) -> None:
    listed, key = request.session.get(SESSION_FIELD), request.session.session_key
    if listed is not None and key is not None:
        sign_ins.see(listed, session_key=key)
