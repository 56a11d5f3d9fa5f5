"""Settings of the live process: the URL for clients and the limits of connections."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from notifications.core.conf import Live
from notifyproj.values import PublicUrl


class LiveEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    live_url: PublicUrl | None = Field(
        alias="NOTIFY_LIVE_URL",
        default=None,
        description="the URL of the live processes for browsers and apps, such as"
        " https://notify.example.com; without a URL clients poll",
    )
    live_connections: Annotated[int, Field(ge=16, le=60_000)] = Field(
        alias="NOTIFY_LIVE_CONNECTIONS",
        default=12_000,
        description="a number from 16 to 60000: the maximum of streams of a live process; a"
        " further client gets 503 with Retry-After",
    )
    live_connections_per_recipient: Annotated[int, Field(ge=1, le=1000)] = Field(
        alias="NOTIFY_LIVE_CONNECTIONS_PER_RECIPIENT",
        default=20,
        description="a number from 1 to 1000: the maximum of streams of one recipient in a live"
        " process; a further stream closes the oldest",
    )
    live_heartbeat_seconds: Annotated[int, Field(ge=1, le=300)] = Field(
        alias="NOTIFY_LIVE_HEARTBEAT_SECONDS",
        default=25,
        description="a number of seconds from 1 to 300 between two heartbeats of a stream; the"
        " read timeout of a proxy must be longer",
    )
    live_send_seconds: Annotated[int, Field(ge=1, le=600)] = Field(
        alias="NOTIFY_LIVE_SEND_SECONDS",
        default=20,
        description="a number of seconds from 1 to 600 in which a client must read an event; the"
        " live process drops a slower client",
    )

    @property
    def live(self) -> Live:
        """The limits as the app's `Live`."""
        return Live(
            connections=self.live_connections,
            connections_per_recipient=self.live_connections_per_recipient,
            heartbeat_seconds=self.live_heartbeat_seconds,
            send_seconds=self.live_send_seconds,
        )
