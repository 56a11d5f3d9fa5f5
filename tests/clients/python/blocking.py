"""The async client with the sync client's methods, so that one test proves both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from notify_client import AsyncClient, AsyncPages

T = TypeVar("T")


class Blocking:
    """Runs what an object of the async client does to its end."""

    def __init__(self, inner: object, runner: asyncio.Runner) -> None:
        self._inner = inner
        self._runner = runner

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has there
        found = getattr(self._inner, name)
        return self._called(found) if callable(found) else Blocking(found, self._runner)

    def _called(self, function: Any) -> Any:  # noqa: ANN401 - whatever the relayed method takes and gives
        def call(*args: object, **kwargs: object) -> object:
            result = function(*args, **kwargs)
            if inspect.iscoroutine(result):
                return self._runner.run(result)
            if isinstance(result, AsyncPages):
                return BlockingPages(result, self._runner)
            return result

        return call


class BlockingPages:
    """A list that is read in whole."""

    def __init__(self, pages: AsyncPages[Any], runner: asyncio.Runner) -> None:
        self._pages = pages
        self._runner = runner

    def __iter__(self) -> Any:  # noqa: ANN401 - of whatever the list holds
        return iter(self._runner.run(_all(aiter(self._pages))))

    def pages(self) -> Any:  # noqa: ANN401 - whatever the relayed method takes and gives
        return iter(self._runner.run(_all(self._pages.pages())))


async def _all(items: AsyncIterator[T]) -> list[T]:
    return [each async for each in items]


def blocking(url: str, key: str, runner: asyncio.Runner, **options: Any) -> Blocking:  # noqa: ANN401 - the client's own
    """An async client that blocks."""
    return Blocking(AsyncClient(url, key, **options), runner)
