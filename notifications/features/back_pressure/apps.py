"""The manifest of back-pressure."""

from types import MappingProxyType

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind

_LIMITS = "/admin/notifications/laglimits/"


class BackPressureConfig(feature.Feature):
    """Refused and dropped P3 of a lane that is behind: docs/back-pressure.md."""

    name = "notifications.features.back_pressure"
    gates = MappingProxyType({
        "lane_lag_of_posts": "notifications.features.back_pressure.refusals.refuse",
    })
    sweeps = (
        feature.FeatureSweep(
            name="lane_lag",
            run="notifications.features.back_pressure.sweep.run_once",
            seconds=5,
            limit=5_000,
            stops="P3 posts are accepted and stale P3 kept, whatever waits.",
        ),
    )
    menu = (
        feature.MenuEntry(
            "Settings", "Lag limits", symbol="compress", model="laglimits", is_folded=True
        ),
    )
    alert_pages = (
        (AlertKind.LANE_REFUSES_POSTS, _LIMITS),
        (AlertKind.STALE_DROPPED, _LIMITS),
    )
