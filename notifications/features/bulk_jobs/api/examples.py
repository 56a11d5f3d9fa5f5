"""Facts of the OpenAPI document about bulk jobs, with examples."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import (
    BULK_JOB,
    SOON,
    TEMPLATE,
    USER,
    Example,
    Examples,
)

TAGS: Final = {"Campaigns": "One message to an audience, at a rate, with progress."}
PATH_PARAMETERS: Final = {"bulk_job_id": "The `id` of a bulk job."}
_PATH: Final = {"bulk_job_id": BULK_JOB}
_PLAIN: Final = {
    "name": "Menu of the week",
    "audience": {"everyone": True},
    "type": "MARKETING",
    "template_id": TEMPLATE,
    "variables": {"restaurant": "Burger Palace", "order_id": "the new menu"},
}

EXAMPLES: Final[Examples] = {
    "create_bulk_job": {
        "minimal": Example(summary="A message to every recipient", status=202, body=_PLAIN),
        "usual": Example(
            summary="At a rate, with an A/B test, a holdout and limits",
            status=202,
            headers={"Idempotency-Key": "menu-2026-48"},
            body={
                **_PLAIN,
                "audience": {"user_ids": [USER, "u_ana"]},
                "priority": "P3",
                "channels": ["push", "sms"],
                "scheduled_at": SOON,
                "rate_per_second": 500,
                "metadata": {"campaign": "menu-2026-48"},
                "variants": [
                    {"name": "plain", "percent": 50},
                    {"name": "short", "percent": 50, "template_id": TEMPLATE},
                ],
                "holdout_percent": 5,
                "winner": {"metric": "read", "sample_percent": 10, "after_seconds": 3600},
                "abort_limits": {"failed": 0.1, "bounced": 0.05, "complained": 0.001},
            },
        ),
    },
    "try_bulk_job": {
        "minimal": Example(summary="Counts, cost and three texts", status=200, body=_PLAIN),
        "usual": Example(
            summary="The texts of a recipient",
            status=200,
            body={**_PLAIN, "channels": ["push", "sms"], "sample_user_ids": [USER]},
        ),
    },
    "list_bulk_jobs": {
        "minimal": Example(summary="The newest jobs", status=200),
        "usual": Example(
            summary="Running and paused jobs of a type",
            status=200,
            query={"state": ["running", "paused"], "type": "MARKETING", "limit": 10},
        ),
    },
    "get_bulk_job": {
        "minimal": Example(summary="A job with its progress", status=200, path=_PATH),
        "usual": Example(summary="The result of an A/B test", status=200, path=_PATH),
    },
    "pause_bulk_job": {
        "minimal": Example(summary="Pause a job", status=200, path=_PATH, body={}),
        "usual": Example(
            summary="Pause a job with a reason",
            status=200,
            path=_PATH,
            headers={"Idempotency-Key": "pause-menu-48"},
            body={"reason": "The price is wrong."},
        ),
    },
    "resume_bulk_job": {
        "minimal": Example(summary="Resume a job", status=200, path=_PATH),
        "usual": Example(
            summary="Resume a job once",
            status=200,
            path=_PATH,
            headers={"Idempotency-Key": "resume-menu-48"},
        ),
    },
    "cancel_bulk_job": {
        "minimal": Example(summary="Cancel a job", status=200, path=_PATH, body={}),
        "usual": Example(
            summary="Cancel a job with a reason",
            status=200,
            path=_PATH,
            headers={"Idempotency-Key": "cancel-menu-48"},
            body={"reason": "The offer is over."},
        ),
    },
}
