"""Webhook endpoints of producers: filter, state and calls; replay and test event."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html_join
from unfold.decorators import display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.actions import action, never, requires
from notifications.core.admin.audited import AuditedAdmin, name_of
from notifications.core.models import WebhookAttempt, WebhookEndpoint, WebhookMessage
from notifications.core.rules.webhook_events import FILTERABLE, EndpointState
from notifications.core.store.postgres import audit
from notifications.core.webhooks import body, endpoints
from providers.errors import ForbiddenAddress

_SHOWN: Final = 20
"""Calls on the page of an endpoint."""
_DISABLED: Final = "The endpoint is disabled: resume the endpoint first."


class WebhookEndpointForm(forms.ModelForm[WebhookEndpoint]):
    """Checkboxes for events, and the check of the URL."""

    events = forms.MultipleChoiceField(
        choices=[(event.value, event.value) for event in FILTERABLE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None: all events.",
    )

    def clean_url(self) -> str:
        """Return a URL that the service may call.

        Raises:
            ValidationError: the URL is not allowed, or the endpoint is the one of requests.
        """
        url = str(self.cleaned_data["url"])
        if bool(url) != bool(self.instance.url):
            raise forms.ValidationError("An endpoint keeps its kind: with a URL, or of requests.")
        if url:
            try:
                body.check_url(url)
            except ForbiddenAddress as error:
                raise forms.ValidationError(f"Not allowed: {error}.") from error
        return url


class WebhookReplayForm(forms.Form):
    """The start of a replay."""

    hours = forms.IntegerField(
        min_value=1,
        max_value=24 * 60,
        initial=1,
        label="Hours back from now",
        widget=UnfoldAdminIntegerFieldWidget,
    )


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(AuditedAdmin):
    """Producers create and delete endpoints over the API, which shows the signing secret."""

    form = WebhookEndpointForm
    list_display = ("address", "producer", "mode", "condition", "failures", "state_since")
    list_filter = ("state", "mode", "producer")
    list_select_related = ("producer",)
    sortable_by = ()
    actions = ("resume", "pause", "disable")
    actions_detail = ("send_test", "replay")  # type: ignore[assignment]  # unfold types its default, an empty tuple
    fields = (
        *("producer", "mode", "url", "events", "preset", "condition", "state_reason"),
        *("state_since", "failures", "failing_since", "previous_secret_until", "replay_since"),
        *("waiting", "calls"),
    )
    readonly_fields: ClassVar = [name for name in fields if name not in {"url", "events", "preset"}]

    has_add_permission = never  # the producer's own call shows the secret
    has_delete_permission = never  # an operator disables an endpoint
    has_steer_permission = requires("notifications.change_webhookendpoint")

    @display(description="URL")
    def address(self, endpoint: WebhookEndpoint) -> str:
        """Return the URL, or the name of the endpoint of requests."""
        return str(endpoint)

    @display(
        description="State",
        label={"active": "success", "paused": "warning", "disabled": "danger"},
    )
    def condition(self, endpoint: WebhookEndpoint) -> str:
        """Return `active`, `paused` or `disabled`."""
        return endpoint.state

    @display(description="Waiting messages")
    def waiting(self, endpoint: WebhookEndpoint) -> int:
        """Return the number of waiting messages, at most `COUNTED`."""
        due = WebhookMessage.objects.filter(endpoint_id=endpoint.pk, due_at__isnull=False)
        return due[: base.COUNTED].count()

    @display(description="Latest calls")
    def calls(self, endpoint: WebhookEndpoint) -> str:
        """Return the latest calls with links."""
        latest = WebhookAttempt.objects.filter(endpoint_id=endpoint.pk).order_by("-pk")[:_SHOWN]
        lines = (
            (
                base.link(
                    reverse("admin:notifications_webhookattempt_change", args=[each.pk]),
                    f"{each.started_at:%Y-%m-%d %H:%M:%S} UTC",
                ),
                each.http_status or each.error,
                each.latency_ms,
            )
            for each in latest
        )
        return format_html_join("", "<div>{}: {}, {} ms</div>", lines) or "none"

    @action("Resume", permissions=["steer"])
    def resume(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Let waiting messages leave."""
        with audit.changes(name_of(request), "resume_webhook_endpoint", queryset.order_by()):
            for endpoint in queryset:
                endpoints.resume(endpoint.pk)
        self.message_user(request, "Resumed.", messages.SUCCESS)

    @action("Pause", permissions=["steer"])
    def pause(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Let messages wait, for 7 days at most."""
        with audit.changes(name_of(request), "pause_webhook_endpoint", queryset.order_by()):
            for endpoint in queryset:
                endpoints.pause(endpoint.pk, reason="Paused by an operator.")
        self.message_user(request, "Paused.", messages.SUCCESS)

    @action("Disable and give waiting messages up", permissions=["steer"])
    def disable(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Give waiting messages up, and make no further ones."""
        with audit.changes(name_of(request), "disable_webhook_endpoint", queryset.order_by()):
            for endpoint in queryset:
                endpoints.disable(endpoint.pk, reason="Disabled by an operator.")
        self.message_user(request, "Disabled.", messages.SUCCESS)

    @action("Send a test event", permissions=["steer"], url_path="test", icon="send")
    def send_test(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for confirmation, then send a test event."""
        endpoint = get_object_or_404(WebhookEndpoint, pk=object_id)
        back = _page_of(endpoint)
        if not endpoint.url:
            said = "The endpoint of requests has no URL to test."
            self.message_user(request, said, messages.ERROR)
            return HttpResponseRedirect(back)
        if endpoint.state == EndpointState.DISABLED:
            self.message_user(request, _DISABLED, messages.ERROR)
            return HttpResponseRedirect(back)
        if request.method == "POST":
            message = endpoints.send_test(endpoint)
            sent = {"message_id": str(message.pk)}
            audit.record(name_of(request), "test_webhook_endpoint", endpoint, after=sent)
            said = f"Test event {message.pk} waits for its call; the latest calls show the result."
            self.message_user(request, said, messages.SUCCESS)
            return HttpResponseRedirect(back)
        consequence = "The endpoint gets an event of the type webhook.test."
        context = {"verb": "Send", "consequence": consequence, "back": back}
        title = f"Send a test event: {endpoint}"
        return base.page(self, request, "admin/ask.html", title=title, context=context)

    @action("Replay", permissions=["steer"], url_path="replay", icon="replay")
    def replay(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for the start, then send the messages since then again."""
        endpoint = get_object_or_404(WebhookEndpoint, pk=object_id)
        if endpoint.state == EndpointState.DISABLED:
            self.message_user(request, _DISABLED, messages.ERROR)
            return HttpResponseRedirect(_page_of(endpoint))
        form = WebhookReplayForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            since = clock.now() - dt.timedelta(hours=form.cleaned_data["hours"])
            itself = WebhookEndpoint.objects.filter(pk=endpoint.pk)
            with audit.changes(name_of(request), "replay_webhooks", itself):
                endpoints.replay(endpoint.pk, since=since)
            self.message_user(request, f"Replay since {since:%Y-%m-%d %H:%M} UTC has begun.")
            return HttpResponseRedirect(_page_of(endpoint))
        context = {
            "form": form,
            "verb": "Replay",
            "consequence": "The messages of all changes since then are sent again, with the same"
            " ids: a receiver that keeps the ids drops the repeats.",
            "back": _page_of(endpoint),
        }
        template, title = "admin/suppression_form.html", f"Replay: {endpoint}"
        return base.page(self, request, template, title=title, context=context)


@admin.register(WebhookAttempt)
class WebhookAttemptAdmin(base.ReadOnlyAdmin):
    """Read-only list of calls; a call's page shows the request as rows, and the answer."""

    list_display = ("started_at", "endpoint_id", "http_status", "error", "latency_ms", "number")
    search_fields = ("endpoint_id__exact", "message_id__exact")
    search_help_text = "The id of an endpoint or of a message."
    reads_replica = True
    ordering = ("-id",)
    sortable_by = ()
    paginator = base.BoundedPaginator
    fields = (
        *("started_at", "endpoint_id", "message_id", "number", "request_body"),
        *("http_status", "error", "latency_ms", "response"),
    )
    readonly_fields = ("request_body",)

    @display(description="Request")
    def request_body(self, attempt: WebhookAttempt) -> str:
        """Return the message of the call, without the personal data of the body."""
        message = WebhookMessage.objects.filter(pk=attempt.message_id).first()
        if message is None:
            return "deleted"
        rows: dict[str, Any] = {
            "type": message.type,
            "notification_id": message.notification_id,
            "delivery_id": message.delivery_id,
            "reason": message.reason,
            "occurred_at": message.occurred_at,
            "state": message.state,
            "next call": message.due_at,
        }
        return format_html_join("", "<div>{}: {}</div>", rows.items())


def _page_of(endpoint: WebhookEndpoint) -> str:
    return reverse("admin:notifications_webhookendpoint_change", args=[endpoint.pk])
