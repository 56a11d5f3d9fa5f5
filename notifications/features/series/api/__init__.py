"""Operations of series, enrolments and custom events, and facts of the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {
    "Series": "Several messages to a recipient over days, and the events that series react to.",
}
PATH_PARAMETERS: Final = {
    "enrolment_id": "The `id` of an enrolment.",
    "series_name": "The name of a series.",
}
