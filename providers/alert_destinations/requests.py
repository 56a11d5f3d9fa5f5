"""The requests of notices to PagerDuty and to webhooks.

PagerDuty (Events API v2, https://developer.pagerduty.com/docs/send-alert-event): trigger,
acknowledge and resolve with one `dedup_key` are one incident, and a repeated trigger makes no
second incident.

A webhook gets the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`) without a
signature; the URL holds the receiver's own secret.
"""

from __future__ import annotations

from typing import Final

import orjson

from providers import graphemes
from providers.alert_destinations.events import NoticeEvent
from providers.alert_destinations.notice import Notice
from providers.transport import Request
from providers.transport.guard import AddressPolicy

_JSON: Final = "Content-Type: application/json"
_PATH: Final = "/v2/enqueue"
_SUMMARY: Final = 1_024
"""Characters of a PagerDuty summary."""
_ACTIONS: Final = {
    NoticeEvent.RAISED: "trigger",
    NoticeEvent.REMINDED: "trigger",
    NoticeEvent.ACKNOWLEDGED: "acknowledge",
    NoticeEvent.RESOLVED: "resolve",
    NoticeEvent.TEST: "trigger",
}


def pagerduty(notice: Notice) -> Request:
    """Return the event of a notice."""
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
            "summary": graphemes.cut(f"{notice.headline}: {notice.detail}", _SUMMARY),
            "source": notice.source,
            "severity": "critical" if notice.severity == "page" else "warning",
            "timestamp": notice.at.isoformat(),
            "component": notice.subject,
            "class": notice.kind,
            "custom_details": {"detail": notice.detail, "meaning": notice.meaning},
        },
    }
    url = notice.destination.origin + _PATH
    return Request(url=url, headers=[_JSON], body=orjson.dumps(event))


def webhook(notice: Notice, *, guard: AddressPolicy) -> Request:
    """Return the request of a notice.

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
