"""Facts of the OpenAPI document about cancel jobs, with examples."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import Example, Examples

TAGS: Final = {"Cancellations": "Cancel many notifications, in jobs with progress."}
PATH_PARAMETERS: Final[dict[str, str]] = {}

EXAMPLES: Final[Examples] = {
    "cancel_notifications": {
        "minimal": Example(
            summary="Cancel every open notification of a type",
            status=202,
            body={"type": "FLASH_SALE"},
        ),
        "usual": Example(
            summary="Cancel the open notifications of a campaign, with an idempotency key",
            status=202,
            headers={"Idempotency-Key": "cancel-autumn-2026"},
            body={"metadata": {"campaign": "autumn-2026"}, "priority": "P3"},
        ),
    },
    "list_cancel_jobs": {
        "minimal": Example(summary="The first fifty jobs", status=200),
        "usual": Example(summary="Ten jobs", status=200, query={"limit": 10}),
    },
    "get_cancel_job": {
        "minimal": Example(summary="A running job", status=200, path={"job_id": 87}),
        "finished": Example(summary="A stopped job", status=200, path={"job_id": 88}),
    },
    "stop_cancel_job": {
        "minimal": Example(summary="Stop a job", status=200, path={"job_id": 87}),
        "usual": Example(
            summary="Stop a job, with an idempotency key",
            status=200,
            path={"job_id": 87},
            headers={"Idempotency-Key": "stop-87"},
        ),
    },
}
