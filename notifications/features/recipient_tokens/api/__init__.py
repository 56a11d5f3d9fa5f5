"""Operations on recipient tokens, for producers."""

from typing import Final

TAGS: Final[dict[str, str]] = {"Tokens": "Tokens for the apps and browsers of recipients."}
