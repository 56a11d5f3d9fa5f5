"""The manifest of the archive."""

from notifications.core import feature


class ArchiveConfig(feature.Feature):
    """Days past retention as Parquet files: docs/retention.md."""

    name = "notifications.features.archive"
    sweeps = (
        feature.FeatureSweep(
            name="archive",
            run="notifications.features.archive.sweep.run_once",
            seconds=600,
            limit=500,
            stops="Days past retention stay in the database, and expired files in the archive.",
        ),
    )
    menu = (
        feature.MenuEntry(
            "People", "Archive", symbol="inventory_2", model="archiveday", is_folded=True
        ),
    )
