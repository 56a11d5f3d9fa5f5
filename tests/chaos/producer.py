"""A service that hands in notifications as a careful producer does.

Each notification has an idempotency key, and a request that fails or gets no answer is posted again
with the same key until the API takes it. So whatever is killed, each message is accepted once.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from tests.chaos.facts import Accepted, now
from tests.chaos.people import TEMPLATE, TYPE, user_id
from tests.chaos.plans import Message, Post

_CALLERS: Final = 8
_PAUSE_SECONDS: Final = 0.3
_LOOKOUT_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 120.0
_TIMEOUT_SECONDS: Final = 10.0
_OURS: Final = 5
"""First digit of a status that blames the service."""
_ACCEPTED: Final = frozenset({"accepted", "duplicate"})


class NotTaken(Exception):
    """The API answered otherwise; the message has its answer."""


class Producer:
    """Posts in threads; `stop` must follow."""

    def __init__(self, host: str, key: str, *, copies: int) -> None:
        """`copies` is how many callers may post the same request at the same time."""
        self._host = host
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._pool = ThreadPoolExecutor(max(_CALLERS, copies), thread_name_prefix="producer")
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._accepted: dict[str, Accepted] = {}
        """By token."""
        self.refused: list[str] = []
        self._waiting = 0
        self.server_errors: list[str] = []
        """Answers that blame the service itself (5xx other than 503)."""

    def post(self, post: Post, *, copies: int) -> None:
        """Hand it in, in so many threads at the same time."""
        with self._lock:
            self._waiting += copies
        for _ in range(copies):
            self._pool.submit(self._until_taken, post.messages)

    @property
    def accepted(self) -> list[Accepted]:
        """Each message that the API took, once."""
        with self._lock:
            return list(self._accepted.values())

    @property
    def is_idle(self) -> bool:
        """Whether each post was taken or given up."""
        with self._lock:
            return self._waiting == 0

    def stop(self) -> None:
        """Give up what is not taken yet."""
        self._stopping.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _until_taken(self, messages: tuple[Message, ...]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        why = ""
        while time.monotonic() < deadline and not self._stopping.is_set():
            try:
                ids = self._ask(messages)
            except (OSError, http.client.HTTPException, NotTaken, ValueError) as error:
                why = f"{type(error).__name__} {error}"
                self._stopping.wait(_PAUSE_SECONDS)
                continue
            self._note(messages, ids)
            return
        with self._lock:
            self._waiting -= 1
            self.refused += [f"{message.token}: {why}" for message in messages]

    def _note(self, messages: tuple[Message, ...], ids: list[str]) -> None:
        at = now()
        taken = [
            Accepted(
                token=message.token,
                notification_id=found,
                priority=message.priority,
                channel=message.channel,
                has_chain=message.falls_back_to is not None,
                at=at,
            )
            for message, found in zip(messages, ids, strict=True)
        ]
        with self._lock:
            self._waiting -= 1
            for each in taken:
                known = self._accepted.setdefault(each.token, each)
                if known.notification_id != each.notification_id:
                    self.server_errors.append(
                        f"{each.token}: one key, and two notifications:"
                        f" {known.notification_id}, {each.notification_id}"
                    )

    def _ask(self, messages: tuple[Message, ...]) -> list[str]:
        """Post once; returns the ids.

        Raises:
            NotTaken: the answer does not accept all of them.
            OSError: there was no answer.
        """
        asked = [_asked(message) for message in messages]
        if len(asked) == 1:
            return [str(self._request("/v1/notifications", asked[0])["notification_id"])]
        results = self._request("/v1/notifications/batch", {"notifications": asked})["results"]
        bad = [each for each in results if each["result"] not in _ACCEPTED]
        if bad:
            raise NotTaken(json.dumps(bad[0])[:300])
        return [str(each["notification"]["notification_id"]) for each in results]

    def _request(self, path: str, body: object) -> Mapping[str, Any]:
        link = http.client.HTTPConnection(self._host, timeout=_TIMEOUT_SECONDS)
        try:
            link.request("POST", path, json.dumps(body), self._headers)
            reply = link.getresponse()
            answer = reply.read()
        finally:
            link.close()
        if reply.status // 100 == _OURS and reply.status != http.client.SERVICE_UNAVAILABLE:
            with self._lock:
                self.server_errors.append(f"{reply.status} {answer[:200]!r}")
        if reply.status not in {http.client.ACCEPTED, http.client.OK}:
            raise NotTaken(f"{reply.status} {answer[:300]!r}")
        found: Mapping[str, Any] = json.loads(answer)
        return found


class Lookout:
    """Asks `/readyz` each second, as a load balancer does, and keeps the answers that are mistakes.

    200 and 503 are answers, and a web process that is down gives none.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, name="lookout", daemon=True)
        self.mistakes: list[str] = []

    def start(self) -> None:
        """Begin to ask; `stop` must follow."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._stopping.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopping.wait(_LOOKOUT_SECONDS):
            link = http.client.HTTPConnection(self._host, timeout=_TIMEOUT_SECONDS)
            try:
                link.request("GET", "/readyz")
                reply = link.getresponse()
                answer = reply.read()
            except (OSError, http.client.HTTPException):
                continue
            finally:
                link.close()
            if reply.status not in {http.client.OK, http.client.SERVICE_UNAVAILABLE}:
                self.mistakes.append(f"/readyz: {reply.status} {answer[:200]!r}")


def _asked(message: Message) -> dict[str, object]:
    return {
        "user_id": user_id(message.person),
        "type": TYPE,
        "priority": message.priority.name,
        "template_id": TEMPLATE,
        "variables": {"token": message.token},
        "channels": [each.label for each in (message.channel, message.falls_back_to) if each],
        "fallback_chain": message.falls_back_to is not None,
        "idempotency_key": message.token,
    }
