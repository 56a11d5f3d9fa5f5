"""The page of a message: the result, the next steps, the content, the calls and the timeline.

lines      a sentence for each delivery, with the masked address
buttons    the actions that are possible now, for this operator
drawing    the timeline drawn to scale
contents   the text for each channel as sent, with sensitive variables masked
calls      request and answer of each provider call; the request is reconstructed
curl       the request of the producer, without secrets
"""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from notifications.core import clock, conf, feature
from notifications.core.admin import (
    addresses,
    base,
    message_files,
    message_scale,
    message_timeline,
    model_pages,
    recipient_names,
    recipient_page,
)
from notifications.core.admin.audited import LATEST
from notifications.core.admin.message_timeline import CallRun
from notifications.core.admin.recipient_page import Effort
from notifications.core.models import (
    Attempt,
    AuditEntry,
    DeadLetter,
    Notification,
    Producer,
    Recipient,
)
from notifications.core.operations import resend, sent_content, withdraw
from notifications.core.operations.sent_content import SentContent
from notifications.core.rules import attachments, masking, prices
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.sensitive import MASK
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.withdrawals import WithdrawalState
from notifications.core.store.postgres import audit
from notifications.core.store.postgres.timelines import DeliveryView, Timeline
from providers.contract import Channel

_RESULTS: Final[Mapping[Status, str]] = {
    Status.SCHEDULED: "Not sent yet",
    Status.QUEUED: "Waits for a worker",
    Status.SENDING: "A worker is sending the message",
    Status.RETRYING: "The last call failed; the next try follows",
    Status.SENT: "The provider accepted the message; no receipt yet",
    Status.UNCONFIRMED: "The provider accepted the message, and no receipt came in time",
    Status.DELIVERED: "Delivered",
    Status.READ: "Read",
    Status.BOUNCED: "The provider accepted the message and returned it",
    Status.FAILED: "Not delivered",
    Status.EXPIRED: "Not sent: the time to live is over",
    Status.SUPPRESSED: "Not sent: no call was made",
    Status.CANCELLED: "Cancelled before the send",
    Status.UNKNOWN: "The provider gave no answer: the message may have been sent",
}
_LETTERS_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An action that is possible now."""

    label: str
    icon: str
    url: str
    hint: str
    is_main: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """The last of some calls in a row, with the reconstructed request and the stored answer."""

    attempt: Attempt
    request: Mapping[str, str]
    answer: Mapping[str, str]
    run: CallRun
    """The calls in a row with the same answer, of which `attempt` is the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLine:
    """A delivery in words."""

    effort: Effort
    result: str
    address: str
    calls: Sequence[CallLine]
    notes: Sequence[str]
    """Notes of the features, as HTML."""


def context(request: HttpRequest, timeline: Timeline) -> dict[str, Any]:
    """Return the template context of the page."""
    notification = timeline.notification
    recipient = Recipient.objects.filter(pk=notification.recipient_id).first()
    masked = addresses.masks_by_id(delivery.contact_id for delivery in timeline.deliveries)
    return {
        "timeline": timeline,
        "template_url": model_pages.change_page(timeline.template) if timeline.template else "",
        "person": person(notification),
        "recipient": recipient,
        "producer": Producer.objects.filter(pk=notification.producer_id).first(),
        "ordering_key": addresses.text_for(request, notification.ordering_key or ""),
        "idempotency_key": addresses.text_for(request, notification.idempotency_key or ""),
        "variables": addresses.text_for(request, _pretty(timeline.variables)),
        "metadata": addresses.text_for(request, _pretty(notification.metadata)),
        "attachments": message_files.shown(request, notification),
        "downloads": addresses.may_see(request),
        "status_colour": base.colour_of(timeline.status),
        "clock": recipient_page.clock_of(recipient or Recipient()),
        "lines": [
            _line(each, timeline, masked, has_page=recipient is not None)
            for each in timeline.deliveries
        ],
        "drawing": message_scale.draw(timeline, now=clock.now()),
        "contents": [
            _without_addresses(request, each) for each in sent_content.contents(timeline, recipient)
        ],
        "buttons": buttons(request, timeline),
        "curl": curl(timeline, mask=lambda text: addresses.text_for(request, text)),
        "source": resend.source_of(notification),
        "audit": _audit_entries(request, notification),
        "rows": message_timeline.rows(timeline),
    }


def person(notification: Notification) -> str:
    """Return the name of the recipient."""
    return recipient_names.name(notification.recipient_id, notification.user_id)


def buttons(request: HttpRequest, timeline: Timeline) -> list[Button]:
    """Return the actions that are possible now and that the operator may use."""
    notification, may = timeline.notification, request.user.has_perm
    found: list[Button] = []
    letters = _open_letters(timeline)
    if letters and may("notifications.replay_deadletter"):
        page = reverse("admin:notifications_deadletter_replay")
        found.append(
            Button(
                label="Replay",
                icon="replay",
                url=f"{page}?ids={','.join(map(str, letters))}",
                hint="Sends the dead letter again, through all gates.",
                is_main=True,
            )
        )
    if notification.cancelled_at is None and may("notifications.cancel_notification"):
        found += _cancel_button(timeline)
    if may("notifications.cancel_notification"):
        found += _withdraw_button(timeline)
    if may("notifications.add_notification"):
        found.append(
            _button(notification, "resend", "Resend to another channel", icon="forward_to_inbox")
        )
        found.append(_button(notification, "send_to_me", "Send to me", icon="person_edit"))
    return found


