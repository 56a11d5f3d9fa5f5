"""The manifest of SMS pumping protection."""

from types import MappingProxyType

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind

_OVERRIDES = "/admin/notifications/smsoverride/"


class SmsPumpingConfig(feature.Feature):
    """Ceilings of P0 and P1 SMS: docs/sms-pumping.md."""

    name = "notifications.features.sms_pumping"
    gates = MappingProxyType({
        "sms_ceiling": "notifications.features.sms_pumping.holds.apply_ceilings",
        "sms_ceiling_of_posts": "notifications.features.sms_pumping.refusals.refuse",
    })
    sweeps = (
        feature.FeatureSweep(
            name="sms_pumping",
            run="notifications.features.sms_pumping.sweep.run_once",
            seconds=10,
            limit=12,
            stops="Refused SMS raise no alert, the usual traffic is not learned, and a change of"
            " limits releases no SMS.",
        ),
    )
    menu = (
        feature.MenuEntry(
            "Repair", "SMS pumping", symbol="sms_failed", model="smsoverride", is_folded=True
        ),
        feature.MenuEntry(
            "Settings", "SMS limits", symbol="phonelink_lock", model="smslimits", is_folded=True
        ),
    )
    alert_pages = (
        (AlertKind.SMS_ADDRESS_CEILING, _OVERRIDES),
        (AlertKind.SMS_PUMPING, _OVERRIDES),
    )
