"""Series: several messages to a recipient over days, and the events that drive series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from notify_client import _call
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    CustomEventRequest,
    EnrolmentAnswer,
    EnrolmentItem,
    EnrolmentLine,
    EnrolmentResults,
    EventResults,
    ListEnrolmentsQuery,
    PageQuery,
    SeriesAnswer,
    SeriesRequest,
)


class Series:
    """`/v1/series`: several messages to a recipient over days."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.series`."""
        self._engine = engine

    def create(
        self, *, idempotency_key: str | None = None, **series: Unpack[SeriesRequest]
    ) -> SeriesAnswer:
        """Create a series with a draft of the first version."""
        call = _call.post(_call.path("series"), series, idempotency_key=idempotency_key)
        return self._engine.value(call, has="name")

    def list(self, **query: Unpack[PageQuery]) -> Pages[SeriesAnswer]:
        """List series, newest first."""
        return Pages(self._engine, _call.path("series"), {**query})

    def get(self, name: str) -> SeriesAnswer:
        """Return a series with its versions and the number of enrolments."""
        return self._engine.value(_call.get(_call.path("series", name)), has="name")

    def change(self, name: str, definition: Mapping[str, Any]) -> SeriesAnswer:
        """Replace the draft of a series; enrolled recipients stay on their version."""
        body = {"definition": definition}
        return self._engine.value(_call.write("PUT", _call.path("series", name), body), has="name")

    def publish(self, name: str, *, idempotency_key: str | None = None) -> SeriesAnswer:
        """Publish the draft as the version of new enrolments."""
        return self._act(name, "publish", idempotency_key)

    def pause(self, name: str, *, idempotency_key: str | None = None) -> SeriesAnswer:
        """Pause a series: no step runs until `resume`."""
        return self._act(name, "pause", idempotency_key)

    def resume(self, name: str, *, idempotency_key: str | None = None) -> SeriesAnswer:
        """Resume a paused series."""
        return self._act(name, "resume", idempotency_key)

    def archive(self, name: str, *, idempotency_key: str | None = None) -> SeriesAnswer:
        """End a series and its enrolments."""
        return self._act(name, "archive", idempotency_key)

    def enrol(
        self,
        name: str,
        enrolments: Sequence[EnrolmentItem],
        *,
        idempotency_key: str | None = None,
    ) -> EnrolmentResults:
        """Enrol up to 1,000 recipients; each has a result of its own."""
        target = _call.path("series", name, "enrolments")
        body = {"enrolments": enrolments}
        call = _call.post(target, body, idempotency_key=idempotency_key)
        return self._engine.value(call, has="results")

    def enrolments(self, name: str, **query: Unpack[ListEnrolmentsQuery]) -> Pages[EnrolmentLine]:
        """List the enrolments of a series, newest first."""
        return Pages(self._engine, _call.path("series", name, "enrolments"), {**query})

    def enrolment(self, name: str, enrolment_id: int) -> EnrolmentAnswer:
        """Return an enrolment with the results of its steps."""
        target = _call.path("series", name, "enrolments", enrolment_id)
        return self._engine.value(_call.get(target), has="id")

    def exit(
        self, name: str, enrolment_id: int, *, idempotency_key: str | None = None
    ) -> EnrolmentAnswer:
        """End an enrolment; sent messages stay sent."""
        target = _call.path("series", name, "enrolments", enrolment_id, "exit")
        return self._engine.value(_call.post(target, {}, idempotency_key=idempotency_key), has="id")

    def _act(self, name: str, action: str, key: str | None) -> SeriesAnswer:
        call = _call.post(_call.path("series", name, action), {}, idempotency_key=key)
        return self._engine.value(call, has="name")


class Events:
    """`/v1/events`: what recipients did, as the producer saw it."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.events`."""
        self._engine = engine

    def create(
        self, events: Sequence[CustomEventRequest], *, idempotency_key: str | None = None
    ) -> EventResults:
        """Post up to 1,000 events; each has a result of its own."""
        body = {"events": events}
        call = _call.post(_call.path("events"), body, idempotency_key=idempotency_key)
        return self._engine.value(call, has="results")
