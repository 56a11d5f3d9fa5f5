"""Fetch a file from a URL of a producer, at once and through the guarded transport.

A URL leads the service to an address of somebody else's choice. So private addresses are refused
after the look-up of the name (`providers.transport.guard`), no redirect is followed, and the size,
the time and the number of fetches have limits.
"""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from http import HTTPStatus
from typing import Final, NamedTuple

from notifications.core.rules.problems import Kind, Problem
from notifications.core.webhooks import body
from providers.errors import ForbiddenAddress
from providers.transport import Failure, FailureKind, Reply, Request, Response, Transport

URI_LIST: Final = "text/uri-list"
"""Type of a body with a URL in place of a file (RFC 2483, 5)."""
DEADLINE: Final = timedelta(seconds=10)
"""Time for the whole answer, however slowly the bytes come."""
_AT_ONCE: Final = 4
"""Fetches of a process at the same time: slow servers must not take all threads of the API. A
producer makes two of them at most, while no other producer makes any."""
_AGAIN_AFTER: Final = timedelta(seconds=2)
_TRANSPORT: Final = Transport()


class Places:
    """Places for fetches, shared among producers. Thread-safe.

    A producer takes its n-th place only while n places are free, so that a producer with a slow
    server leaves places to others.
    """

    def __init__(self, number: int) -> None:
        """Start with so many free places."""
        self._free = number
        self._taken = Counter[int]()
        self._lock = threading.Lock()

    def take(self, producer_id: int) -> bool:
        """Take a place; False: none is free for the producer."""
        with self._lock:
            is_free = self._free > self._taken[producer_id]
            if is_free:
                self._free -= 1
                self._taken[producer_id] += 1
            return is_free

    def give_back(self, producer_id: int) -> None:
        """Return a place."""
        with self._lock:
            self._free += 1
            self._taken[producer_id] -= 1
            self._taken += Counter()  # forgets producers without a place


_places: Final = Places(_AT_ONCE)


class Fetched(NamedTuple):
    """A file that a server returned."""

    type: str
    """Content-Type of the answer, with its parameters."""
    content: bytes


def fetch(uri_list: bytes, *, most: int, producer_id: int) -> Fetched | Problem:
    """Return the file at the URL of a body, or the problem of the URL or of its server.

    Args:
        uri_list: the body: one URL, in a line of its own.
        most: bytes of the largest file.
        producer_id: the producer of the call.
    """
    try:
        url = uri_list.decode("ascii").strip()
        body.check_url(url)
    except UnicodeDecodeError:
        return _invalid("the body must be one URL in ASCII")
    except ForbiddenAddress as error:
        return _invalid(str(error))
    if not _places.take(producer_id):
        said = "the service fetches other files already; upload the file, or ask again"
        return Problem(Kind.UNAVAILABLE, said, retry_after=_AGAIN_AFTER)
    try:
        reply = _get(url, most=most)
    finally:
        _places.give_back(producer_id)
    if isinstance(reply, Failure):
        return _invalid(_no_answer(reply))
    if reply.is_too_long and reply.status == HTTPStatus.OK:
        said = f"the file has more than {most} bytes: send a link to the file instead"
        return Problem(Kind.TOO_LARGE, said)
    fault = _fault(reply)
    return _invalid(fault) if fault else Fetched(reply.header, reply.body)


def _get(url: str, *, most: int) -> Reply:
    request = Request(
        url=url,
        headers=(),
        method="GET",
        wanted_header="content-type",
        guard=body.policy(),
        body_limit_bytes=most,
    )
    [(_, reply)] = _TRANSPORT.send([request], deadline=DEADLINE)
    return reply


def _no_answer(failure: Failure) -> str:
    """Return a sentence about a request without an answer."""
    if failure.code == "forbidden_address":
        return "the URL leads to a private address"
    if failure.kind is FailureKind.REFUSED:
        return "the URL is malformed"
    if failure.code == "timeout":
        return _too_slow()
    if failure.code == "resolve":
        return "the host of the URL has no address"
    return f"the server of the URL does not answer ({failure.code}); ask again, or upload the file"


def _fault(response: Response) -> str:
    """Return a sentence about an answer without a whole file; empty for a file."""
    status = response.status
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"the URL answers with a redirect ({status}): give the URL of the file itself"
    if status != HTTPStatus.OK:
        return f"the server of the URL answers with the status {status}"
    if not response.complete and response.elapsed >= DEADLINE:
        return _too_slow()
    if not response.complete:
        return "the server of the URL closed the connection before the end of the file"
    return ""


def _too_slow() -> str:
    return f"the server of the URL took longer than {DEADLINE.total_seconds():g} s; upload the file"


def _invalid(said: str) -> Problem:
    return Problem(Kind.INVALID, said)
