"""Operations on the brand of a producer, and facts of the OpenAPI document."""

from typing import Final

TAGS: Final[dict[str, str]] = {"Brand": "Look of a producer's mails and pages, sender of e-mails."}
