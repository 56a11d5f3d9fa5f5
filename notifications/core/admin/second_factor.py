"""The operator's second factor: a code which changes every 30 seconds (TOTP, RFC 6238)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final, cast

import segno
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django_otp import login, user_has_device
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.core import conf
from notifications.core.store.postgres import audit, second_factors
from notifications.core.store.redis import sign_ins

_QR_SCALE: Final = 5


class CodeForm(forms.Form):
    """The code shown by the authenticator app."""

    code = forms.CharField(
        max_length=16,
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}
        ),
    )


def page(request: HttpRequest) -> HttpResponse:
    """Set up or remove the second factor, or renew recovery codes; every action requires a code.

    After single sign-on the page asks for the code of an account with a second factor first.
    Only the response to the renewal shows the new recovery codes.
    """
    user = cast("User", request.user)  # `admin_view` admits signed-in operators only
    is_set_up = user_has_device(user)
    form = CodeForm(request.POST if request.method == "POST" else None)
    codes: list[str] = []
    must_confirm = is_set_up and _awaits_code(request)
    if form.is_valid():
        code = form.cleaned_data["code"].replace(" ", "")
        if must_confirm:
            if _confirm(request, user, code):
                return HttpResponseRedirect(reverse("admin:index"))
        elif is_set_up and "renew" not in request.POST:
            if _take_away(user, code):
                messages.success(request, "The second factor is removed.")
                return HttpResponseRedirect(reverse("admin:second_factor"))
        else:
            codes = _renew_codes(user, code) if is_set_up else _set_up(request, user, code)
        if not codes:
            form.add_error("code", "Wrong code. Enter the code shown by the app now.")
    is_set_up = is_set_up or bool(codes)
    context = {
        "codes": codes,
        "codes_left": second_factors.recovery_codes_left(user),
        **admin.site.each_context(request),
        "title": "Second factor",
        "form": form,
        "is_set_up": is_set_up,
        "must_confirm": must_confirm,
        "required": conf.current().requires_second_factor,
        "device": None if is_set_up else _setup_context(_waiting(user)),
    }
    answer = TemplateResponse(request, "admin/second_factor.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


def _waiting(user: User) -> TOTPDevice:
    """Return the device which awaits the first code."""
    found, _ = TOTPDevice.objects.get_or_create(
        user=user, confirmed=False, defaults={"name": "authenticator"}
    )
    return found


def _setup_context(device: TOTPDevice) -> dict[str, str]:
    """Return the secret as QR code and as text."""
    picture = segno.make(device.config_url, error="m")
    return {
        "qr": picture.svg_inline(scale=_QR_SCALE, border=2, light="#fff"),
        "secret": base64.b32encode(device.bin_key).decode(),
    }


def _set_up(request: HttpRequest, user: User, code: str) -> list[str]:
    """Confirm the device; return the recovery codes, an empty list for a wrong code."""
    device = _waiting(user)
    if not device.verify_token(code):
        return []
    with audit.changes(user.get_username(), "add_second_factor") as made:
        device.confirmed = True
        device.save()
        made.append(device)
    login(request, device)
    return second_factors.new_recovery_codes(user)


def _awaits_code(request: HttpRequest) -> bool:
    is_verified = getattr(request.user, "otp_device", None) is not None
    return bool(request.session.get(sign_ins.BY_PROVIDER)) and not is_verified


def _confirm(request: HttpRequest, user: User, code: str) -> bool:
    """Mark the session as verified; return False for a wrong code."""
    device = second_factors.match(user, code)
    if device is None:
        return False
    login(request, device)
    return True


def _renew_codes(user: User, code: str) -> list[str]:
    return (
        [] if second_factors.match(user, code) is None else second_factors.new_recovery_codes(user)
    )


def _take_away(user: User, code: str) -> bool:
    if second_factors.match(user, code) is None:
        return False
    rows = TOTPDevice.objects.filter(user=user)
    with audit.changes(user.get_username(), "remove_second_factor", rows):
        second_factors.remove(user)
    return True


def urls(wrap: Callable[..., Any]) -> list[URLPattern]:
    """Return the path of the page below `/admin/`; `wrap` is `admin_view` of the site."""
    return [path("second-factor/", wrap(page), name="second_factor")]
