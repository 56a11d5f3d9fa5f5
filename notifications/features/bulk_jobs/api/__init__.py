"""Operations of bulk jobs, and facts of the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {"Campaigns": "One message to an audience, at a rate, with progress."}
PATH_PARAMETERS: Final = {"bulk_job_id": "The `id` of a bulk job."}
