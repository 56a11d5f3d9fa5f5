"""Facts of the OpenAPI document about schedules, with examples."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import TAG, USER, Example, Examples

TAGS: Final = {"Schedules": "Recurring notifications."}
PATH_PARAMETERS: Final = {"schedule_id": "The `id` of a schedule."}
_WEEKLY: Final = {
    "user_id": USER,
    "type": "ORDER_SHIPPED",
    "content": {"title": "Your week", "body": "Three orders arrived this week."},
}

EXAMPLES: Final[Examples] = {
    "create_schedule": {
        "minimal": Example(
            summary="Each day, on the recipient's clock",
            status=201,
            body={
                "name": "daily-summary",
                "rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0",
                "notification": _WEEKLY,
            },
        ),
        "usual": Example(
            summary="Each Monday at nine in Berlin, until an end",
            status=201,
            headers={"Idempotency-Key": "weekly-summary-u_789012"},
            body={
                "name": "weekly-summary",
                "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
                "timezone": "Europe/Berlin",
                "ends_at": "2100-01-01T00:00:00Z",
                "notification": _WEEKLY,
            },
        ),
    },
    "list_schedules": {
        "minimal": Example(summary="The latest schedules", status=200),
        "usual": Example(
            summary="Ten schedules after a cursor", status=200, query={"limit": 10, "cursor": 4711}
        ),
    },
    "get_schedule": {
        "minimal": Example(summary="A schedule", status=200, path={"schedule_id": 17}),
        "usual": Example(
            summary="Only if the schedule has changed",
            status=304,
            path={"schedule_id": 17},
            headers={"If-None-Match": TAG},
        ),
    },
    "change_schedule": {
        "minimal": Example(
            summary="Pause a schedule", status=200, path={"schedule_id": 17}, body={"paused": True}
        ),
        "usual": Example(
            summary="Another rule, unless the schedule has changed",
            status=200,
            path={"schedule_id": 17},
            headers={"If-Match": TAG},
            body={"rrule": "FREQ=WEEKLY;BYDAY=FR;BYHOUR=16;BYMINUTE=30", "paused": False},
        ),
    },
    "delete_schedule": {
        "minimal": Example(summary="End a schedule", status=204, path={"schedule_id": 17}),
        "usual": Example(
            summary="End a schedule, unless the schedule has changed",
            status=204,
            path={"schedule_id": 17},
            headers={"If-Match": TAG},
        ),
    },
}
