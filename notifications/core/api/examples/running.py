"""Examples for templates and operations."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import (
    NOTIFICATION,
    TAG,
    TEMPLATE,
    USER,
    Example,
    Examples,
)

_TEMPLATE: Final = {"template_id": TEMPLATE}
_DRAFTED: Final = {"template_id": "rental_reminder"}

TEMPLATES: Final[Examples] = {
    "list_templates": {
        "minimal": Example(summary="The first fifty templates", status=200),
        "usual": Example(
            summary="Ten templates after a name",
            status=200,
            query={"limit": 10, "cursor": TEMPLATE},
        ),
    },
    "create_template": {
        "minimal": Example(
            summary="One text",
            status=201,
            body={
                "template_id": "welcome",
                "texts": [{"channel": "push", "title": "Welcome", "body": "Good to see you."}],
            },
        ),
        "usual": Example(
            summary="Two languages, a declared variable and a sensitive one",
            status=201,
            headers={"Idempotency-Key": "welcome-code-2026-11"},
            body={
                "template_id": "welcome_code",
                "texts": [
                    {"channel": "sms", "locale": "en", "body": "{{ name }}, your code: {{ code }}"},
                    {"channel": "sms", "locale": "de", "body": "{{ name }}, Ihr Code: {{ code }}"},
                ],
                "variables": [
                    {"name": "name", "type": "string", "example": "Ada"},
                    {"name": "code", "type": "string", "example": "482913"},
                ],
                "sensitive_variables": ["code"],
                "note": "first version",
            },
        ),
    },
    "get_template": {
        "minimal": Example(summary="Versions and history", status=200, path=_TEMPLATE),
        "usual": Example(
            summary="Only if the template has changed",
            status=304,
            path=_TEMPLATE,
            headers={"If-None-Match": TAG},
        ),
    },
    "get_template_version": {
        "minimal": Example(
            summary="The first version", status=200, path={**_TEMPLATE, "version": 1}
        ),
        "another": Example(
            summary="The third version, a draft", status=200, path={**_DRAFTED, "version": 3}
        ),
    },
    "publish_template": {
        "minimal": Example(
            summary="Publish a draft", status=200, path=_DRAFTED, body={"version": 3}
        ),
        "usual": Example(
            summary="Publish a draft, unless the template has changed",
            status=200,
            path=_DRAFTED,
            headers={"If-Match": TAG, "Idempotency-Key": "publish-rental-3"},
            body={"version": 3},
        ),
    },
    "roll_back_template": {
        "minimal": Example(
            summary="Publish the first version again",
            status=201,
            path=_DRAFTED,
            body={"version": 1},
        ),
        "usual": Example(
            summary="Publish the first version again, unless the template has changed",
            status=201,
            path=_DRAFTED,
            headers={"If-Match": TAG, "Idempotency-Key": "back-to-1"},
            body={"version": 1},
        ),
    },
    "preview_template": {
        "minimal": Example(
            summary="The text for push with the declared examples",
            status=200,
            path=_TEMPLATE,
            body={"channel": "push"},
        ),
        "usual": Example(
            summary="The SMS in Spanish, with its segments",
            status=200,
            path=_TEMPLATE,
            body={
                "channel": "sms",
                "locale": "es",
                "variables": {"restaurant": "Casa Paco", "order_id": "ORD-7"},
            },
        ),
    },
    "diff_template": {
        "minimal": Example(
            summary="The current version and the newest one", status=200, path=_DRAFTED
        ),
        "usual": Example(
            summary="Two versions by number", status=200, path=_DRAFTED, query={"from": 1, "to": 2}
        ),
    },
}

OPERATIONS: Final[Examples] = {
    "list_dead_letters": {
        "minimal": Example(summary="The latest open dead letters", status=200),
        "usual": Example(
            summary="E-mails rejected by a provider since November",
            status=200,
            query={"reason": "permanent", "channel": "email", "since": "2026-11-01T00:00:00Z"},
        ),
    },
    "get_dead_letter": {
        "minimal": Example(summary="An open dead letter", status=200, path={"letter_id": 71}),
        "resolved": Example(summary="A discarded dead letter", status=200, path={"letter_id": 72}),
    },
    "replay_dead_letters": {
        "minimal": Example(summary="One dead letter", status=202, body={"ids": [71]}),
        "usual": Example(
            summary="All of one reason on one channel, with a new time to live",
            status=202,
            headers={"Idempotency-Key": "replay-2026-11-22"},
            body={"reason": "permanent", "channel": "email", "renew_ttl": True},
        ),
    },
    "discard_dead_letter": {
        "minimal": Example(summary="Discard a dead letter", status=200, path={"letter_id": 71}),
        "usual": Example(
            summary="Discard a dead letter, with an idempotency key",
            status=200,
            path={"letter_id": 71},
            headers={"Idempotency-Key": "discard-71"},
        ),
    },
    "list_replay_jobs": {
        "minimal": Example(summary="The latest replays", status=200),
        "usual": Example(
            summary="Ten replays after a cursor", status=200, query={"limit": 10, "cursor": 4711}
        ),
    },
    "get_replay_job": {
        "minimal": Example(summary="A running replay", status=200, path={"job_id": 81}),
        "finished": Example(summary="A finished replay", status=200, path={"job_id": 82}),
    },
    "list_switches": {
        "minimal": Example(summary="The active switches", status=200),
        "usual": Example(
            summary="Ten ended switches", status=200, query={"ended": "true", "limit": 10}
        ),
    },
    "set_switch": {
        "minimal": Example(
            summary="Hold a notification type until an operator resumes",
            status=201,
            body={"kind": "type", "value": "ORDER_READY", "reason": "the text is wrong"},
        ),
        "usual": Example(
            summary="Hold the messages of a channel for some time",
            status=201,
            headers={"Idempotency-Key": "hold-sms-2026-11-23"},
            body={
                "kind": "channel",
                "value": "sms",
                "reason": "the vendor moves our account",
                "expires_at": "2099-11-23T18:00:00Z",
            },
        ),
    },
    "get_switch": {
        "minimal": Example(summary="An active switch", status=200, path={"switch_id": 85}),
        "ended": Example(summary="An ended switch", status=200, path={"switch_id": 86}),
    },
    "resume_switch": {
        "minimal": Example(summary="End a switch", status=200, path={"switch_id": 85}),
        "usual": Example(
            summary="End a switch, with an idempotency key",
            status=200,
            path={"switch_id": 85},
            headers={"Idempotency-Key": "resume-85"},
        ),
    },
    "list_alerts": {
        "minimal": Example(summary="The open alerts", status=200),
        "usual": Example(
            summary="Ten resolved alerts", status=200, query={"resolved": "true", "limit": 10}
        ),
    },
    "acknowledge_alert": {
        "minimal": Example(
            summary="Acknowledge an alert for four hours",
            status=200,
            path={"alert_id": 91},
            body={},
        ),
        "usual": Example(
            summary="Acknowledge an alert for an hour, with owner and note",
            status=200,
            path={"alert_id": 91},
            body={"minutes": 60, "owner": "mail team", "note": "The vendor works on it."},
        ),
    },
    "resolve_alert": {
        "minimal": Example(summary="Resolve an alert", status=200, path={"alert_id": 91}),
        "usual": Example(
            summary="Resolve an alert, with an idempotency key",
            status=200,
            path={"alert_id": 91},
            headers={"Idempotency-Key": "resolve-91"},
        ),
    },
    "search": {
        "minimal": Example(
            summary="Deliveries to an address",
            status=200,
            query={"address": "maria@sandbox.example"},
        ),
        "usual": Example(
            summary="The latest ten deliveries to a recipient",
            status=200,
            query={"user_id": USER, "limit": 10},
        ),
        "by_id": Example(
            summary="Deliveries of a notification", status=200, query={"id": NOTIFICATION}
        ),
    },
}
