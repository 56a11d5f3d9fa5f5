"""The page Insights, for the owners of products: messages, costs and reactions."""

from __future__ import annotations

from django.urls import reverse

from notifications.core import clock
from notifications.core.admin.monitoring import plots
from notifications.core.admin.monitoring.answer import Figures, Part
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.admin.monitoring.tables import FAILED_TILE, Tile, TileSpec, tiles_of
from notifications.core.admin.monitoring.views import RIGHT, Page
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.times.time_range import TimeRange
from notifications.features.analytics.admin import reactions
from notifications.features.analytics.admin.plots import counts_by, reactions_of

_DIMENSIONS = (Dimension.TEMPLATE, Dimension.TYPE, Dimension.PRODUCER, Dimension.CHANNEL)


def page() -> Page:
    """Return the page."""
    return Page(
        title="Insights",
        template="analytics/insights.html",
        right=RIGHT,
        url=reverse("admin:monitoring_insights"),
        read=read,
        context={},
    )


def read(time_range: TimeRange) -> Figures:
    """Read the figures of the page."""
    scope, names = Scope(range=time_range, now=clock.now()), GroupNames()
    return Figures(
        plots={
            "sent": counts_by(scope, "sent", Dimension.CHANNEL, names),
            "reactions": reactions_of(scope),
            "cost": counts_by(scope, "cost", Dimension.CHANNEL, names, unit="money:USD"),
            "reads": plots.share_by(scope, "read_rate", Dimension.CHANNEL, names),
        },
        parts=[
            Part(name="tiles", right="", context={"tiles": _tiles(scope)}),
            *(
                Part(
                    name=f"by_{dimension}",
                    template=reactions.TEMPLATE,
                    right="",
                    context={
                        "rows": reactions.table(scope, dimension, names),
                        "dimension": dimension.value,
                    },
                )
                for dimension in _DIMENSIONS
            ),
        ],
    )


def _tiles(scope: Scope) -> list[Tile]:
    asked: list[TileSpec] = [
        ("Sent", ("sent",), "count", "a provider took the message"),
        ("Delivery rate", ("delivery_rate",), "share", "of sent, where providers give receipts"),
        ("Read rate", ("read_rate",), "share", "of sent, where reads are reported"),
        ("Click rate", ("click_rate",), "share", "of sent, where clicks are tracked"),
        FAILED_TILE,
        ("Cost", ("cost",), "money", "of SMS and e-mail at list prices, in US dollars"),
    ]
    return tiles_of(asked, scope)
