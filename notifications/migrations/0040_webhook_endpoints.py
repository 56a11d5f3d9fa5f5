"""Endpoints, messages and calls of status webhooks; the fan-out begins with the migration."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0039_change_feed"),
    ]

    operations = [
        migrations.CreateModel(
            name="WebhookPosition",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("xid", models.BigIntegerField()),
                ("seq", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "webhook_position",
            },
        ),
        migrations.AddField(
            model_name="notification",
            name="webhook_url",
            field=models.CharField(
                blank=True, db_default="", help_text="Learns of status changes.", max_length=2048
            ),
        ),
        migrations.CreateModel(
            name="WebhookAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("message_id", models.UUIDField()),
                ("number", models.SmallIntegerField()),
                ("endpoint_id", models.BigIntegerField()),
                ("started_at", models.DateTimeField()),
                ("latency_ms", models.IntegerField()),
                (
                    "http_status",
                    models.SmallIntegerField(help_text="Empty without an HTTP answer.", null=True),
                ),
                (
                    "error",
                    models.CharField(
                        blank=True, help_text="Why no answer came, such as timeout.", max_length=64
                    ),
                ),
                (
                    "response",
                    models.CharField(
                        blank=True, help_text="Beginning of the answer's body.", max_length=200
                    ),
                ),
            ],
            options={
                "db_table": "webhook_attempt",
                "indexes": [
                    models.Index(fields=["endpoint_id", "-id"], name="webhook_attempt_of_endpoint"),
                    models.Index(fields=["message_id"], name="webhook_attempt_of_message"),
                    models.Index(fields=["started_at"], name="webhook_attempt_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookMessage",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("endpoint_id", models.BigIntegerField()),
                (
                    "url",
                    models.CharField(
                        blank=True, help_text="Empty: the endpoint's URL.", max_length=2048
                    ),
                ),
                ("type", models.CharField(max_length=32)),
                ("notification_id", models.UUIDField(null=True)),
                ("delivery_id", models.UUIDField(null=True)),
                (
                    "status",
                    models.SmallIntegerField(
                        choices=[
                            (1, "scheduled"),
                            (2, "queued"),
                            (3, "sending"),
                            (4, "retrying"),
                            (5, "sent"),
                            (6, "unconfirmed"),
                            (7, "delivered"),
                            (8, "read"),
                            (9, "bounced"),
                            (10, "failed"),
                            (11, "expired"),
                            (12, "suppressed"),
                            (13, "cancelled"),
                            (14, "unknown"),
                        ],
                        null=True,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=64)),
                ("occurred_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("due_at", models.DateTimeField(null=True)),
                ("claim_token", models.UUIDField(null=True)),
                (
                    "attempts",
                    models.SmallIntegerField(default=0, help_text="Calls of the current budget."),
                ),
                ("calls", models.SmallIntegerField(default=0, help_text="Calls ever.")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "db_table": "webhook_message",
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["endpoint_id", "due_at"],
                        name="webhook_message_due",
                    ),
                    models.Index(
                        condition=models.Q(("claim_token__isnull", False)),
                        fields=["endpoint_id"],
                        name="webhook_message_in_flight",
                    ),
                    models.Index(fields=["created_at"], name="webhook_message_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("mode", models.SmallIntegerField(choices=[(1, "live"), (2, "test")])),
                (
                    "url",
                    models.CharField(
                        blank=True,
                        help_text="Empty: the webhook_url of each request.",
                        max_length=2048,
                    ),
                ),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32),
                        blank=True,
                        default=list,
                        help_text="Event types, such as notification.failed. Empty: all.",
                        size=None,
                    ),
                ),
                (
                    "preset",
                    models.CharField(
                        choices=[("standard", "standard"), ("brief", "brief")],
                        default="standard",
                        help_text="standard: retries for about 24 hours. brief: three retries within 7 seconds.",
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "active"),
                            ("paused", "paused"),
                            ("disabled", "disabled"),
                        ],
                        default="active",
                        help_text="active: messages leave. paused: messages wait. disabled: none are made.",
                        max_length=8,
                    ),
                ),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("state_since", models.DateTimeField(blank=True, null=True)),
                (
                    "failures",
                    models.PositiveIntegerField(
                        default=0, help_text="Failed calls since the last successful call."
                    ),
                ),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("secret_version", models.PositiveSmallIntegerField(default=1)),
                (
                    "previous_secret_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Until then the previous secret signs as well.",
                        null=True,
                    ),
                ),
                (
                    "replay_since",
                    models.DateTimeField(
                        blank=True,
                        help_text="Start of the replay that runs; empty without a replay.",
                        null=True,
                    ),
                ),
                (
                    "replay_xid",
                    models.BigIntegerField(default=0, help_text="Position of the replay."),
                ),
                ("replay_seq", models.BigIntegerField(default=0)),
                (
                    "replay_end",
                    models.BigIntegerField(
                        default=0,
                        help_text="Transaction at which the replay ends: later changes come anyway.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "producer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to="notifications.producer",
                    ),
                ),
            ],
            options={
                "db_table": "webhook_endpoint",
                "ordering": ("producer", "mode", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("url", "")),
                        fields=("producer", "mode"),
                        name="webhook_endpoint_of_requests",
                    )
                ],
            },
        ),
        migrations.RunSQL(
            "INSERT INTO webhook_position (id, xid, seq)"
            " VALUES (1, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0)",
            migrations.RunSQL.noop,
        ),
    ]
