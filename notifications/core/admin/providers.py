"""The page of providers: configuration, connected account, last receipt, check, test message.

`manage.py connect` stores the findings about an account, and the page shows the findings that are
bad. The page asks no vendor before an operator checks the credentials.

The page needs permission to view routes. Checks and tests need permission to change routes, and the
audit log records every check and test.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core import conf
from notifications.core.admin import base
from notifications.core.admin.audited import LATEST, name_of
from notifications.core.admin.monitoring.links import subject_page
from notifications.core.delivery import routing
from notifications.core.models import ProviderConnection
from notifications.core.operations import single_call
from notifications.core.operations.single_call import CannotSend
from notifications.core.rules import in_app
from notifications.core.rules.connect_lines import ConnectLine, LineState
from notifications.core.store.postgres import audit
from notifications.core.store.redis import last_receipts
from providers import registry
from providers.configuration import setting_name
from providers.contract import Channel, Finding, Provider

_log = structlog.get_logger(__name__)
_CHECK: Final = dt.timedelta(seconds=5)
"""Deadline for a provider's check, while the operator waits for the page."""
_BODY: Final = "This is a test of the notification service."
_PROVIDER: Final = "provider"
"""Object type of the audit entries; a provider has no table."""
_MOST_CHARACTERS: Final = 4_096
"""Maximum length of an address; a push subscription is the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLine:
    """A provider on the page."""

    name: str
    is_configured: bool
    channels: tuple[str, ...] = ()
    routed: tuple[str, ...] = ()
    """Channels whose live messages may use the provider now."""
    required: tuple[str, ...] = ()
    """Environment variables required for the configuration."""
    needs_account: bool = True
    """False for an adapter without settings: that of inboxes."""
    gives_receipts: bool = False
    last_receipt_at: dt.datetime | None = None
    connection: ProviderConnection | None = None
    """The last run of `manage.py connect`; None before the first run."""
    findings: list[Finding] = field(default_factory=list)
    was_checked: bool = False

    @property
    def url(self) -> str:
        """The page with plots; empty without the feature that shows the page."""
        return subject_page("provider", self.name)

    @property
    def missing(self) -> list[ConnectLine]:
        """The bad lines of the last run of `manage.py connect`."""
        return [each for each in self._lines() if each.state == LineState.BAD]

    @property
    def other_lines(self) -> list[ConnectLine]:
        """The other lines of the run."""
        return [each for each in self._lines() if each.state != LineState.BAD]

    def _lines(self) -> list[ConnectLine]:
        return [ConnectLine(**each) for each in self.connection.findings] if self.connection else []


class TestForm(forms.Form):
    """The address of a test message."""

    channel = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    address = forms.CharField(max_length=_MOST_CHARACTERS, widget=UnfoldAdminTextInputWidget)
    kind = forms.CharField(
        required=False,
        max_length=32,
        widget=UnfoldAdminTextInputWidget,
        help_text="Kind of push address: fcm_token, apns_token, expo_token, web_push.",
    )

    def __init__(self, provider: Provider, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Django's signature
        super().__init__(*arguments, **options)
        channels = [each.label for each in sorted(provider.capabilities.channels)]
        self.fields["channel"].choices = [(label, label) for label in channels]  # type: ignore[attr-defined] # a ChoiceField, see above


def view(page: ModelAdmin, request: HttpRequest) -> HttpResponse:
    """Show the page; on POST run a check or send a test.

    Raises:
        PermissionDenied: the operator may not view routes, or may not change routes on POST.
        BadRequest: the provider is not configured.
    """
    may_try = request.user.has_perm("notifications.change_providerroute")
    if not request.user.has_perm("notifications.view_providerroute"):
        raise PermissionDenied
    checked: Mapping[str, list[Finding]] = {}
    if request.method == "POST":
        if not may_try:
            raise PermissionDenied
        name = request.POST.get("provider", "")
        provider = routing.providers_by_name().get(name)
        if provider is None:
            raise BadRequest(f"{name[:40]} is not configured")
        if "address" in request.POST:
            return _send(page, request, provider)
        checked = {name: _check(provider, by=name_of(request))}
    context: dict[str, Any] = {
        "lines": _lines(checked),
        "forms": _forms() if may_try else {},
        "may_try": may_try,
        "dry_run": conf.current().dry_run,
    }
    if request.user.has_perm("notifications.view_auditentry"):
        context["audit_entries"] = audit.of_type(_PROVIDER)[:LATEST]
    return base.page(
        page, request, "admin/providers.html", title="Providers", context=context, is_of_model=False
    )


def guide(request: HttpRequest) -> HttpResponse:
    """Return docs/providers.md as text.

    Raises:
        PermissionDenied: the operator may not view routes.
        Http404: the installation has no docs.
    """
    if not request.user.has_perm("notifications.view_providerroute"):
        raise PermissionDenied
    try:
        text = (settings.BASE_DIR / "docs" / "providers.md").read_bytes()
    except OSError as error:
        raise Http404 from error
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _check(provider: Provider, *, by: str) -> list[Finding]:
    findings = list(provider.check(deadline=_CHECK))
    told = {each.subject: "good" if each.is_good else "bad" for each in findings}
    audit.record_about(
        by, "check_provider", object_type=_PROVIDER, name=provider.name, after={"findings": told}
    )
    _log.info("provider_checked", provider=provider.name, by=by)
    return findings


def _send(page: ModelAdmin, request: HttpRequest, provider: Provider) -> HttpResponse:
    form = TestForm(provider, request.POST)
    if form.is_valid():
        level, text = _try(form.cleaned_data, provider, by=name_of(request))
    else:
        level, text = messages.ERROR, "Choose a channel and give an address."
    page.message_user(request, text, level)
    return HttpResponseRedirect(reverse("admin:notifications_providers"))


def _try(given: Mapping[str, str], provider: Provider, *, by: str) -> tuple[int, str]:
    message = single_call.compose(
        channel=Channel.from_label(given["channel"]),
        address=given["address"],
        kind=given["kind"],
        title="Test",
        body=_BODY,
    )
    try:
        sender = single_call.adapter(provider.name, message)
    except CannotSend as error:
        return messages.ERROR, str(error)
    facts = {each: given[each] for each in ("channel", "address", "kind")}
    # Before the call, so that the log has the test even if the process dies during the call.
    audit.record_about(
        by, "send_provider_test", object_type=_PROVIDER, name=provider.name, after=facts
    )
    is_accepted, line = single_call.send(sender, message)
    _log.info("provider_tried", provider=provider.name, accepted=is_accepted, by=by)
    return (messages.SUCCESS if is_accepted else messages.ERROR), line


def _lines(checked: Mapping[str, list[Finding]]) -> list[ProviderLine]:
    """Return the providers, configured providers first, sorted by name."""
    routed: dict[str, list[str]] = {}
    connections = {each.provider: each for each in ProviderConnection.objects.all()}
    received_at = last_receipts.load()
    for channel in Channel:
        for provider in routing.live_providers(channel):
            routed.setdefault(provider.name, []).append(channel.label)
    lines = []
    required = {each.name: each.required_fields for each in registry.VENDORS}
    for name in sorted({*required, *routing.providers_by_name()}):
        found = routing.providers_by_name().get(name)
        channels = found.capabilities.channels if found else ()
        lines.append(
            ProviderLine(
                name=name,
                is_configured=found is not None,
                channels=tuple(each.label for each in sorted(channels)),
                routed=tuple(routed.get(name, ())),
                required=tuple(setting_name(name, each) for each in required.get(name, ())),
                needs_account=name in required,
                gives_receipts=found is not None and found.capabilities.gives_receipts,
                last_receipt_at=received_at.get(name),
                connection=connections.get(name),
                findings=checked.get(name, []),
                was_checked=name in checked,
            )
        )
    return sorted(lines, key=lambda line: not line.is_configured)


def _forms() -> dict[str, TestForm]:
    return {
        name: TestForm(each, auto_id=f"{name}_%s")
        for name, each in routing.providers_by_name().items()
        if name != in_app.PROVIDER  # an inbox takes messages of notifications only
    }
