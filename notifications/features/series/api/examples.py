"""Facts of the OpenAPI document about series, enrolments and events, with examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.core.api.examples.shape import (
    ANOTHER_USER,
    SERIES,
    TEMPLATE,
    USER,
    Example,
    Examples,
)

TAGS: Final = {
    "Series": "Several messages to a recipient over days, and the events that series react to.",
}
PATH_PARAMETERS: Final = {
    "enrolment_id": "The `id` of an enrolment.",
    "series_name": "The name of a series.",
}
_ENROLMENT: Final[Mapping[str, str | int]] = {"series_name": SERIES, "enrolment_id": 57}
_NAME: Final = {"series_name": SERIES}
_REMINDER: Final = {
    "step": "send",
    "name": "reminder",
    "type": "ORDER_READY",
    "template_id": TEMPLATE,
}
_WAIT: Final = {
    "step": "wait",
    "hours": 20,
    "until_local": "09:00",
    "until_event": {"event": "order_paid"},
}


def _change(summary: str, key: str) -> Mapping[str, Example]:
    """Return the examples of an operation without a body that changes a series."""
    return {
        "minimal": Example(summary=summary, status=200, path=_NAME),
        "usual": Example(
            summary="With an idempotency key",
            status=200,
            path=_NAME,
            headers={"Idempotency-Key": key},
        ),
    }


EXAMPLES: Final[Examples] = {
    "create_series": {
        "minimal": Example(
            summary="One message after a day",
            status=201,
            body={
                "name": "hello",
                "definition": {"steps": [{"step": "wait", "days": 1}, _REMINDER]},
            },
        ),
        "usual": Example(
            summary="A reminder of an abandoned cart, unless the order is paid",
            status=201,
            headers={"Idempotency-Key": "series-abandoned-cart"},
            body={
                "name": "abandoned-cart",
                "definition": {
                    "description": "Reminds of a cart at nine in the morning.",
                    "trigger": {"event": "cart_left", "where": {"country": "DE"}},
                    "reentry": "after_exit",
                    "goal": {"event": "order_paid"},
                    "steps": [
                        _WAIT,
                        _REMINDER,
                        {"step": "wait", "days": 2},
                        {
                            "step": "condition",
                            "if": {"message": "reminder", "status": "read"},
                            "then": [{**_REMINDER, "name": "last-call", "channels": ["sms"]}],
                            "else": [{"step": "exit", "reason": "not interested"}],
                        },
                    ],
                },
            },
        ),
    },
    "list_series": {
        "minimal": Example(summary="The latest series", status=200),
        "usual": Example(
            summary="Ten series after a cursor", status=200, query={"limit": 10, "cursor": 4711}
        ),
    },
    "get_series": {
        "minimal": Example(summary="A series", status=200, path=_NAME),
        "usual": Example(summary="The enrolments by step", status=200, path=_NAME),
    },
    "change_series": {
        "minimal": Example(
            summary="Replace the draft",
            status=200,
            path=_NAME,
            body={"definition": {"steps": [_WAIT, _REMINDER]}},
        ),
        "usual": Example(
            summary="A draft with a trigger",
            status=200,
            path=_NAME,
            body={
                "definition": {
                    "trigger": {"event": "cart_left"},
                    "reentry": "after_exit",
                    "steps": [_WAIT, _REMINDER],
                }
            },
        ),
    },
    "publish_series": _change("Publish the draft", "publish-cart-reminder-2"),
    "pause_series": _change("Pause a series", "pause-cart-reminder"),
    "resume_series": _change("Resume a series", "resume-cart-reminder"),
    "archive_series": _change("Archive a series", "archive-cart-reminder"),
    "create_enrolments": {
        "minimal": Example(
            summary="Enrol a recipient",
            status=200,
            path=_NAME,
            body={"enrolments": [{"user_id": USER}]},
        ),
        "usual": Example(
            summary="Enrol two recipients with variables",
            status=200,
            path=_NAME,
            headers={"Idempotency-Key": "enrol-2026-11-23"},
            body={
                "enrolments": [
                    {"user_id": USER, "variables": {"restaurant": "Burger Palace"}},
                    {"user_id": ANOTHER_USER, "variables": {"restaurant": "Pasta Bar"}},
                ]
            },
        ),
    },
    "list_enrolments": {
        "minimal": Example(summary="The latest enrolments", status=200, path=_NAME),
        "usual": Example(
            summary="The running enrolments of a recipient",
            status=200,
            path=_NAME,
            query={"user_id": USER, "state": "running", "limit": 10},
        ),
    },
    "get_enrolment": {
        "minimal": Example(summary="An enrolment", status=200, path=_ENROLMENT),
        "usual": Example(summary="The history of an enrolment", status=200, path=_ENROLMENT),
    },
    "exit_enrolment": {
        "minimal": Example(summary="End an enrolment", status=200, path=_ENROLMENT),
        "usual": Example(
            summary="With an idempotency key",
            status=200,
            path=_ENROLMENT,
            headers={"Idempotency-Key": "exit-57"},
        ),
    },
    "create_events": {
        "minimal": Example(
            summary="Post an event",
            status=202,
            body={"events": [{"name": "order_paid", "user_id": USER}]},
        ),
        "usual": Example(
            summary="Post events with properties and keys",
            status=202,
            headers={"Idempotency-Key": "events-2026-11-23-1"},
            body={
                "events": [
                    {
                        "name": "cart_left",
                        "user_id": USER,
                        "properties": {"country": "DE", "items": 3},
                        "idempotency_key": "cart-4711-left",
                    },
                    {"name": "order_paid", "user_id": ANOTHER_USER},
                ]
            },
        ),
    },
}
