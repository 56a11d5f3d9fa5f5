"""A fake of an HTTP vendor that answers in the vendor's own words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer, ServerRequest
from providers.verdicts import Verdict
from tests.providers.fakes import HttpFake

Words = Callable[[Act, ServerRequest], ServerAnswer]

CONTRACT: dict[Verdict, tuple[str, bool | str]] = {
    Verdict.REJECTED: ("Rejected", False),
    Verdict.REJECTED_HERE: ("Rejected", False),
    Verdict.REJECTED_OR_MISCONFIGURED: ("Rejected", False),
    Verdict.DEAD: ("Rejected", True),
    Verdict.DEAD_OR_MISCONFIGURED: ("Rejected", True),
    Verdict.SENDER_REFUSED: ("Misconfigured", False),
    Verdict.TEMPLATE_REFUSED: ("Rejected", False),
    Verdict.IN_SANDBOX: ("Rejected", False),
    Verdict.OPTED_OUT: ("Rejected", "opted out"),
    Verdict.THROTTLED: ("Throttled", False),
    Verdict.UNAVAILABLE: ("Unavailable", False),
    Verdict.MISCONFIGURED: ("Misconfigured", False),
    Verdict.UNANSWERED: ("Unanswered", False),
}
"""What each row of a table has to come out as: the outcome, and whether the contact is dead or has
opted out."""

BY_STATUS = {
    400: Verdict.REJECTED,
    401: Verdict.MISCONFIGURED,
    403: Verdict.MISCONFIGURED,
    429: Verdict.THROTTLED,
    500: Verdict.UNAVAILABLE,
    502: Verdict.UNAVAILABLE,
    503: Verdict.UNAVAILABLE,
    504: Verdict.UNAVAILABLE,
}
"""What an SMS vendor's answer means that says no more than its status."""


class AnsweringFake(HttpFake):
    """Answers by `words`, or with `answer` while one is set."""

    def __init__(self, words: Words, *, key: Callable[[ServerRequest], str]) -> None:
        super().__init__(key_header="")
        self._words, self._key = words, key
        self.origin = self.url.removesuffix("/hook")
        self.answer: ServerAnswer | None = None

    @property
    def keys(self) -> list[str]:
        return [self._key(request) for request in self.requests]

    def _handle(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        if self._act in {Act.HANG, Act.CUT}:
            return super()._handle(request)
        self.requests.append(request)
        return self.answer or self._words(self._act, request)


def shape(outcome: object) -> tuple[str, bool | str]:
    """An outcome as CONTRACT has it."""
    end = "opted out" if getattr(outcome, "has_opted_out", False) else False
    return type(outcome).__name__, end or getattr(outcome, "contact_is_dead", False)
