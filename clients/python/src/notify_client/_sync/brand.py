"""The brand of the producer."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._sync.engine import Engine
from notify_client.types import BrandAnswer, BrandRequest


class Brand:
    """`/v1/brand`: look of the producer's mails and pages, and sender of its e-mails."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.brand`."""
        self._engine = engine

    def get(self) -> BrandAnswer:
        """Return the brand of the producer, or that of the installation."""
        return self._engine.value(_call.get(_call.path("brand")), has="color")

    def put(self, **brand: Unpack[BrandRequest]) -> BrandAnswer:
        """Replace the brand of the producer."""
        return self._engine.value(_call.write("PUT", _call.path("brand"), brand), has="is_own")

    def delete(self) -> None:
        """Remove the brand of the producer, which then has that of the installation."""
        self._engine.nothing(_call.write("DELETE", _call.path("brand")))
