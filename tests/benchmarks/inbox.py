"""The inbox at rest: pages, hits of the cache, writes.

[inbox_page] p99 of page 1 (50 items) in a table of 20 million items of 200,000 users, beside a
table of 20,000 items of 2,000 users; readers are the active users of `inbox_rows`. A round is a
visit: an item arrives, so that the entry is gone, and twelve page views read page 1. So the p99 is
the time of a read that has to ask Postgres. The second number is the rate of the same reads beside
what Django code does without the inbox: the newest 50 rows through the ORM, and a count of the
unread ones.

[inbox_hits] The share of reads from the state Redis. A visit: an item has arrived since the last
visit; twelve page views of a minute load page 1 and ask for the badge every 30 seconds; at the
third view the user opens the list (all items are seen) and opens an item within 30 seconds; another
item arrives in one of five visits.

[inbox_write] Items a second through `writes.add` in batches of 500, as workers do, with versions,
counts, marks in the state Redis and publishing, beside `InboxItem.objects.create`, which does none
of that.
"""

from __future__ import annotations

import itertools
import time
from statistics import quantiles
from typing import TYPE_CHECKING, Final
from uuid import UUID

from notifications.core import clock
from notifications.core.rules import ids
from notifications.features.inbox.rules.words import InboxAction
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

if TYPE_CHECKING:
    from notifications.features.inbox.rows.items import NewItem
    from tests.benchmarks.inbox_rows import Inboxes

_USERS_PER_ITEM: Final = 100
_ITEMS: Final = 20_000_000
_SMALL: Final = 20_000
_VISITS: Final = 300
_VIEWS: Final = 12
_POLLS: Final = 2
_PAGE_TARGET: Final = 1.3
_RATE_TARGET: Final = 5.0
_HITS_TARGET: Final = 0.9
_WRITE_TARGET: Final = 10.0
_BATCH: Final = 500
_WRITTEN: Final = 10_000
_CREATED: Final = 2_000
_OPENS: Final = 2
"""The page view of a visit at which the user opens the list."""
_ARRIVES: Final = 6
_first_users = itertools.count(_VISITS, _VISITS)


def measure_page(stage: Stage) -> Figure:
    """Measure inbox_page."""
    from tests.benchmarks import inbox_rows  # noqa: PLC0415 - its models need Django set up

    stage.run([])
    items = stage.size(_ITEMS)
    large = inbox_rows.Inboxes(
        schema="public", first_user=1, users=items // _USERS_PER_ITEM, items=items
    )
    small = inbox_rows.Inboxes(
        schema="inbox_small", first_user=1_000_000_000, users=_SMALL // 10, items=_SMALL
    )
    inbox_rows.copy_tables(small.schema)
    try:
        began = time.perf_counter()
        inbox_rows.load(small)
        inbox_rows.load(large)
        loaded = time.perf_counter() - began
        _warm(large)
        pages = paired(ours=lambda: _p99_ms(large), theirs=lambda: _p99_ms(small))
        rates = paired(ours=lambda: _rate(large), theirs=lambda: _orm_rate(large))
    finally:
        for each in (small, large):
            inbox_rows.empty(each.schema)
    return Figure(
        name="inbox_page",
        value=pages.ours,
        unit=f"ms p99 of page 1, {items:,} items",
        baseline=f"ms, {_SMALL:,} items",
        baseline_value=pages.theirs,
        ratio=pages.ratio,
        target=f"<= {_PAGE_TARGET}x; rate >= {_RATE_TARGET:.0f}x the ORM's",
        met=pages.ratio <= _PAGE_TARGET and rates.ratio >= _RATE_TARGET,
        notes=(
            f"pages a second: {rates.ours:.0f}; by ORM: {rates.theirs:.0f}; {rates.ratio:.1f}x",
            f"loaded in {loaded:.0f} s",
        ),
    )


def _warm(inboxes: Inboxes) -> None:
    with inboxes.chosen():
        for number in range(_VISITS):
            _visit(inboxes.user(number), number)


def _p99_ms(inboxes: Inboxes) -> float:
    """The p99 of the reads of visits, in milliseconds."""
    return quantiles(_read_seconds(inboxes), n=100)[98] * 1e3


def _rate(inboxes: Inboxes) -> float:
    """Pages a second; the reads of visits, without their writes."""
    seconds = _read_seconds(inboxes)
    return len(seconds) / sum(seconds)


def _read_seconds(inboxes: Inboxes) -> list[float]:
    """The seconds of each read of visits of other users than before."""
    first = next(_first_users)
    with inboxes.chosen():
        return [
            each
            for number in range(first, first + _VISITS)
            for each in _visit(inboxes.user(number), number)
        ]


