"""Operations of schedules, and facts of the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {"Schedules": "Recurring notifications."}
PATH_PARAMETERS: Final = {"schedule_id": "The `id` of a schedule."}
