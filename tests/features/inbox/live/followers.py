"""Clients that follow an inbox through every failure, as the web component does."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from typing import Any, Final

from django.db import Error, connection

from notifications.features.inbox.rows import json_of, reads
from notifications.features.inbox.rows.items import InboxQuery
from notifications.features.inbox.rules.words import InboxTab
from tests.features.inbox.live.sse import StreamClient, StreamRefused

_ALL: Final = 10_000
Shown = dict[str, tuple[int, str]]
"""Version and tab of each message, by message id."""


class Follower(threading.Thread):
    """Loads page 1, connects, applies events; connects again after each end of the stream."""

    def __init__(self, recipient_id: int, *, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self.recipient_id = recipient_id
        self.streams = 0
        self.repeated: list[tuple[str, int]] = []
        """Item versions that came twice on streams."""
        self._port, self._token = port, token
        self._shown: Shown = {}
        self._version: int | None = None
        self._came: Counter[tuple[str, int]] = Counter()
        self._over = threading.Event()
        self._client: StreamClient | None = None

    def run(self) -> None:
        """Follow until `finish`."""
        while not self._over.is_set():
            try:
                self._follow()
            except (OSError, http.client.HTTPException, StreamRefused, Error):
                connection.close()
                self._over.wait(0.1)
        connection.close()

    def wait_for(self, version: int) -> Shown:
        """Return what the client shows once the client has this version."""
        waiting = threading.Event()
        for _ in range(600):
            if self._version == version:
                return dict(self._shown)
            waiting.wait(0.1)
        raise AssertionError(f"the client is at {self._version}, not at {version}")

    def finish(self) -> None:
        """End the thread."""
        self._over.set()
        if self._client is not None:
            self._client.close()
        self.join(30)

    def _follow(self) -> None:
        if self._version is None:
            self._shown, self._version = shown(self.recipient_id)
        self._client = StreamClient(self._port, self._token, since=self._version)
        self.streams += 1
        place = 0
        while not self._over.is_set():
            self._client.wait_for_event(place)
            is_closed, events = self._client.is_closed, self._client.events[place:]
            for event in events:
                self._apply(event.name, event.data)
            place += len(events)
            if is_closed and not events:
                self._client.close()
                return

    def _apply(self, name: str, data: dict[str, Any]) -> None:
        if name == "reset":
            self._shown, self._version = shown(self.recipient_id)
        elif name == "changes":
            for item in data["items"]:
                key = (item["message_id"], item["version"])
                self._came[key] += 1
                if self._came[key] > 1:
                    self.repeated.append(key)
                self._shown[item["message_id"]] = (item["version"], _tab(item))
            for message_id in data["removed"]:
                self._shown.pop(message_id, None)
            self._version = data["version"]


def shown(recipient_id: int) -> tuple[Shown, int]:
    """Return the inbox in Postgres, all tabs, with its version."""
    while True:
        found: Shown = {}
        versions = set()
        for tab in InboxTab:
            page = reads.page(recipient_id, query=InboxQuery(tab=tab), limit=_ALL)
            versions.add(page.version)
            for each in page.items:
                item = json_of.item(each)
                found[str(item["message_id"])] = (item["version"], _tab(item))
        if len(versions) == 1:  # all tabs are of one instant
            return found, versions.pop()


def _tab(item: dict[str, Any]) -> str:
    if item["snoozed_until"]:
        return "snoozed"
    return "archived" if item["archived_at"] else "inbox"
