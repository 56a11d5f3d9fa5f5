"""The import of recipients, and facts of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TAGS: Final[Mapping[str, str]] = {}
PATH_PARAMETERS: Final[Mapping[str, str]] = {}
