"""The manifest of schedules."""

import datetime as dt

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.row_retention import RowRetention


class SchedulesConfig(feature.Feature):
    """Recurring notifications: docs/api-guide.md."""

    name = "notifications.features.schedules"
    urls = "notifications.features.schedules.api.urls"
    openapi = "notifications.features.schedules.api"
    sweeps = (
        feature.FeatureSweep(
            name="schedules",
            run="notifications.features.schedules.sweep.run_once",
            seconds=10,
            limit=50,
            stops="Recurring schedules create no notifications.",
            work="work_schedules",
        ),
    )
    retentions = (RowRetention("notifications_occurrence", "at", dt.timedelta(days=7)),)
    menu = (feature.MenuEntry("Send", "Schedules", symbol="event_repeat", model="schedule"),)
    alert_pages = ((AlertKind.SCHEDULE_FAILED, "/admin/notifications/schedule/{subject}/change/"),)
