"""Settings of alerts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from notifications.core.rules.alert_thresholds import AlertThresholds
from notifyproj.values import AlertUrls, Thresholds


class AlertEnvironment(BaseModel):
    """Each description completes the sentence "Give ..."."""

    alert_urls: AlertUrls = Field(
        alias="NOTIFY_ALERT_URLS",
        default=(),
        description="a comma list of URLs to which alerts are sent, such as"
        " mailto:oncall@example.com or slack://TokenA/TokenB/TokenC",
        repr=False,
    )
    alert_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        alias="NOTIFY_ALERT_DAYS",
        default=7,
        description="a number of days from 1 to 3650 for which resolved alerts are kept",
    )
    alert_thresholds: Thresholds = Field(
        alias="NOTIFY_ALERT_THRESHOLDS",
        default=AlertThresholds(),
        description="a comma list of thresholds of alerts, such as"
        " delivery_rate_low=99,processing_slow=800: percentages, and milliseconds for"
        " processing_slow; docs/alerts.md has the defaults",
    )
    dead_letter_alert: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        alias="NOTIFY_DEAD_LETTER_ALERT",
        default=20,
        description="a number from 1 to 1000000: the number of new dead letters in five minutes"
        " above which an alert is raised",
    )
