"""Settings of the web server: its capacity and the limits of a client."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from notifications.core.conf import Web
from notifyproj.values import Networks


class WebEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    web_slots: Annotated[int, Field(ge=1, le=64)] = Field(
        alias="NOTIFY_WEB_SLOTS",
        default=8,
        description="a number from 1 to 64: the maximum of concurrent requests of a web process;"
        " each request uses a database connection",
    )
    web_connections: Annotated[int, Field(ge=64, le=65_536)] = Field(
        alias="NOTIFY_WEB_CONNECTIONS",
        default=4096,
        description="a number from 64 to 65536: the maximum of open connections of a web process",
    )
    head_seconds: Annotated[int, Field(ge=1, le=60)] = Field(
        alias="NOTIFY_HEAD_SECONDS",
        default=20,
        description="a number of seconds from 1 to 60: the timeout for the head of a request and"
        " for an idle connection; the idle timeout of a proxy must be shorter",
    )
    trusted_proxies: Networks = Field(
        alias="NOTIFY_TRUSTED_PROXIES",
        default=(),
        description="a comma list of addresses and networks, such as 10.0.0.7,172.16.0.0/12, of"
        " proxies with a trusted X-Forwarded-For header",
    )
    open_requests_per_second: Annotated[int, Field(ge=0, le=100_000)] = Field(
        alias="NOTIFY_OPEN_REQUESTS_PER_SECOND",
        default=20,
        description="a number from 0 to 100000: requests without an API key in a second from one"
        " client address, with a burst of ten times as many; 0: no limit",
    )

    @property
    def web(self) -> Web:
        """The settings as the app's `Web`."""
        return Web(
            slots=self.web_slots,
            connections=self.web_connections,
            head_seconds=self.head_seconds,
            trusted_proxies=self.trusted_proxies,
            open_requests_per_second=self.open_requests_per_second,
        )
