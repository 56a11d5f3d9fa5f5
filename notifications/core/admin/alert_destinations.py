"""Alert destinations: URL, filter, owner, a test alert, and the latest notices."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.core import conf
from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.alerts import page_of
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.alerting import destinations, notices
from notifications.core.alerting.destinations import UnreadableUrl
from notifications.core.models import AlertDestination
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import audit
from providers.contract import Accepted

_SHOWN: Final = 20
"""Notices on the page of a destination."""
_MOST_CHARACTERS: Final = 2_048


class AlertDestinationForm(forms.ModelForm[AlertDestination]):
    """The URL, which is stored encrypted and never shown again, and checkboxes for kinds."""

    url = forms.CharField(
        max_length=_MOST_CHARACTERS,
        required=False,
        label="URL",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="mailto:oncall@example.com, pagerduty://KEY, slack://A/B/C and other chat"
        " services as Apprise writes them, or an https:// webhook. Stored encrypted and not shown"
        " again; empty: the stored URL stays.",
    )
    kinds = forms.MultipleChoiceField(
        choices=[(kind.value, kind.label) for kind in AlertKind],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None: all kinds.",
    )

    class Meta:
        """The service writes the other columns."""

        model = AlertDestination
        fields = ("name", "url", "minimum_severity", "kinds", "owner", "is_active")

    def clean_url(self) -> str:
        """Return a URL of a known form that the service may call.

        Raises:
            ValidationError: the URL is missing or not allowed.
        """
        url = str(self.cleaned_data["url"]).strip()
        if not url:
            if self.instance.pk is None:
                raise forms.ValidationError("A new destination needs a URL.")
            return ""
        try:
            destinations.check(url)
        except ValueError as error:
            raise forms.ValidationError(f"Not allowed: {error}.") from error
        return url

    def save(self, commit: bool = True) -> AlertDestination:  # noqa: FBT001, FBT002 - Django's signature
        """Encrypt a new URL."""
        if url := self.cleaned_data["url"]:
            self.instance.secret, self.instance.target = destinations.seal(url)
        return super().save(commit)


@admin.register(AlertDestination)
class AlertDestinationAdmin(AuditedAdmin):
    """Destinations of operators; rows of NOTIFY_ALERT_URLS follow the environment."""

    form = AlertDestinationForm
    list_display = (
        *("name", "target", "minimum_severity", "owner", "condition"),
        *("last_sent_at", "last_error"),
    )
    search_fields = ("name",)
    sortable_by = ()
    actions_detail = ("send_test",)  # type: ignore[assignment]  # unfold types its default, an empty tuple
    fields = (
        *("name", "url", "minimum_severity", "owner", "is_active", "kinds"),
        *("target", "condition", "failures", "last_sent_at", "last_error", "last_error_at"),
        "latest",
    )
    readonly_fields: ClassVar = list(fields[6:])

    def get_fields(self, request: HttpRequest, obj: AlertDestination | None = None) -> Any:  # noqa: ANN401, ARG002 - Django's types
        """Return only the editable fields for a new destination."""
        return self.fields if obj else self.fields[:6]

    def get_readonly_fields(self, request: HttpRequest, obj: AlertDestination | None = None) -> Any:  # noqa: ANN401 - Django's types
        """Return also name and activity for a row of the environment."""
        own = super().get_readonly_fields(request, obj)
        return [*own, "name", "is_active"] if obj and obj.fingerprint else own

    has_steer_permission = requires("notifications.change_alertdestination")

    @display(
        description="State", label={"works": "success", "fails": "danger", "off": "", "new": "info"}
    )
    def condition(self, row: AlertDestination) -> str:
        """Return `works`, `fails`, `off`, or `new` before the first call."""
        if not row.is_active:
            return "off"
        if row.failures:
            return "fails"
        return "works" if row.last_sent_at else "new"

    @display(description="Latest notices")
    def latest(self, row: AlertDestination) -> str:
        """Return the latest notices with links to their alerts."""
        rows = row.notices.select_related("alert")[:_SHOWN]
        lines = (
            (
                f"{each.created_at:%Y-%m-%d %H:%M:%S} UTC",
                base.link(page_of(each.alert), each.alert),
                each.event,
                each.state,
                each.attempts,
                f"- {each.error}" if each.error else "",
            )
            for each in rows
        )
        shown = "<div>{}: {} - {}: {}, tries: {} {}</div>"
        return format_html_join("", shown, lines) or "none"

    @action("Send a test alert", permissions=["steer"], url_path="test", icon="send")
    def send_test(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for confirmation, then send a test alert and show the answer."""
        row = get_object_or_404(AlertDestination, pk=object_id)
        back = reverse("admin:notifications_alertdestination_change", args=[row.pk])
        if request.method != "POST":
            consequence = f"{row.target} gets a test alert now."
            context = {"verb": "Send", "consequence": consequence, "back": back}
            title = f"Send a test alert: {row}"
            return base.page(self, request, "admin/ask.html", title=title, context=context)
        is_sent, said = _test(row)
        audit.record(name_of(request), "test_alert_destination", row, after={"answer": said})
        self.message_user(request, said, messages.SUCCESS if is_sent else messages.ERROR)
        return HttpResponseRedirect(back)


def _test(row: AlertDestination) -> tuple[bool, str]:
    if conf.current().dry_run:
        return False, "Not sent: NOTIFY_DELIVERY is dry_run."
    try:
        outcome = notices.send_test(row)
    except UnreadableUrl:
        return False, "Not sent: no encryption key decrypts the URL. Enter the URL again."
    if isinstance(outcome, Accepted):
        return True, f"{row.target} accepted the test alert."
    return False, f"{row.target} did not accept the test alert: {notices.describe(outcome)}."
