"""Roll-ups: counts and latencies of each minute, hour and day (see `rules.rollups`)."""

from __future__ import annotations

from django.db import models

from notifications.core.models.choices import CHANNELS, MODES


class RollupSeries(models.Model):
    """A combination of values of the dimensions. A dimension outside the set is empty or -1."""

    id = models.AutoField(primary_key=True)
    dimension_set = models.SmallIntegerField()
    mode = models.SmallIntegerField(choices=MODES)
    producer_id = models.BigIntegerField(help_text="0: producers beyond the limit of a day.")
    channel = models.SmallIntegerField(choices=CHANNELS)
    provider = models.CharField(max_length=32, blank=True)
    priority = models.SmallIntegerField()
    type = models.CharField(max_length=64, blank=True)
    template = models.CharField(max_length=64, blank=True)
    version = models.PositiveIntegerField(default=0, db_default=0)
    country = models.CharField(max_length=2, blank=True)
    reason = models.CharField(max_length=64, blank=True)

    class Meta:
        db_table = "rollup_series"
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "dimension_set",
                    "mode",
                    "producer_id",
                    "channel",
                    "type",
                    "template",
                    "version",
                    "provider",
                    "priority",
                    "country",
                    "reason",
                ),
                name="rollup_series_once",
            ),
        )

    def __str__(self) -> str:
        return f"series {self.pk}"


class Rollup(models.Model):
    """The counts of a bucket and a series; an empty count is 0. Partitioned by `cube`."""

    pk = models.CompositePrimaryKey("cube", "series", "bucket")
    cube = models.SmallIntegerField(help_text="Step and dimension set.")
    series = models.ForeignKey(
        RollupSeries,
        on_delete=models.DO_NOTHING,
        db_column="series",
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    bucket = models.DateTimeField(help_text="Start of the minute, the hour or the UTC day.")
    accepted = models.BigIntegerField(null=True)
    sent = models.BigIntegerField(null=True)
    delivered = models.BigIntegerField(null=True)
    read = models.BigIntegerField(null=True)
    clicked = models.BigIntegerField(null=True)
    failed = models.BigIntegerField(null=True)
    bounced = models.BigIntegerField(null=True)
    expired = models.BigIntegerField(null=True)
    suppressed = models.BigIntegerField(null=True)
    cancelled = models.BigIntegerField(null=True)
    unknown = models.BigIntegerField(null=True)
    unconfirmed = models.BigIntegerField(null=True)
    retried = models.BigIntegerField(null=True)
    replayed = models.BigIntegerField(null=True)
    calls = models.BigIntegerField(null=True)
    failed_calls = models.BigIntegerField(null=True)
    sent_after_retry = models.BigIntegerField(null=True)
    failed_after_retry = models.BigIntegerField(null=True)
    cost_micros = models.BigIntegerField(null=True, help_text="Millionths of a US dollar.")

    class Meta:
        db_table = "rollup"

    def __str__(self) -> str:
        return f"counts of series {self.series_id} from {self.bucket}"


class RollupLatency(models.Model):
    """The sketch of a latency in a bucket and a series. Partitioned by `cube`."""

    pk = models.CompositePrimaryKey("cube", "series", "kind", "bucket")
    cube = models.SmallIntegerField(help_text="Step and dimension set.")
    series = models.ForeignKey(
        RollupSeries,
        on_delete=models.DO_NOTHING,
        db_column="series",
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    kind = models.SmallIntegerField(help_text="Number of the latency.")
    bucket = models.DateTimeField(help_text="Start of the minute, the hour or the UTC day.")
    sketch = models.DecimalField(
        max_digits=4000,
        decimal_places=0,
        help_text="Sum of count * 10^(12 * bin) over the bins.",
    )

    class Meta:
        db_table = "rollup_latency"

    def __str__(self) -> str:
        return f"latencies of series {self.series_id} from {self.bucket}"


class RollupValue(models.Model):
    """A type, template or producer with figures of its own on a day.

    A dimension of test mode begins with `test `, so that tests take no place from live figures.
    """

    pk = models.CompositePrimaryKey("day", "dimension", "value")
    day = models.DateField()
    dimension = models.CharField(max_length=16)
    value = models.CharField(max_length=64)
    producer_id = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="The first producer of the type or template; 0: unknown, or a producer.",
    )

    class Meta:
        db_table = "rollup_value"

    def __str__(self) -> str:
        return f"{self.dimension} {self.value} on {self.day}"


class RollupPosition(models.Model):
    """The position of the roll-ups in the change feed: events of older transactions are counted."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    cluster = models.BigIntegerField(help_text="Identity of the database cluster of `xid`.")
    xid = models.BigIntegerField()
    series_checked = models.IntegerField(
        default=0,
        db_default=0,
        help_text="Housekeeping has looked at the series up to this id; 0: it begins again.",
    )

    class Meta:
        db_table = "rollup_position"

    def __str__(self) -> str:
        return f"transaction {self.xid}"
