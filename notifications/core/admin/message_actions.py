"""Actions of the page of a message: cancel, withdraw, resend on another channel, send a copy.

Each action asks for confirmation by GET, acts by POST, and writes an audit entry. A download of an
attachment is a GET, which writes an audit entry too.
"""

from __future__ import annotations

import secrets
from collections import Counter
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.core.validators import validate_email
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from notifications.core.admin import addresses, base, message_files, message_page
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import Notification, Recipient
from notifications.core.operations import resend, sent_content, withdraw
from notifications.core.operations.sent_content import SentContent
from notifications.core.rules.lane import Mode
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import audit, timelines
from notifications.core.store.postgres.timelines import Timeline
from providers.contract import Channel


class MessageActions(base.ReadOnlyAdmin):
    """Adds the actions to the admin of notifications."""

    actions_detail = ("cancel", "withdraw", "resend", "send_to_me", "attachment")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    has_cancel_permission = requires("notifications.cancel_notification")
    has_resend_permission = requires("notifications.add_notification")

    def has_reveal_permission(self, request: HttpRequest, _object_id: object = None) -> bool:
        """Return True if the operator may see messages, and addresses in full."""
        return self.has_view_permission(request) and addresses.may_see(request)

    @action("Cancel", url_path="cancel", permissions=["cancel"], icon="cancel")
    def cancel(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation, then stop the deliveries that have not left."""
        timeline = _timeline(object_id)
        notification = timeline.notification
        if request.method == "POST":
            row = Notification.objects.filter(pk=notification.pk)
            with audit.changes(name_of(request), "cancel_notification", row):
                stopped = cancel.stop([notification.pk])
            count = len(stopped)
            word = "delivery was" if count == 1 else "deliveries were"
            self.message_user(request, f"{count} {word} stopped.", messages.SUCCESS)
            return HttpResponseRedirect(_page(notification.pk))
        consequence = (
            "Deliveries that wait are stopped for good. A delivery in the hands of a worker may"
            " still be sent; such a delivery gets no retry."
        )
        return self._ask(request, timeline, verb="Cancel", consequence=consequence)

    @action("Withdraw", url_path="withdraw", permissions=["cancel"], icon="undo")
    def withdraw(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation, then cancel the notification and remove shown pushes."""
        timeline = _timeline(object_id)
        notification = timeline.notification
        if request.method == "POST":
            found = withdraw.withdraw(notification.pk, by=name_of(request))
            for state, count in Counter(each.state for each in found).items():
                word = "delivery" if count == 1 else "deliveries"
                self.message_user(request, f"{count} {word}: {state.sentence}", messages.SUCCESS)
            return HttpResponseRedirect(_page(notification.pk))
        consequence = (
            "Deliveries that wait are stopped for good. Each device that got a push is told to"
            " remove the message, without a sound; the app needs the code of the page Client"
            " receipts. SMS, e-mail and chat cannot be withdrawn."
        )
        return self._ask(request, timeline, verb="Withdraw", consequence=consequence)

    @action("Resend", url_path="resend", permissions=["resend"], icon="forward_to_inbox")
    def resend(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the channel, then send the same content to the recipient once more."""
        timeline = _timeline(object_id)
        notification = timeline.notification
        if request.method == "POST":
            channel = _read_channel(request)
            try:
                sent = resend.to_channel(notification, channel)
            except resend.ResendRefused as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
                return HttpResponseRedirect(_page(notification.pk))
            after = {"channel": channel.label, "notification": str(sent)}
            audit.record(name_of(request), "resend_notification", notification, after=after)
            self.message_user(request, f"Resent by {channel.label}.", messages.SUCCESS)
            return HttpResponseRedirect(_page(sent))
        before = {delivery.channel for delivery in timeline.deliveries}
        choices = [
            (channel.label, channel in before, resend.resent_as(notification, channel))
            for channel in Channel
        ]
        consequence = (
            "A new notification goes to the same recipient with the same content, restricted to"
            " one channel. All gates apply. A template renders the base text of its current"
            " published version."
        )
        return self._ask(request, timeline, verb="Resend", consequence=consequence, choices=choices)

    @action("Send to me", url_path="send-to-me", permissions=["resend"], icon="person_edit")
    def send_to_me(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the text, then send a copy to the e-mail address of the operator."""
        timeline = _timeline(object_id)
        recipient = Recipient.objects.filter(pk=timeline.notification.recipient_id).first()
        texts = [
            each for each in sent_content.contents(timeline, recipient) if each.rendered is not None
        ]
        if request.method == "POST":
            return self._send_copy(request, timeline.notification, texts)
        mode = Mode(timeline.notification.mode)
        address = str(getattr(request.user, "email", ""))
        consequence = (
            f"A copy goes by e-mail, in {mode.label} mode, to {address}. Sensitive variables stay"
            " masked."
            if address
            else "Your account has no e-mail address: an owner can add the address under Users."
        )
        return self._ask(
            request,
            timeline,
            verb="Send to me",
            consequence=consequence,
            nonce=secrets.token_urlsafe(12),
            choices=[(each.channel.label, False, None) for each in texts],
            impossible=not (address and texts),
        )

    @action("Attachment", url_path="attachment", permissions=["reveal"], icon="attach_file")
    def attachment(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return an attachment as a download."""
        notification = _timeline(object_id).notification
        try:
            return message_files.answer(request, notification)
        except message_files.FileGone as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(_page(notification.pk))

    def _send_copy(
        self, request: HttpRequest, notification: Notification, texts: list[SentContent]
    ) -> HttpResponse:
        channel, nonce = _read_channel(request), request.POST.get("nonce", "")
        rendered = next((each.rendered for each in texts if each.channel is channel), None)
        address = str(getattr(request.user, "email", ""))
        if rendered is None or not nonce:
            raise BadRequest("the message has no text for this channel, or the nonce is missing")
        try:
            validate_email(address)
            sent = resend.send_copy(rendered, of=notification, address=address, nonce=nonce)
        except ValidationError:
            self.message_user(request, "Your account has no e-mail address.", messages.ERROR)
        except resend.ResendRefused as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        else:
            after = {"channel": channel.label, "notification": str(sent)}
            audit.record(name_of(request), "send_copy", notification, after=after)
            self.message_user(request, "The copy is on its way.", messages.SUCCESS)
        return HttpResponseRedirect(_page(notification.pk))

    def _ask(
        self, request: HttpRequest, timeline: Timeline, *, verb: str, **context: object
    ) -> HttpResponse:
        notification = timeline.notification
        return base.page(
            self,
            request,
            "admin/ask_message.html",
            title=f"{verb}: {notification.type} to {message_page.person(notification)}",
            context={"verb": verb, "back": _page(notification.pk), **context},
        )


def _timeline(object_id: str) -> Timeline:
    known = message_page.parse_id(object_id)
    timeline = timelines.of(known) if known else None
    if timeline is None:
        raise Http404
    return timeline


def _page(notification_id: UUID) -> str:
    return reverse("admin:notifications_notification_change", args=[notification_id])


def _read_channel(request: HttpRequest) -> Channel:
    label = request.POST.get("channel", "")
    try:
        return Channel.from_label(label)
    except KeyError as error:
        raise BadRequest(f"unknown channel {label}") from error
