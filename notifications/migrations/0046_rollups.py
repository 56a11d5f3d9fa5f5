"""Tables of the roll-ups; the count begins with the migration. Calls note the country of an SMS."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

_TABLES = Path(__file__).with_name("rollup_tables.sql")


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0045_external_identities"),
    ]

    operations = [
        migrations.CreateModel(
            name="RollupPosition",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                (
                    "cluster",
                    models.BigIntegerField(help_text="Identity of the database cluster of `xid`."),
                ),
                ("xid", models.BigIntegerField()),
            ],
            options={
                "db_table": "rollup_position",
            },
        ),
        migrations.CreateModel(
            name="RollupValue",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "day",
                        "dimension",
                        "value",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("day", models.DateField()),
                ("dimension", models.CharField(max_length=16)),
                ("value", models.CharField(max_length=64)),
            ],
            options={
                "db_table": "rollup_value",
            },
        ),
        migrations.AddField(
            model_name="attempt",
            name="country",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="SMS: country of the number, such as DE; empty if unknown.",
                max_length=2,
            ),
        ),
        migrations.CreateModel(
            name="RollupSeries",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("dimension_set", models.SmallIntegerField()),
                ("mode", models.SmallIntegerField(choices=[(1, "live"), (2, "test")])),
                (
                    "producer_id",
                    models.BigIntegerField(help_text="0: producers beyond the limit of a day."),
                ),
                (
                    "channel",
                    models.SmallIntegerField(
                        choices=[
                            (1, "push"),
                            (2, "sms"),
                            (3, "email"),
                            (4, "in_app"),
                            (5, "webhook"),
                            (6, "chat"),
                        ]
                    ),
                ),
                ("provider", models.CharField(blank=True, max_length=32)),
                ("priority", models.SmallIntegerField()),
                ("type", models.CharField(blank=True, max_length=64)),
                ("template", models.CharField(blank=True, max_length=64)),
                ("version", models.PositiveIntegerField(default=0)),
                ("country", models.CharField(blank=True, max_length=2)),
                ("reason", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "db_table": "rollup_series",
                "constraints": [
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
                    )
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(_TABLES.read_text(), "DROP TABLE rollup, rollup_latency"),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="RollupLatency",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "cube",
                                "series",
                                "kind",
                                "bucket",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("cube", models.SmallIntegerField(help_text="Step and dimension set.")),
                        ("kind", models.SmallIntegerField(help_text="Number of the latency.")),
                        (
                            "bucket",
                            models.DateTimeField(
                                help_text="Start of the minute, the hour or the UTC day."
                            ),
                        ),
                        (
                            "sketch",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(),
                                help_text="For each bin: bin number * 2^32 + count.",
                                size=None,
                            ),
                        ),
                        (
                            "series",
                            models.ForeignKey(
                                db_column="series",
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="notifications.rollupseries",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "rollup_latency",
                    },
                ),
                migrations.CreateModel(
                    name="Rollup",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "cube",
                                "series",
                                "bucket",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("cube", models.SmallIntegerField(help_text="Step and dimension set.")),
                        (
                            "bucket",
                            models.DateTimeField(
                                help_text="Start of the minute, the hour or the UTC day."
                            ),
                        ),
                        ("accepted", models.BigIntegerField(null=True)),
                        ("sent", models.BigIntegerField(null=True)),
                        ("delivered", models.BigIntegerField(null=True)),
                        ("read", models.BigIntegerField(null=True)),
                        ("clicked", models.BigIntegerField(null=True)),
                        ("failed", models.BigIntegerField(null=True)),
                        ("bounced", models.BigIntegerField(null=True)),
                        ("expired", models.BigIntegerField(null=True)),
                        ("suppressed", models.BigIntegerField(null=True)),
                        ("cancelled", models.BigIntegerField(null=True)),
                        ("unknown", models.BigIntegerField(null=True)),
                        ("unconfirmed", models.BigIntegerField(null=True)),
                        ("retried", models.BigIntegerField(null=True)),
                        ("replayed", models.BigIntegerField(null=True)),
                        ("calls", models.BigIntegerField(null=True)),
                        ("failed_calls", models.BigIntegerField(null=True)),
                        ("sent_after_retry", models.BigIntegerField(null=True)),
                        ("failed_after_retry", models.BigIntegerField(null=True)),
                        (
                            "cost_micros",
                            models.BigIntegerField(
                                help_text="Millionths of a US dollar.", null=True
                            ),
                        ),
                        (
                            "series",
                            models.ForeignKey(
                                db_column="series",
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="notifications.rollupseries",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "rollup",
                    },
                ),
            ],
        ),
        migrations.RunSQL(
            "INSERT INTO rollup_position (id, cluster, xid)"
            " SELECT 1, system_identifier, pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
            " FROM pg_control_system()",
            migrations.RunSQL.noop,
        ),
    ]
