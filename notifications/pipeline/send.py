"""Send: hand a wave of rendered messages to a provider, and settle the outcomes as they come.

Before a wave, one committed UPDATE renews its leases and counts its calls; what lost its lease is
left out. Then the provider is called, with no transaction open. What was accepted goes into the
sent-ledger at once, before Postgres knows, so that a worker killed in between does not send it
again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final
from uuid import UUID

from notifications import clock
from notifications.pipeline import fail_over, render, settle, watch
from notifications.pipeline.batch import Batch
from notifications.pipeline.job import Job
from notifications.pipeline.links import Book
from notifications.rules.lane import PACE
from notifications.rules.language.templating import RenderError
from notifications.rules.reasons import Reason
from notifications.rules.texts import sms_segments
from notifications.store import claims, ledger
from notifications.store.ledger import Entry
from providers.contract import Channel, Message, Provider, Result

_SETTLE_AT: Final = 250
"""Outcomes that are settled together.

Half a chunk, so that Postgres works while the provider still does.
"""
_SETTLE_AFTER: Final = 0.25
"""Seconds after which outcomes are settled even if they are few."""


def send(batch: Batch, jobs: Sequence[Job], *, provider: Provider) -> None:
    """Send these jobs of a batch through one provider."""
    size = provider.capabilities.batch_limit
    for start in range(0, len(jobs), size):
        _wave(batch, jobs[start : start + size], provider)


def _wave(batch: Batch, jobs: Sequence[Job], provider: Provider) -> None:
    messages, broken = _rendered(jobs)
    settle.give_up(batch, broken, reason=Reason.RENDER_ERROR)
    calls = claims.renew(
        [each.delivery_id for each in messages], token=batch.token, provider=provider.name
    )
    by_id = {job.delivery.id: job for job in jobs if job.delivery.id in calls}
    for job in by_id.values():
        job.call = calls[job.delivery.id]
    messages = [each for each in messages if each.delivery_id in calls]
    if not messages:
        return
    deadline = PACE[jobs[0].delivery.priority].deadline
    results = provider.send(messages, deadline=deadline)
    for arrived in _in_batches(_arrivals(results), by_id, provider):
        pairs = [(by_id[result.delivery_id], result) for result in arrived]
        final = fail_over.take_onward(pairs, provider=provider)
        settle.settle(batch, final, provider=provider)
        watch.report(pairs, provider=provider.name)


def _rendered(jobs: Sequence[Job]) -> tuple[list[Message], list[tuple[Job, str]]]:
    versions = render.versions_for(jobs)
    messages: list[Message] = []
    broken: list[tuple[Job, str]] = []
    links = Book()
    now = clock.now()
    for job in jobs:
        try:
            message = render.message(job, versions, now=now, links=links)
        except RenderError as error:
            broken.append((job, str(error)))
            continue
        if message.channel is Channel.SMS:
            job.segments = sms_segments.measured(message.body).segments
        messages.append(message)
    links.store()
    return messages, broken


def _in_batches(
    arriving: Iterator[Sequence[Result]], by_id: Mapping[UUID, Job], provider: Provider
) -> Iterator[list[Result]]:
    """Gather outcomes for one settle; each arrival goes into the ledger first."""
    waiting: list[Result] = []
    settled_at = clock.monotonic()
    for arrived in arriving:
        ledger.write(
            Entry(each.delivery_id, by_id[each.delivery_id].call, provider.name, each.outcome)
            for each in arrived
        )
        waiting.extend(arrived)
        if len(waiting) >= _SETTLE_AT or clock.monotonic() - settled_at > _SETTLE_AFTER:
            yield waiting
            waiting, settled_at = [], clock.monotonic()
    if waiting:
        yield waiting


def _arrivals(results: Iterator[Result]) -> Iterator[list[Result]]:
    """Outcomes in the groups in which they arrive.

    A second thread waits for the provider, so that what has arrived is in the ledger while one
    hanging call of the same wave still keeps the provider's iterator from going on.
    """
    arrived: SimpleQueue[Result | _End] = SimpleQueue()
    threading.Thread(target=_pump, args=(results, arrived), name="provider", daemon=True).start()
    while True:
        group = [arrived.get()]
        with contextlib.suppress(Empty):
            while True:
                group.append(arrived.get_nowait())
        ready = [each for each in group if not isinstance(each, _End)]
        if ready:
            yield ready
        if isinstance(group[-1], _End):
            if group[-1].error is not None:
                raise group[-1].error
            return


def _pump(results: Iterator[Result], arrived: SimpleQueue[Result | _End]) -> None:
    try:
        for result in results:
            arrived.put(result)
    except BaseException as error:  # noqa: BLE001 - raised again where the results are read
        arrived.put(_End(error))
    else:
        arrived.put(_End())


@dataclass(frozen=True, slots=True)
class _End:
    """The last thing to arrive."""

    error: BaseException | None = None