def curl(timeline: Timeline, *, mask: Callable[[str], str]) -> str:
    """Return the producer's request as a curl command; the key and secrets are placeholders.

    `mask` changes the body before the body is quoted for a shell.
    """
    notification = timeline.notification
    body: dict[str, Any] = {
        "user_id": notification.user_id,
        "type": notification.type,
        "priority": Priority(notification.priority).name,
    }
    if notification.content is not None:
        body["content"] = notification.content
    else:
        body["template_id"] = timeline.template.template_id if timeline.template else "?"
        body["variables"] = timeline.variables
    optional = {
        "channels": [Channel(each).label for each in notification.channels],
        "collapse_key": notification.collapse_key,
        "ordering_key": notification.ordering_key,
        "metadata": notification.metadata,
    }
    body |= {name: value for name, value in optional.items() if value}
    body |= attachments.request_fields(notification.attachments, Channel.EMAIL)
    data = shlex.quote(mask(json.dumps(body, indent=2, ensure_ascii=False)))
    return (
        f"curl -X POST {conf.current().public_url}/v1/notifications \\\n"
        '  -H "Authorization: Bearer $NOTIFY_KEY" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {data}"
    )


def _without_addresses(request: HttpRequest, sent: SentContent) -> SentContent:
    """Mask the addresses in a text, unless the operator may see addresses."""
    if sent.rendered is None:
        return sent
    title, body, html, part, _parameters = sent.rendered
    shown = [addresses.text_for(request, text) for text in (title, body, html)]
    return dataclasses.replace(sent, rendered=Rendered(shown[0], shown[1], shown[2], part))


def _pretty(values: Mapping[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)


def _button(notification: Notification, action: str, label: str, *, icon: str) -> Button:
    hints = {
        "cancel": "Stops the deliveries that have not left.",
        "withdraw": "Removes the shown push from the devices, and stops what has not left.",
        "resend": "Sends the same content once more, on one channel, to the same recipient.",
        "send_to_me": "Sends a copy by e-mail to the address of your account.",
    }
    page = reverse(f"admin:notifications_notification_{action}", args=[notification.pk])
    return Button(label=label, icon=icon, url=page, hint=hints[action])


def _cancel_button(timeline: Timeline) -> list[Button]:
    if not any(delivery.status in OPEN for delivery in timeline.deliveries):
        return []
    return [_button(timeline.notification, "cancel", "Cancel", icon="cancel")]


def _withdraw_button(timeline: Timeline) -> list[Button]:
    waiting = OPEN - {Status.SENDING}
    if not any(
        each.state is WithdrawalState.WITHDRAWING and each.delivery.status not in waiting
        for each in withdraw.states_of(timeline)
    ):
        return []
    return [_button(timeline.notification, "withdraw", "Withdraw", icon="undo")]


def _open_letters(timeline: Timeline) -> list[int]:
    """Return the open dead letters that no replay job holds."""
    wanted = [delivery.id for delivery in timeline.deliveries]
    found = DeadLetter.objects.filter(
        delivery_id__in=wanted, resolved_at=None, replay_job=None
    ).values_list("pk", flat=True)
    return list(found[:_LETTERS_SHOWN])


def _audit_entries(request: HttpRequest, notification: Notification) -> list[AuditEntry]:
    if not request.user.has_perm("notifications.view_auditentry"):
        return []
    return list(audit.of_object(notification)[:LATEST])


def _line(
    delivery: DeliveryView, timeline: Timeline, masked: Mapping[int, str], *, has_page: bool
) -> DeliveryLine:
    address = masked.get(delivery.contact_id or 0, "")
    return DeliveryLine(
        effort=recipient_page.effort(delivery, expires_at=timeline.notification.expires_at),
        result=_RESULTS[delivery.status],
        address=address,
        notes=[
            note(delivery, timeline.notification, has_page=has_page)
            for note in feature.functions("delivery_notes")
        ],
        calls=[
            CallLine(
                attempt=run.last,
                request=_request(run.last, delivery, timeline, address),
                answer=_answer(run.last),
                run=run,
            )
            for run in message_timeline.runs(delivery.attempts)
        ],
    )


def _request(
    attempt: Attempt, delivery: DeliveryView, timeline: Timeline, address: str
) -> dict[str, str]:
    """Return the parts of a call's request that the stored rows determine."""
    notification = timeline.notification
    known = {
        "provider": attempt.provider,
        "to": address or "the contact was erased",
        "text": "as shown under Content",
        "delivery id": str(delivery.id),
        "idempotency key": "" if delivery.generation else f"{delivery.id}-0",
        "collapse key": masking.mask_text(notification.collapse_key or ""),
        "mode": Mode(notification.mode).label,
        "signed with": attempt.signed_with,
        "credentials": MASK,
    }
    return {name: value for name, value in known.items() if value}


def _answer(attempt: Attempt) -> dict[str, str]:
    wait = attempt.retry_after_s
    known = {
        "outcome": attempt.outcome,
        "HTTP status": str(attempt.http_status or ""),
        "code": attempt.code,
        "text": attempt.detail,
        "cost": _cost(attempt),
        "asked to wait": "" if wait is None else f"{wait} s",
        "after": f"{attempt.latency_ms} ms",
    }
    return {name: value for name, value in known.items() if value}


def _cost(attempt: Attempt) -> str:
    """Return the cost with its basis; empty without a cost."""
    cost = attempt.final_micros
    return "" if cost is None else f"{prices.dollars(cost)}, {attempt.cost_basis}"


def parse_id(object_id: str) -> UUID | None:
    """Return the id of a URL; None for a malformed id."""
    try:
        return UUID(object_id)
    except ValueError:
        return None
