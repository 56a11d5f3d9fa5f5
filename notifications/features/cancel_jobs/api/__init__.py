"""Operations on cancel jobs, for producers, and their facts for the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {"Cancellations": "Cancel many notifications, in jobs with progress."}
PATH_PARAMETERS: Final[dict[str, str]] = {}
