"""[rollup_rate] [fan_out_rate] Events a second of the two single readers of the change feed.

One process at a time counts the events of the roll-ups, and one makes the messages of status
webhooks: the position in the feed is locked. The rates are the most events of an installation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tests.benchmarks import costs, pipeline
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_DELIVERIES: Final = 20_000
_PAGE: Final = 20_000
"""Events that the roll-ups count in a transaction."""


def measure_rollups(stage: Stage) -> Figure:
    """Measure the reader of the roll-ups."""
    from notifications.core.models import RollupPosition  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.postgres import rollups  # noqa: PLC0415 - as above

    def read(begin: int) -> None:
        RollupPosition.objects.update(xid=begin)
        while rollups.count_next(limit=_PAGE).more:
            pass

    return _measure(stage, read, name="rollup_rate")


def measure_fan_out(stage: Stage) -> Figure:
    """Measure the maker of webhook messages, with a message for each event."""
    from notifications.core.models import WebhookPosition  # noqa: PLC0415 - after Django is set up
    from notifications.core.webhooks import fan_out  # noqa: PLC0415 - as above
    from tests.benchmarks import webhooks  # noqa: PLC0415 - as above

    def read(begin: int) -> None:
        fan_out.work_off()  # makes the position
        webhooks.clear()
        webhooks.endpoint(stage.sink.url)
        WebhookPosition.objects.update(xid=begin, seq=0)
        while fan_out.work_off():
            pass

    return _measure(stage, read, name="fan_out_rate")


def _measure(stage: Stage, read: Callable[[int], None], *, name: str) -> Figure:
    from django.db import connection  # noqa: PLC0415 - after Django is set up

    from notifications.core.store.postgres import change_feed  # noqa: PLC0415 - as above

    stage.run()
    begin = change_feed.bounds().open_from
    count = stage.size(_DELIVERIES)
    pipeline.rate(stage, costs.Meter(), count=count)
    stage.run(())
    with connection.cursor() as running:
        running.execute("SELECT count(*) FROM event WHERE xid >= %s", [begin])
        events = running.fetchone()[0]
    meter = costs.Meter()
    began = time.perf_counter()
    with costs.measured({"postgres": stage.components()["postgres"]}, into=meter):
        read(begin)
    seconds = time.perf_counter() - began
    return Figure(
        name=name,
        value=events / seconds,
        unit="events/s",
        notes=(f"{events:,} events of {count:,} deliveries; {meter.each(events)}",),
    )
