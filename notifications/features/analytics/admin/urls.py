"""The addresses of the pages below `/admin/`.

    insights/                          Insights
    insights/KIND/VALUE/               a provider, template, producer or type
    insights/provider/NAME/CHANNEL/    a provider on one channel
    .../live                           the figures of a page as JSON

A page opens with the view permission of its model.
"""

from __future__ import annotations

from typing import Final

from django.contrib import admin
from django.urls import path

from notifications.core.admin.monitoring.views import view_of
from notifications.features.analytics.admin import insights, subject

_LIVE: Final = {"is_live": True}
_OWN: Final = "insights/<str:kind>/<str:value>/"
_CHANNEL: Final = f"{_OWN}<str:channel>/"
_insights: Final = admin.site.admin_view(view_of(insights.page))
_subject: Final = admin.site.admin_view(view_of(subject.page))

urlpatterns = [
    path("insights/", _insights, name="monitoring_insights"),
    path("insights/live", _insights, _LIVE),
    path(f"{_OWN}live", _subject, _LIVE),
    path(_OWN, _subject, name="monitoring_subject"),
    path(f"{_CHANNEL}live", _subject, _LIVE),
    path(_CHANNEL, _subject, name="monitoring_provider_channel"),
]
