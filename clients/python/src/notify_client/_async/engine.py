"""The attempts of a call, and the pages of a list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Generic, TypedDict, TypeVar

import httpx

from notify_client import _timing
from notify_client._answer import NO_CONTENT, NOT_MODIFIED, Answer, Tagged
from notify_client._call import Call, get
from notify_client._http import AsyncHttp
from notify_client._retries import Attempts, Limits
from notify_client.errors import UnexpectedAnswer

T = TypeVar("T")


class Page(TypedDict, Generic[T]):
    """A part of a list."""

    results: list[T]
    next: str | None
    """The cursor of the next page; None: there is none."""


class AsyncEngine:
    """Sends calls."""

    def __init__(self, http: AsyncHttp, limits: Limits) -> None:
        """Open no connection."""
        self.http = http
        self._limits = limits

    async def answer(self, call: Call) -> Answer:
        """Attempt a call until the service answers or the call's time ends.

        Raises:
            NotifyError: the call failed.
        """
        attempts = Attempts(call, self._limits)
        while True:
            seconds = attempts.begin()
            try:
                answer = await self.http.ask(call, seconds=seconds)
            except httpx.HTTPError as error:
                wait = attempts.after_no_answer(error)
            else:
                found = attempts.after_answer(answer)
                if found is None:
                    return answer
                wait = found
            await _timing.async_sleep(wait)

    async def value(self, call: Call, *, has: str) -> Any:  # noqa: ANN401 - the calling method has the type
        """Return the JSON of the answer. `has`: a field of each answer, which a proxy's JSON lacks.

        Raises:
            NotifyError: the call failed.
        """
        answer = await self.answer(call)
        return answer.value(call, has=has)

    async def nothing(self, call: Call) -> None:
        """Send a call whose answer has no body.

        Raises:
            NotifyError: the call failed.
        """
        answer = await self.answer(call)
        if answer.status != NO_CONTENT:
            answer.refuse("the answer has a body: check the base URL", call)

    async def read_tagged(self, call: Call, *, has: str) -> Tagged[Any] | None:
        """Return the JSON of the answer and the ETag; None after a 304. `has`: as of `value`.

        Raises:
            NotifyError: the call failed.
        """
        answer = await self.answer(call)
        if answer.status == NOT_MODIFIED:
            return None
        return Tagged(answer.value(call, has=has), answer.headers.get("etag", ""))


class AsyncPages(Generic[T]):
    """A list; iteration reads page after page.

    Each iteration begins at the cursor of the request.
    """

    def __init__(self, engine: AsyncEngine, target: str, query: dict[str, Any]) -> None:
        """Read no page."""
        self._engine = engine
        self._target = target
        self._query = query

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for each in page["results"]:
                yield each

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Iterate over the pages. The `next` of a page is the `cursor` of the page behind it.

        Raises:
            NotifyError: a page could not be read.
            UnexpectedAnswer: a page leads to a page before.
        """
        query = self._query
        seen = {str(query.get("cursor"))}
        while True:
            call = get(self._target, query)
            page: Page[T] = await self._engine.value(call, has="results")
            yield page
            following = page.get("next")
            if following is None:
                return
            if following in seen:
                raise UnexpectedAnswer(200, "the list repeats a page, and would never end")
            seen.add(following)
            query = {**query, "cursor": following}
