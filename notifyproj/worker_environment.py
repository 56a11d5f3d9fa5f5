"""Settings of workers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from notifications.core.rules.rate_limits.concurrency import CEILING


class WorkerEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    flight_recorder: Annotated[str, Field(pattern=r"^(/.*|off)?$")] = Field(
        alias="NOTIFY_FLIGHT_RECORDER",
        default="",
        description="a folder in memory (tmpfs) that the workers of a host share, such as /flights,"
        " or off; default /dev/shm/notify-<user id>",
    )
    calls_in_flight: Annotated[int, Field(ge=1, le=10_000)] = Field(
        alias="NOTIFY_CALLS_IN_FLIGHT",
        default=CEILING,
        description="a number from 1 to 10000: the maximum of calls in flight from one process to"
        " one provider; below the maximum the number adapts to the latency of the provider",
    )
