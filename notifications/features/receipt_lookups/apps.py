"""The manifest of receipt lookups."""

from types import MappingProxyType

from notifications.core import feature


class ReceiptLookupsConfig(feature.Feature):
    """Receipts that a vendor tells when asked: docs/providers.md."""

    name = "notifications.features.receipt_lookups"
    gates = MappingProxyType({
        "receipt_lookups": "notifications.features.receipt_lookups.rows.add",
    })
    sweeps = (
        feature.FeatureSweep(
            name="receipt_lookups",
            run="notifications.features.receipt_lookups.sweep.run_once",
            seconds=300,
            limit=1_000,
            stops="Push receipts of Expo are not read: a failure behind Expo stays unknown, and a"
            " device that is gone is known from the next message.",
            work="work_receipt_lookups",
        ),
    )