def _visit(user: int, number: int) -> list[float]:
    """An item arrives, and page 1 is read several times; returns the seconds of each read."""
    from notifications.features.inbox.rows import reads, writes  # noqa: PLC0415 - after Django is set up
    from notifications.features.inbox.rows.items import InboxQuery  # noqa: PLC0415 - after Django is set up

    writes.add([new_item(user, number)])
    seconds = []
    for _ in range(_VIEWS):
        began = time.perf_counter()
        page = reads.page(user, query=InboxQuery())
        seconds.append(time.perf_counter() - began)
        assert len(page.items) == reads.PAGE
    return seconds


def _orm_rate(inboxes: Inboxes) -> float:
    """Pages a second of a list and a count through the ORM, with the same indexes."""
    from notifications.core.models import InboxItem  # noqa: PLC0415 - after Django is set up

    began = time.perf_counter()
    for number in range(_VISITS):
        shown = InboxItem.objects.filter(
            recipient_id=inboxes.user(number),
            removed_at=None,
            superseded_by=None,
            archived_at=None,
            snoozed_until=None,
        )
        assert len(list(shown.order_by("-created_at")[:50])) == 50
        shown.filter(read_at=None).count()
    return _VISITS / (time.perf_counter() - began)


def measure_hits(stage: Stage) -> Figure:
    """Measure inbox_hits."""
    from notifications.core.telemetry import instruments  # noqa: PLC0415 - after Django is set up
    from notifications.features.inbox.rows import reads, writes  # noqa: PLC0415 - after Django is set up
    from notifications.features.inbox.rows.items import InboxQuery  # noqa: PLC0415 - after Django is set up

    stage.run([])
    visits = stage.size(_VISITS)

    def count(result: str) -> float:
        return float(instruments.INBOX_READS.labels(result)._value.get())

    before = {result: count(result) for result in ("hit", "miss", "away")}
    for number in range(visits):
        user = number % 100 + 1
        writes.add([new_item(user, number)])
        for view in range(_VIEWS):
            page = reads.page(user, query=InboxQuery())
            if view == _OPENS:
                writes.mark(user, InboxAction.SEEN, until_version=page.version)
                writes.mark(user, InboxAction.READ, ids=[page.items[0].id])
            for _ in range(_POLLS):
                reads.counts(user)
            if view == _ARRIVES and number % 5 == 0:
                writes.add([new_item(user, number)])
    gained = {result: count(result) - before[result] for result in before}
    share = gained["hit"] / sum(gained.values())
    return Figure(
        name="inbox_hits",
        value=share,
        unit=f"of {sum(gained.values()):.0f} reads of {visits} visits",
        target=f">= {_HITS_TARGET}",
        met=share >= _HITS_TARGET,
        notes=(f"{gained}; the mark of seen items reads the counts once more",),
    )


def measure_write(stage: Stage) -> Figure:
    """Measure inbox_write."""
    stage.run([])
    _add()
    found = paired(ours=_add, theirs=_create)
    return Figure(
        name="inbox_write",
        value=found.ours,
        unit="items/s",
        baseline="items/s by ORM create",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_WRITE_TARGET:.0f}x",
        met=found.ratio >= _WRITE_TARGET,
        notes=(f"median of {PAIRS} pairs; batches of {_BATCH} items to {_BATCH} recipients",),
    )


def _add() -> float:
    """Items a second through the product's writer."""
    from notifications.features.inbox.rows import writes  # noqa: PLC0415 - after Django is set up

    items = [new_item(number % 1_000 + 1, number) for number in range(_WRITTEN)]
    began = time.perf_counter()
    for first in range(0, _WRITTEN, _BATCH):
        assert len(writes.add(items[first : first + _BATCH])) == _BATCH
    return _WRITTEN / (time.perf_counter() - began)


def _create() -> float:
    """Items a second through the ORM, one after another."""
    from notifications.core.models import InboxItem  # noqa: PLC0415 - after Django is set up

    items = [new_item(number % 1_000 + 1, number) for number in range(_CREATED)]
    began = time.perf_counter()
    for item in items:
        InboxItem.objects.create(
            id=item.id,
            recipient_id=item.recipient_id,
            notification_id=item.notification_id,
            type=item.type,
            category=item.category,
            title=item.title,
            body=item.body,
            url=item.url,
            created_at=item.created_at,
            added_version=0,
            version=0,
        )
    return _CREATED / (time.perf_counter() - began)


def new_item(user: int, number: int) -> NewItem:
    """An item that arrives now."""
    from notifications.features.inbox.rows.items import NewItem  # noqa: PLC0415 - after Django is set up

    notification: UUID = clock.new_notification_id()
    return NewItem(
        id=ids.delivery_id(notification, 1),
        recipient_id=user,
        notification_id=notification,
        type="order_shipped",
        category=f"category_{number % 7}",
        title=f"Your order {number} is on its way",
        body=f"The parcel leaves our warehouse today and reaches you soon. Number {number}",
        url=f"https://shop.example/orders/{number}",
        created_at=clock.now(),
    )
