"""In order: deliveries of one ordering key and channel leave one at a time, as they were accepted.

    join    accept puts them into their lines, in the transaction that stores them
    find    a claim asks how many stand before each; the last gate holds who is not first
    step    after the claim: who is settled leaves the line, and the next one is published at once

The promise: while nobody lets go, the order of the calls that were taken is the order of
acceptance; a retry keeps its place and those behind it wait. A head lets go when nobody knows
whether it was sent, or when it is held for over a minute; its timeline says so, and it may then
come late. One that was cancelled, expired or died is not waited for, and a replay of it stands in
no line.

The word to the next one can be lost with a worker: the next one in line looks by itself every few
seconds (`rules.order`). Who has no ordering key costs nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from notifications import clock
from notifications.pipeline.batch import Retry
from notifications.pipeline.job import Job
from notifications.store import line
from notifications.store.line import Place


def find(jobs: Sequence[Job]) -> Mapping[UUID, Place]:
    """Tell each job of a line how many go before it; returns the places of all of them."""
    ordered = [job for job in jobs if job.asked.ordering_key]
    if not ordered:
        return {}
    places = line.places([job.delivery.id for job in ordered])
    for job in ordered:
        place = places.get(job.delivery.id)
        job.ahead = place.ahead if place else 0
    return places


def step(places: Mapping[UUID, Place]) -> list[Retry]:
    """After what became of a claim is committed: the lines move on; returns who comes next.

    Safe to run late or never: the next in line looks by itself.
    """
    if not places:
        return []
    line.note(places)
    # A statement after the other's commit: of two workers that leave and hold at the same moment
    # at least one sees what the other did.
    next_ones = line.wake({(place.key_id, place.channel) for place in places.values()})
    return [Retry(each, clock.AT_ONCE) for each in next_ones]
