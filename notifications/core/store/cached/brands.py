"""The brand of a producer: that of the feature that stores brands, else the default."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from notifications.core import feature
from notifications.core.rules.brand import DEFAULT, Brand

FIELD: Final = "brands"


def of(producer_id: int | None) -> Brand:
    """Return the brand of a producer; None: that of the installation."""
    stored = _stored()
    return stored(producer_id) if stored else DEFAULT


@functools.cache
def _stored() -> Callable[[int | None], Brand] | None:
    return next(iter(feature.functions(FIELD)), None)
