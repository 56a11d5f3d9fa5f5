"""The figures of Overview: the present state, and the traffic of a time range."""

from __future__ import annotations

from collections.abc import Iterator

from notifications.core import clock, conf
from notifications.core.admin.monitoring import answer, current, plots, tables
from notifications.core.admin.monitoring.answer import Figures, Part
from notifications.core.admin.monitoring.current import Now
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.times.time_range import TimeRange
from notifications.core.store.cached import shared_answers


def read(time_range: TimeRange) -> Figures:
    """Read the figures."""
    scope, names = Scope(range=time_range, now=clock.now()), GroupNames()
    return Figures(
        plots={
            "traffic": plots.traffic(scope),
            "latency": plots.latency(scope),
            "failures": plots.share_by(scope, "failure_rate", Dimension.CHANNEL, names),
            "calls": plots.share_by(scope, "call_failure_rate", Dimension.PROVIDER, names),
            "call_latency": plots.percentile_by(
                scope, "call_to_answer_p95", Dimension.PROVIDER, names
            ),
        },
        parts=[
            *now_parts(),
            Part(name="tiles", right="", context={"tiles": tables.tiles(scope)}),
            Part(name="reach", right="", context=tables.reach()),
            Part(name="failing", right="", context={"rows": tables.failures(scope, names)}),
        ],
    )


def now_parts() -> list[Part]:
    """Return the parts about the present, which a page shows at once."""
    return list(_parts(shared_answers.get("now", current.read, seconds=answer.NOW_SECONDS)))


def _parts(now: Now) -> Iterator[Part]:
    yield Part(name="verdict", right="", context={"state": now})
    yield Part(name="alerts", right="view_alert", context={"alerts": now.alerts})
    yield Part(name="providers", right="view_providerroute", context={"providers": now.providers})
    yield Part(name="lanes", right="view_delivery", context={"lanes": now.lanes})
    yield Part(name="waits", right="view_delivery", context={"waits": now.waits})
    yield Part(
        name="letters",
        right="view_deadletter",
        context={"letters": now.letters, "total": now.letters_total},
    )
    first = {"is_first": not now.has_notifications, "public_url": conf.current().public_url}
    yield Part(name="first", right="", context=first)
