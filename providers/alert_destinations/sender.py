"""Sends notices: HTTP to PagerDuty and webhooks, chat services, mail.

The groups run in order within one deadline per group, so a batch ends after at most three and a
half deadlines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import orjson

from providers import graphemes, http_outcomes
from providers.alert_destinations.destination import DestinationKind
from providers.alert_destinations.events import NoticeEvent
from providers.alert_destinations.notice import Notice
from providers.chat.apprise_chat import AppriseChat
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    Outcome,
    Provider,
    Rejected,
)
from providers.errors import ForbiddenAddress
from providers.transport import Request, Transport
from providers.transport.guard import AddressPolicy

NO_MAIL: Final = Misconfigured(code="no_email_provider", detail="no e-mail provider is configured")

_JSON: Final = "Content-Type: application/json"
_PAGERDUTY_PATH: Final = "/v2/enqueue"
_MOST_SUMMARY: Final = 1_024
"""Characters of a PagerDuty summary."""
_ACTIONS: Final = {
    NoticeEvent.RAISED: "trigger",
    NoticeEvent.REMINDED: "trigger",
    NoticeEvent.ACKNOWLEDGED: "acknowledge",
    NoticeEvent.RESOLVED: "resolve",
    NoticeEvent.TEST: "trigger",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSender:
    """The ways out of the installation."""

    transport: Transport
    guard: AddressPolicy
    """Allowed addresses of webhooks."""
    chat: AppriseChat
    mail: Provider | None
    """The e-mail provider; None if no provider is configured."""

    def send(
        self, notices: Sequence[Notice], *, deadline: timedelta
    ) -> Iterator[tuple[Notice, Outcome]]:
        """Send notices and yield notices with outcomes, in any order.

        Network errors raise no exception. A notice cut off without an answer is Unanswered, because
        the notice may have arrived.
        """
        by_kind: dict[DestinationKind, list[Notice]] = {}
        for notice in notices:
            by_kind.setdefault(notice.destination.kind, []).append(notice)
        http = [
            *by_kind.get(DestinationKind.PAGERDUTY, []),
            *by_kind.get(DestinationKind.WEBHOOK, []),
        ]
        yield from self._post(http, deadline)
        yield from _messages(self.chat, Channel.CHAT, by_kind.get(DestinationKind.CHAT), deadline)
        mails = by_kind.get(DestinationKind.MAIL)
        if self.mail is None:
            yield from ((notice, NO_MAIL) for notice in mails or ())
        else:
            yield from _messages(self.mail, Channel.EMAIL, mails, deadline)

    def _post(
        self, notices: Sequence[Notice], deadline: timedelta
    ) -> Iterator[tuple[Notice, Outcome]]:
        ready: list[tuple[Notice, Request]] = []
        for notice in notices:
            try:
                ready.append((notice, self._request(notice)))
            except ForbiddenAddress as error:
                yield notice, Rejected(code="forbidden_address", detail=str(error))
        calls = [request for _, request in ready]
        for index, reply in self.transport.send(calls, deadline=deadline):
            notice = ready[index][0]
            hide = notice.destination.address
            yield (
                notice,
                http_outcomes.outcome_of(reply, accepted=lambda _: Accepted(), hide=hide),
            )

    def _request(self, notice: Notice) -> Request:
        if notice.destination.kind is DestinationKind.PAGERDUTY:
            return _pagerduty_request(notice)
        return _webhook_request(notice, guard=self.guard)


def _messages(
    provider: Provider,
    channel: Channel,
    notices: Sequence[Notice] | None,
    deadline: timedelta,
) -> Iterator[tuple[Notice, Outcome]]:
    """Send notices as messages of a channel, as many at a time as the provider takes."""
    waiting = {notice.id: notice for notice in notices or ()}
    ids = list(waiting)
    size = provider.capabilities.batch_limit
    for start in range(0, len(ids), size):
        batch = [_message(waiting[each], channel) for each in ids[start : start + size]]
        for result in provider.send(batch, deadline=deadline):
            yield waiting[result.delivery_id], result.outcome


def _message(notice: Notice, channel: Channel) -> Message:
    return Message(
        delivery_id=notice.id,
        notification_id=notice.id,
        idempotency_key=f"{notice.id}-0",
        channel=channel,
        address=notice.destination.address,
        title=notice.headline,
        body=notice.text,
        urgent=True,
        data={"type": "ALERT"},
    )


def _pagerduty_request(notice: Notice) -> Request:
    """Return the event of a notice.

    Trigger, acknowledge and resolve with one `dedup_key` are one incident, and a repeated trigger
    makes no second incident (Events API v2, https://developer.pagerduty.com/docs/send-alert-event).
    """
    event = {
        "routing_key": notice.destination.address,
        "event_action": _ACTIONS[notice.event],
        "dedup_key": notice.incident,
        "client": "Notifications",
        "client_url": notice.url,
        "links": [
            {"href": href, "text": text}
            for href, text in ((notice.cause_url, "Cause"), (notice.runbook_url, "Runbook"))
            if href
        ],
        "payload": {
            "summary": graphemes.cut(f"{notice.headline}: {notice.detail}", _MOST_SUMMARY),
            "source": notice.source,
            "severity": "critical" if notice.severity == "page" else "warning",
            "timestamp": notice.at.isoformat(),
            "component": notice.subject,
            "class": notice.kind,
            "custom_details": {"detail": notice.detail, "meaning": notice.meaning},
        },
    }
    url = notice.destination.origin + _PAGERDUTY_PATH
    return Request(url=url, headers=[_JSON], body=orjson.dumps(event))


def _webhook_request(notice: Notice, *, guard: AddressPolicy) -> Request:
    """Return the request of a notice.

    The request has the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`) without a
    signature; the URL holds the receiver's own secret.

    Raises:
        providers.errors.ForbiddenAddress: the URL is not allowed.
    """
    url = notice.destination.address
    guard.check_url(url)
    body = {
        "type": f"alert.{notice.event}",
        "timestamp": notice.at.isoformat(),
        "data": {
            "incident": notice.incident,
            "kind": notice.kind,
            "title": notice.title,
            "subject": notice.subject,
            "severity": notice.severity,
            "detail": notice.detail,
            "meaning": notice.meaning,
            "owner": notice.owner,
            "raised_at": notice.raised_at.isoformat(),
            "source": notice.source,
            "url": notice.url,
            "cause_url": notice.cause_url,
            "runbook_url": notice.runbook_url,
        },
    }
    headers = [
        _JSON,
        f"webhook-id: {notice.id}",
        f"webhook-timestamp: {int(notice.at.timestamp())}",
    ]
    return Request(url=url, headers=headers, body=orjson.dumps(body), guard=guard)
