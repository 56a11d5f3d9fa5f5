"""The brand of the producer."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._async.engine import AsyncEngine
from notify_client.types import BrandAnswer, BrandRequest


class AsyncBrand:
    """`/v1/brand`: look of the producer's mails and pages, and sender of its e-mails."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.brand`."""
        self._engine = engine

    async def get(self) -> BrandAnswer:
        """Return the brand of the producer, or that of the installation."""
        return await self._engine.value(_call.get(_call.path("brand")), has="color")

    async def put(self, **brand: Unpack[BrandRequest]) -> BrandAnswer:
        """Replace the brand of the producer."""
        return await self._engine.value(
            _call.write("PUT", _call.path("brand"), brand), has="is_own"
        )

    async def delete(self) -> None:
        """Remove the brand of the producer, which then has that of the installation."""
        await self._engine.nothing(_call.write("DELETE", _call.path("brand")))
