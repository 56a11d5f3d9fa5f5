"""The manifest of digests."""

from types import MappingProxyType

from notifications.core import feature


class DigestsConfig(feature.Feature):
    """One message in place of several held messages: docs/preferences.md."""

    name = "notifications.features.digests"
    gates = MappingProxyType({"digest": "notifications.features.digests.gate.hold"})
    sweeps = (
        feature.FeatureSweep(
            name="digests",
            run="notifications.features.digests.sweep.run_once",
            seconds=10,
            limit=500,
            stops="Deliveries held for caps or digests wait five minutes longer and leave singly.",
        ),
    )
