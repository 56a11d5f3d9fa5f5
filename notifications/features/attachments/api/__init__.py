"""Operations on attachments, for producers, and their facts for the OpenAPI document."""

from __future__ import annotations

from typing import Final

TAGS: Final = {"Attachments": "Files that are uploaded once and sent with e-mails."}
PATH_PARAMETERS: Final[dict[str, str]] = {}
