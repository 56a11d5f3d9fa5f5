"""PostgreSQL is restored on another server, from a base backup and an archive of its WAL.

The steps of docs/operations.md. With all WAL nothing is lost and nothing repeated. A restore to an
earlier time forgets what came later: what was open then and is sent since is called again with its
key, and a request that came later is a new notification.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Final
from urllib.parse import quote
from uuid import UUID

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests import roles
from tests.base_backups import Archiving, Restored
from tests.scenarios.producers import Load
from tests.scenarios.world import WORKERS, World
from tests.standbys import run

_PROCESSES: Final = ("web", *WORKERS, "beat")
_LEASE: Final = timedelta(seconds=90)
"""Longest wait for a row whose call was under way at the end of what was restored."""

_TRANSACTIONS: Final = (
    "DO $$ BEGIN FOR number IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
)
"""More transactions than the restored server has in the rest of the test."""


@pytest.fixture
def archiving(world: World) -> Iterator[Archiving]:
    """Archive the WAL of the product's server."""
    single = world.database_url
    with Archiving(world.stack.postgres) as archive:
        try:
            yield archive
        finally:
            world.database_url = single
            world.stop()


def _give(world: World, restored: Restored, **environ: str) -> None:
    """End the processes, empty the broker, and start the processes with the restored server."""
    for name in _PROCESSES:
        world.processes[name].kill()
    world.stack.broker.flush()
    world.database_url = restored.url
    world.restart(*_PROCESSES, **roles.settings(restored.url, "app"), **environ)


@pytest.mark.usefixtures("provider_shows_repeats")
def test_a_restore_with_all_wal_loses_nothing_and_repeats_nothing(
    world: World, archiving: Archiving, record_property: Callable[[str, object], None]
) -> None:
    load = Load(world, world.person(email="x+slow-50ms@sandbox.example"), web_ends=True)
    with load.running():
        archiving.back_up()
        load.until_more(60)
        archiving.until_archived()
        load.until_more(60)
        lost_at = time.monotonic()
        archiving.server.kill()
        _give(world, archiving.restore(), NOTIFY_SANDBOX_DEDUP="no")
        load.until_more(60)
    load.check()
    record_property("accepted", len(load.accepted))
    record_property("seconds without a 202", round(load.gap(lost_at), 1))


def _calls(world: World, notifications: Sequence[UUID]) -> list[int]:
    got = world.got(notifications)
    return [len(got[each]["calls"]) if each in got else 0 for each in notifications]


def test_a_restore_to_an_earlier_time_repeats_only_what_it_does_not_know(
    world: World, archiving: Archiving
) -> None:
    person = world.person(email="x@sandbox.example")
    slow = world.person(email="x+slow-2s+receipt-late-3s@sandbox.example")
    service = world.service("auth-service")
    archiving.back_up()
    sent = [world.send_otp(person)]
    world.in_status(Status.DELIVERED, sent)
    world.processes["channels"].signal(signal.SIGSTOP)
    queued = world.send_mails(1, user_id=person)
    called = [world.send_otp(slow)]
    until(lambda: world.got(called), what="the call has begun")
    [(earlier,)] = run(archiving.server, "SELECT now()")
    world.processes["channels"].signal(signal.SIGCONT)
    world.in_status(Status.DELIVERED, [*called, *queued])
    run(archiving.server, _TRANSACTIONS)
    key = f"{person}-later"
    lost = UUID(service.notify(world.otp(person), key=key).body["notification_id"])
    world.in_status(Status.DELIVERED, [lost])
    cursor = _told(world, f"since={quote(earlier.isoformat())}")[1]
    archiving.until_archived()
    archiving.server.kill()

    restored = archiving.restore(until_time=earlier)
    world.database_url = restored.url
    known = [*sent, *queued, *called]
    assert [world.statuses([each]) for each in [*known, lost]] == [
        *([Status.DELIVERED], [Status.QUEUED], [Status.SENDING], [])
    ]
    restored.raise_epoch()
    _give(world, restored)
    world.in_status(Status.SENT, known[1:], within=_LEASE)  # their receipts came before
    assert _calls(world, known) == [1, 2, 2]
    assert world.shown(known) == [1, 1, 1]  # the provider knows the keys
    again = UUID(service.notify(world.otp(person), key=key).body["notification_id"])
    world.in_status(Status.DELIVERED, [again])
    assert again != lost
    assert world.shown([lost, again]) == [1, 1]  # the person gets both
    assert _told(world, f"cursor={quote(cursor)}")[0] == {str(each) for each in (*called, again)}


def _told(world: World, query: str) -> tuple[set[str], str]:
    """Return the notifications of which the change feed tells, and the cursor at its end."""
    found: set[str] = set()
    while True:
        page = world.service("auth-service").ask("GET", f"/v1/notifications/changes?{query}").body
        if not page["results"]:
            return found, page["next"]
        found |= {each["notification_id"] for each in page["results"]}
        query = f"cursor={quote(page['next'])}"
