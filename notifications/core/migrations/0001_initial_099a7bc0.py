"""The whole schema: tables of the models as `makemigrations` writes them, and SQL for all else.

CONTRIBUTING.md says why the name has a hash. The migration has no reverse, because
the reverse would drop every row.
"""

import datetime
import uuid
from pathlib import Path

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models import Func
from django.db.models.functions import Cast, Coalesce, Least, Now, NullIf

from notifications.core import clock
from notifications.core.models.producer import every_priority

# A line for each column, however long.
# fmt: off

_MODES = [(1, "live"), (2, "test")]
_PRIORITIES = [(0, "P0"), (1, "P1"), (2, "P2"), (3, "P3")]
_CHANNELS = [(1, "push"), (2, "sms"), (3, "email"), (4, "in_app"), (5, "webhook"), (6, "chat")]
_STATUSES = [
    (1, "scheduled"), (2, "queued"), (3, "sending"), (4, "retrying"), (5, "sent"), (6, "unconfirmed"), (7, "delivered"),
    (8, "read"), (9, "bounced"), (10, "failed"), (11, "expired"), (12, "suppressed"), (13, "cancelled"), (14, "unknown"),
]


def _id():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def _sql(file):
    return migrations.RunSQL(Path(__file__).with_name(file).read_text())


def _add_foreign_keys(apps, schema_editor):
    """Run the statements that Django keeps for the end of a migration: cascades.sql reads the foreign keys."""
    for statement in schema_editor.deferred_sql:
        schema_editor.execute(statement)
    schema_editor.deferred_sql.clear()


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        _sql("addresses.sql"),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", _id()),
                ("kind", models.CharField(max_length=48)),
                ("subject", models.CharField(blank=True, max_length=128)),
                ("detail", models.CharField(max_length=500)),
                ("raised_at", models.DateTimeField(auto_now_add=True)),
                ("seen_at", models.DateTimeField(auto_now=True, help_text="Last time at which the condition held.")),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                (
                    "cause",
                    models.ForeignKey(
                        blank=True,
                        help_text="The open alert that covers this alert.",
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="covered",
                        to="notifications.alert",
                    ),
                ),
                ("owner", models.CharField(blank=True, db_default="", help_text="Person or team that works on it.", max_length=128)),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("acknowledged_by", models.CharField(blank=True, db_default="", max_length=128)),
                ("acknowledged_until", models.DateTimeField(blank=True, help_text="Until then no reminder leaves.", null=True)),
                ("note", models.CharField(blank=True, db_default="", max_length=500)),
            ],
            options={
                "ordering": ("-id",),
                "constraints": [models.UniqueConstraint(condition=models.Q(("resolved_at__isnull", True)), fields=("kind", "subject"), name="one_open_alert")],
            },
        ),
        migrations.CreateModel(
            name="AlertDestination",
            fields=[
                ("id", _id()),
                ("name", models.CharField(max_length=64, unique=True)),
                ("secret", models.TextField(help_text="The URL, encrypted.")),
                ("target", models.CharField(blank=True, help_text="Kind and host, without a secret.", max_length=128)),
                (
                    "fingerprint",
                    models.CharField(
                        blank=True, db_default="", help_text="Of a URL in NOTIFY_ALERT_URLS; empty for a destination of an operator.", max_length=32
                    ),
                ),
                (
                    "minimum_severity",
                    models.CharField(
                        choices=[("page", "page"), ("ticket", "ticket")],
                        default="ticket", db_default="ticket",
                        help_text="page: urgent alerts only. ticket: all alerts.",
                        max_length=8,
                    ),
                ),
                (
                    "kinds",
                    ArrayField(base_field=models.CharField(max_length=48), blank=True, default=list, db_default=[], help_text="Kinds of alerts. Empty: all kinds.", size=None),
                ),
                ("owner", models.CharField(blank=True, help_text="Person or team that reads the destination.", max_length=128)),
                ("is_active", models.BooleanField(default=True, db_default=True)),
                ("failures", models.PositiveIntegerField(db_default=0, default=0, help_text="Failed calls since the last successful call.")),
                ("last_sent_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, db_default="", max_length=300)),
                ("last_error_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "alert_destination",
                "ordering": ("name",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("fingerprint", ""), _negated=True), fields=("fingerprint",), name="alert_destination_fingerprint"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertNotice",
            fields=[
                ("id", _id()),
                ("key", models.UUIDField(default=uuid.uuid4, db_default=RandomUUID(), help_text="The same at every try.")),
                ("alert", models.ForeignKey(on_delete=models.CASCADE, related_name="notices", to="notifications.alert")),
                ("destination", models.ForeignKey(on_delete=models.CASCADE, related_name="notices", to="notifications.alertdestination")),
                (
                    "event",
                    models.CharField(
                        choices=[("raised", "raised"), ("reminded", "reminded"), ("acknowledged", "acknowledged"), ("resolved", "resolved"), ("test", "test")],
                        max_length=16,
                    ),
                ),
                ("number", models.PositiveIntegerField(default=0, db_default=0, help_text="Counts the reminders.")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed"), ("dropped", "dropped")], default="waiting", db_default="waiting", max_length=8
                    ),
                ),
                ("due_at", models.DateTimeField(null=True)),
                ("claim_token", models.UUIDField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0, db_default=0)),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "db_table": "alert_notice",
                "ordering": ("-id",),
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="alert_notice_due")],
                "constraints": [models.UniqueConstraint(fields=("alert", "destination", "event", "number"), name="one_alert_notice")],
            },
        ),
        migrations.CreateModel(
            name="ArchiveDay",
            fields=[
                ("day", models.DateField(help_text="UTC day of the notifications' ids.", primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waits for open deliveries"),
                            ("exporting", "files are written and verified"),
                            ("dropping", "verified; partitions are dropped"),
                            ("archived", "in the archive only"),
                            ("not_archived", "dropped without an archive (NOTIFY_ARCHIVE_URL=off)"),
                            ("expired", "deleted from the archive"),
                        ],
                        default="exporting", db_default="exporting",
                        max_length=16,
                    ),
                ),
                ("lease_token", models.UUIDField(help_text="The process that works on the day.", null=True)),
                ("leased_until", models.DateTimeField(help_text="After this time another process may continue the day.", null=True)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("dropped_at", models.DateTimeField(help_text="The partitions were dropped.", null=True)),
                ("expired_at", models.DateTimeField(help_text="The files were deleted.", null=True)),
                ("problem", models.CharField(blank=True, help_text="Error of the last try.", max_length=500)),
            ],
            options={"db_table": "archive_day", "ordering": ("-day",), "permissions": (("read_archive", "May read the archive"),)},
        ),
        migrations.CreateModel(
            name="ArchiveFile",
            fields=[
                ("id", _id()),
                ("day", models.ForeignKey(on_delete=models.CASCADE, related_name="files", to="notifications.archiveday")),
                ("table", models.CharField(help_text="notification, delivery, attempt, event, or key: the key index.", max_length=16)),
                ("name", models.CharField(help_text="Name below NOTIFY_ARCHIVE_URL.", max_length=200)),
                ("rows", models.BigIntegerField()),
                ("bytes", models.BigIntegerField(help_text="Size of the file.")),
                ("sha256", models.CharField(max_length=64)),
                ("fingerprint", models.BigIntegerField(help_text="XOR of the hashes of all rows of the partition; empty for the index.", null=True)),
                ("checksums", models.JSONField(help_text="Column -> CRC-32 of the values that were written.")),
                ("written_at", models.DateTimeField(auto_now_add=True)),
                ("verified_at", models.DateTimeField(help_text="The file was read back and equals the database.", null=True)),
            ],
            options={
                "db_table": "archive_file",
                "ordering": ("day_id", "table"),
                "constraints": [models.UniqueConstraint(fields=("day", "table"), name="archive_file_once_per_table")],
            },
        ),
        migrations.CreateModel(
            name="ArchiveKey",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("sealed", models.BinaryField(help_text="256-bit key, encrypted by NOTIFY_ENCRYPTION_KEYS.", max_length=60)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
            ],
            options={"db_table": "archive_key"},
        ),
        migrations.CreateModel(
            name="Attribute",
            fields=[
                ("id", _id()),
                ("name", models.CharField(max_length=64, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("text", "text"), ("number", "number"), ("boolean", "boolean"), ("date", "date"), ("list", "list")], max_length=8
                    ),
                ),
                ("description", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=150)),
            ],
            options={"db_table": "attribute", "ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("name", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=150)),
                ("deleted_at", models.DateTimeField(blank=True, help_text="A sweep removes the subscribers, and then the topic.", null=True)),
            ],
            options={
                "db_table": "topic",
                "constraints": [models.UniqueConstraint(condition=models.Q(("deleted_at", None)), fields=("mode", "name"), name="topic_once_per_mode")],
            },
        ),
        migrations.CreateModel(
            name="TopicSubscriber",
            fields=[
                ("pk", models.CompositePrimaryKey("topic_id", "recipient_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("topic_id", models.BigIntegerField()),
                ("recipient_id", models.BigIntegerField()),
            ],
            options={"db_table": "topic_subscriber"},
        ),
        migrations.CreateModel(
            name="RecipientList",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("kind", models.CharField(choices=[("upload", "upload"), ("snapshot", "snapshot")], max_length=8)),
                ("name", models.CharField(blank=True, max_length=100)),
                ("state", models.CharField(choices=[("loading", "loading"), ("ready", "ready"), ("failed", "failed")], default="loading", db_default="loading", max_length=8)),
                ("state_reason", models.CharField(blank=True, max_length=300)),
                (
                    "columns",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        default=list, db_default=[],
                        help_text="Upload: names of the variables of each recipient.",
                        size=None,
                    ),
                ),
                ("expression", models.JSONField(blank=True, help_text="Snapshot: whom the list has.", null=True)),
                ("cursor", models.BigIntegerField(default=0, db_default=0, help_text="Snapshot: done up to this recipient.")),
                ("until", models.BigIntegerField(default=0, db_default=0, help_text="Snapshot: last possible recipient.")),
                ("lines", models.BigIntegerField(default=0, db_default=0, help_text="Upload: lines with a recipient.")),
                ("members", models.BigIntegerField(default=0, db_default=0)),
                ("duplicates", models.BigIntegerField(default=0, db_default=0, help_text="Upload: repeats of a recipient.")),
                ("unknown", models.BigIntegerField(default=0, db_default=0, help_text="Upload: unknown user ids.")),
                ("faults", models.JSONField(default=list, db_default=[], help_text="Upload: the first faults, with the line.")),
                ("fault_counts", models.JSONField(default=dict, db_default={}, help_text="Upload: kind of fault -> lines.")),
                ("created_at", models.DateTimeField()),
                ("created_by", models.CharField(max_length=150)),
                ("touched_at", models.DateTimeField(help_text="Last progress.")),
                ("ready_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(help_text="A sweep deletes the list after this time.")),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "db_table": "recipient_list",
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["mode", "kind", "-id"], name="recipient_list_by_kind")],
            },
        ),
        migrations.CreateModel(
            name="RecipientListMember",
            fields=[
                ("pk", models.CompositePrimaryKey("list_id", "recipient_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("list_id", models.BigIntegerField()),
                ("recipient_id", models.BigIntegerField()),
                ("variables", models.JSONField(blank=True, null=True)),
            ],
            options={"db_table": "recipient_list_member"},
        ),
        migrations.CreateModel(
            name="Audience",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("name", models.CharField(max_length=100)),
                ("description", models.CharField(blank=True, max_length=300)),
                ("expression", models.JSONField(help_text="Audience expression: whom the audience has.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=150)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                ("changed_by", models.CharField(max_length=150)),
            ],
            options={"db_table": "audience", "constraints": [models.UniqueConstraint(fields=("mode", "name"), name="audience_once_per_mode")]},
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", models.CharField(help_text="An operator's user name, or a producer with the prefix of a key.", max_length=150)),
                ("operation", models.CharField(help_text="As in OpenAPI, like resolve_alert.", max_length=64)),
                ("object_type", models.CharField(help_text="The model's name in small letters.", max_length=32)),
                ("object_id", models.CharField(max_length=64)),
                ("object_name", models.CharField(blank=True, max_length=150)),
                ("before", models.JSONField(default=dict, db_default={})),
                ("after", models.JSONField(default=dict, db_default={})),
                ("request_id", models.CharField(blank=True, help_text="X-Request-Id.", max_length=32)),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["object_type", "object_id", "id"], name="audit_of_object"), models.Index(fields=["at"], name="audit_by_age")],
            },
        ),
        migrations.CreateModel(
            name="BacklogSample",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(help_text="Start of the minute.")),
                ("priority", models.SmallIntegerField()),
                ("depth", models.IntegerField(help_text="Due deliveries without a worker, up to 10,000.")),
                ("retrying", models.IntegerField(null=True, help_text="Deliveries that wait for a retry, up to 20,000; empty in samples of earlier releases.")),
                ("behind_ms", models.BigIntegerField(help_text="Time since the oldest due time.")),
            ],
            options={
                "db_table": "backlog_sample",
                "indexes": [models.Index(fields=["at"], name="backlog_sample_age")],
                "constraints": [models.UniqueConstraint(fields=("priority", "at"), name="one_backlog_sample")],
            },
        ),
        migrations.CreateModel(
            name="Breaker",
            fields=[
                ("id", _id()),
                ("provider", models.CharField(max_length=32)),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("forced", models.CharField(blank=True, choices=[("", "auto"), ("closed", "closed")], max_length=8)),
                ("trips", models.PositiveIntegerField(default=0, db_default=0, help_text="Number of automatic openings.")),
                ("probes", models.PositiveIntegerField(default=0, db_default=0)),
                ("closes", models.PositiveIntegerField(default=0, db_default=0)),
            ],
            options={"ordering": ("provider", "channel"), "constraints": [models.UniqueConstraint(fields=("provider", "channel"), name="one_breaker")]},
        ),
        migrations.CreateModel(
            name="BreakerEvent",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("provider", models.CharField(max_length=32)),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("tripped", "Tripped"),
                            ("probed", "Probed"),
                            ("closed", "Closed"),
                            ("forced open", "Forced Open"),
                            ("forced closed", "Forced Closed"),
                            ("back to auto", "Auto"),
                        ],
                        max_length=16,
                    ),
                ),
                ("detail", models.CharField(blank=True, help_text="Reason, or the operator.", max_length=200)),
            ],
            options={"ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="ProviderPace",
            fields=[
                ("id", _id()),
                ("provider", models.CharField(max_length=32, unique=True)),
                (
                    "burst",
                    models.PositiveIntegerField(
                        help_text="Burst: messages permitted at once after a pause.", validators=[MinValueValidator(1), MaxValueValidator(1000000)]
                    ),
                ),
                (
                    "per_second",
                    models.FloatField(
                        help_text="Messages per second after the burst; P2 and P3 together get at most 80 %.",
                        validators=[MinValueValidator(0.01), MaxValueValidator(1000000)],
                    ),
                ),
            ],
            options={"ordering": ("provider",)},
        ),
        migrations.CreateModel(
            name="Producer",
            fields=[
                ("id", _id()),
                ("name", models.CharField(max_length=64, unique=True)),
                ("is_active", models.BooleanField(default=True, db_default=True, help_text="Off: requests with any key of the producer get 403.")),
                (
                    "priorities",
                    ArrayField(base_field=models.SmallIntegerField(choices=_PRIORITIES), default=every_priority, db_default=[0, 1, 2, 3], help_text="Permitted priorities.", size=None),
                ),
                ("may_send_content", models.BooleanField(default=False, db_default=False, help_text="May send raw text instead of a template.")),
                ("rate_per_second", models.PositiveIntegerField(default=1000, db_default=1000, help_text="Limit of accepted notifications per second, for all keys together.")),
                ("rate_burst", models.PositiveIntegerField(default=5000, db_default=5000, help_text="Limit of accepted notifications at once after a pause.")),
                (
                    "timezone",
                    models.CharField(
                        default="UTC", db_default="UTC",
                        help_text="For recipients without a known timezone: their quiet hours apply in this timezone, and P3 is sent during the producer's day only.",
                        max_length=64,
                    ),
                ),
                ("day_begins", models.TimeField(default=datetime.time(8, 0), db_default=datetime.time(8, 0))),
                ("day_ends", models.TimeField(default=datetime.time(20, 0), db_default=datetime.time(20, 0), help_text="End of the producer's day, as local time in the producer's timezone.")),
                (
                    "allowed_origins",
                    ArrayField(
                        base_field=models.CharField(max_length=255),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Origins of web pages that may call with recipient tokens of the producer, such as https://shop.example. * permits every origin.",
                        size=None,
                    ),
                ),
                (
                    "sms_countries",
                    ArrayField(
                        base_field=models.CharField(max_length=2),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Countries to which the producer may send SMS, such as DE, AT. Empty: every country.",
                        size=None,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", _id()),
                (
                    "producer",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all producers together.",
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="budgets",
                        to="notifications.producer",
                    ),
                ),
                ("channel", models.SmallIntegerField(blank=True, choices=_CHANNELS, help_text="Empty: all channels together.", null=True)),
                (
                    "amount_micros",
                    models.BigIntegerField(
                        help_text="Millionths of a US dollar: 5000000 is $5.", validators=[MinValueValidator(0)], verbose_name="microdollars a day"
                    ),
                ),
                (
                    "alert_percent",
                    models.PositiveSmallIntegerField(
                        default=80, db_default=80,
                        help_text="Share of the amount at which the first alert of a day is raised.",
                        validators=[MinValueValidator(1), MaxValueValidator(100)],
                    ),
                ),
                (
                    "is_hard",
                    models.BooleanField(
                        default=True, db_default=True,
                        help_text="Above the amount P3 by SMS goes by e-mail or waits, P2 and other P3 wait, P0 and P1 go on. Otherwise alerts alone are raised.",
                        verbose_name="hard",
                    ),
                ),
                ("timezone", models.CharField(default="UTC", db_default="UTC", help_text="A day begins at midnight of this timezone.", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "budget",
                "ordering": ("producer", "channel"),
                "constraints": [
                    models.UniqueConstraint(fields=("producer", "channel"), name="one_budget", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(("amount_micros__gte", 0)), name="budget_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BudgetDay",
            fields=[
                ("id", _id()),
                ("budget", models.ForeignKey(on_delete=models.CASCADE, related_name="days", to="notifications.budget")),
                ("day", models.DateField(help_text="In the timezone of the budget.")),
                ("used_micros", models.BigIntegerField(default=0, db_default=0, help_text="Reserved and spent.")),
                ("refused_micros", models.BigIntegerField(help_text="Price of the last call that was refused; empty: none was.", null=True)),
                ("nearly_spent_alert_at", models.DateTimeField(null=True)),
                ("spent_alert_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "budget_day", "constraints": [models.UniqueConstraint(fields=("budget", "day"), name="one_ledger_a_day")]},
        ),
        migrations.CreateModel(
            name="BudgetReservation",
            fields=[
                ("delivery_id", models.UUIDField(primary_key=True, serialize=False)),
                ("token", models.UUIDField(help_text="Claim of the worker that makes the call.")),
                ("micros", models.BigIntegerField(help_text="Estimated price, added to the ledgers.")),
                ("settled_micros", models.BigIntegerField(help_text="Price by the outcome, not yet in the ledgers; empty: no outcome.", null=True)),
                ("ledgers", ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("created_at", models.DateTimeField()),
            ],
            options={"db_table": "budget_reservation"},
        ),
        migrations.CreateModel(
            name="ReceiptPrice",
            fields=[
                ("pk", models.CompositePrimaryKey("delivery_id", "provider", "message_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("delivery_id", models.UUIDField()),
                ("provider", models.CharField(max_length=32)),
                ("message_id", models.CharField(blank=True, help_text="The provider's id.", max_length=500)),
                ("segments", models.SmallIntegerField(null=True)),
                ("micros", models.BigIntegerField(help_text="Millionths of a US dollar; empty: the segments decide.", null=True)),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(help_text="The next look for the call.")),
            ],
            options={"db_table": "receipt_price", "indexes": [models.Index(fields=["due_at"], name="receipt_price_due")]},
        ),
        migrations.CreateModel(
            name="BulkJob",
            fields=[
                ("id", models.UUIDField(default=clock.new_notification_id, editable=False, primary_key=True, serialize=False)),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="bulk_jobs", to="notifications.producer")),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("name", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("scheduled", "scheduled"),
                            ("running", "running"),
                            ("paused", "paused"),
                            ("cancelled", "cancelled"),
                            ("aborted", "aborted"),
                            ("finished", "finished"),
                        ],
                        default="scheduled", db_default="scheduled",
                        max_length=12,
                    ),
                ),
                ("state_reason", models.CharField(blank=True, help_text="Reason of the state.", max_length=300)),
                ("state_changed_at", models.DateTimeField(blank=True, null=True)),
                ("state_changed_by", models.CharField(blank=True, max_length=150)),
                ("audience", models.JSONField(help_text="Audience expression: who gets the message.")),
                ("type", models.CharField(max_length=64)),
                ("category", models.CharField(blank=True, max_length=64)),
                ("priority", models.SmallIntegerField(choices=_PRIORITIES, default=3, db_default=3)),
                ("template_id", models.CharField(max_length=64)),
                ("template", models.BigIntegerField(help_text="The pinned template version's row.")),
                ("variables", models.JSONField(default=dict, db_default={}, help_text="For each message; values of an upload or a recipient come first.")),
                ("secrets", models.BinaryField(help_text="Sensitive variables, encrypted; removed when the job ends.", null=True)),
                ("channels", ArrayField(base_field=models.SmallIntegerField(choices=_CHANNELS), default=list, db_default=[], size=None)),
                ("spread", models.CharField(help_text="first or all", max_length=8)),
                ("ttl_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("metadata", models.JSONField(default=dict, db_default={})),
                ("starts_at", models.DateTimeField(help_text="Expansion begins at this time.")),
                ("send_at_local", models.CharField(blank=True, help_text="Send time on each recipient's wall clock.", max_length=19)),
                ("rate_per_second", models.FloatField(blank=True, help_text="Empty: no limit.", null=True, validators=[MinValueValidator(0.001)])),
                (
                    "spread_seconds",
                    models.PositiveIntegerField(blank=True, help_text="The messages are spread evenly over this time instead of a given rate.", null=True),
                ),
                (
                    "weight",
                    models.PositiveSmallIntegerField(
                        default=1, db_default=1, help_text="Share of the lane among the jobs that run in it.", validators=[MinValueValidator(1)]
                    ),
                ),
                ("variants", models.JSONField(default=list, db_default=[], help_text="A/B: name, template_id, template and share in percent of each variant.")),
                ("holdout_percent", models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Recipients who get no message, for comparison.")),
                ("winner_rule", models.JSONField(blank=True, help_text="A/B: metric, sample in percent, and after_seconds.", null=True)),
                ("winner", models.CharField(blank=True, help_text="Variant that won.", max_length=32)),
                ("test_group_size", models.PositiveIntegerField(default=0, db_default=0, help_text="The first recipients; the others follow after test_group_seconds.")),
                ("test_group_seconds", models.PositiveIntegerField(default=0, db_default=0)),
                ("abort_limits", models.JSONField(default=dict, db_default={}, help_text="failed, bounced, complained: shares; minimum: sent messages.")),
                ("estimate", models.BigIntegerField(blank=True, help_text="Estimated size of the audience at creation.", null=True)),
                ("created_at", models.DateTimeField()),
                ("created_by", models.CharField(help_text="An operator, or a producer's key.", max_length=150)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "unique_by",
                    models.CharField(
                        choices=[("address", "address"), ("recipient", "recipient")],
                        default="address", db_default="address",
                        help_text="address: one message to each mailbox, number, device or chat; recipient: one to each recipient.",
                        max_length=9,
                    ),
                ),
            ],
            options={
                "db_table": "bulk_job",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["cancelled", "aborted", "finished"]), _negated=True),
                        fields=["state", "starts_at"],
                        name="bulk_job_open",
                    ),
                    models.Index(fields=["producer", "mode", "-id"], name="bulk_job_by_producer"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BulkJobAddress",
            fields=[
                ("pk", models.CompositePrimaryKey("job", "digest", blank=True, editable=False, primary_key=True, serialize=False)),
                (
                    "job",
                    models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="addresses", to="notifications.bulkjob"),
                ),
                ("digest", models.BinaryField(help_text="First 16 bytes of SHA-256 of channel and address, as the suppression list compares addresses.")),
            ],
            options={"db_table": "bulk_job_address"},
        ),
        migrations.CreateModel(
            name="BulkJobRange",
            fields=[
                ("id", _id()),
                ("job", models.ForeignKey(on_delete=models.CASCADE, related_name="ranges", to="notifications.bulkjob")),
                ("number", models.PositiveSmallIntegerField()),
                ("first", models.BigIntegerField(help_text="Value of the cursor at the start.")),
                ("cursor", models.BigIntegerField(help_text="Recipients up to this id are done.")),
                ("until", models.BigIntegerField(help_text="Last possible recipient id.")),
                (
                    "zones",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        help_text="Only recipients in these timezones; empty: all.",
                        null=True,
                        size=None,
                    ),
                ),
                ("starts_at", models.DateTimeField(blank=True, help_text="Not expanded before.", null=True)),
                (
                    "sample",
                    models.BooleanField(
                        help_text="A/B with a winner: only the sample, or only the recipients outside of the sample, who get the winner. Empty: all.", null=True
                    ),
                ),
                ("examined", models.BigIntegerField(default=0, db_default=0, help_text="Recipients of the audience.")),
                ("accepted", models.BigIntegerField(default=0, db_default=0, help_text="Notifications.")),
                ("left_out", models.JSONField(default=dict, db_default={}, help_text="Reason -> recipients without a message.")),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={"db_table": "bulk_job_range", "constraints": [models.UniqueConstraint(fields=("job", "number"), name="one_range")]},
        ),
        migrations.CreateModel(
            name="BulkJobPace",
            fields=[
                ("job", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="pace", serialize=False, to="notifications.bulkjob")),
                ("next_at", models.DateTimeField(help_text="Empty: no message has a slot yet.", null=True)),
                ("test_group_ends_at", models.DateTimeField(help_text="The other recipients follow. Empty: the test group is incomplete.", null=True)),
                ("sample_ends_at", models.DateTimeField(help_text="Choice of the winner. Empty: the sample is incomplete.", null=True)),
            ],
            options={"db_table": "bulk_job_pace"},
        ),
        migrations.CreateModel(
            name="BulkLane",
            fields=[
                ("pk", models.CompositePrimaryKey("mode", "priority", "channel", blank=True, editable=False, primary_key=True, serialize=False)),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("priority", models.SmallIntegerField(choices=_PRIORITIES)),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("window", models.PositiveIntegerField(default=0, db_default=0, help_text="Rows that may wait in the lane.")),
                ("granted", models.JSONField(default=dict, db_default={}, help_text="Job -> messages that the job may have created in total.")),
                ("divided_at", models.DateTimeField(help_text="Time of the last division.", null=True)),
            ],
            options={"db_table": "bulk_lane"},
        ),
        migrations.CreateModel(
            name="BulkJobFigure",
            fields=[
                ("pk", models.CompositePrimaryKey("job", "variant", "kind", "name", blank=True, editable=False, primary_key=True, serialize=False)),
                ("job", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="figures", to="notifications.bulkjob")),
                ("variant", models.CharField(blank=True, max_length=32)),
                ("kind", models.CharField(help_text="total or status", max_length=8)),
                ("name", models.CharField(help_text="total: the counted events. status: the present status.", max_length=16)),
                ("count", models.BigIntegerField(default=0, db_default=0)),
            ],
            options={"db_table": "bulk_job_figure"},
        ),
        migrations.CreateModel(
            name="BulkJobSample",
            fields=[
                ("id", _id()),
                ("job", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="samples", to="notifications.bulkjob")),
                ("at", models.DateTimeField()),
                ("examined", models.BigIntegerField(help_text="Recipients of the audience.")),
                ("accepted", models.BigIntegerField(help_text="Notifications.")),
                ("sent", models.BigIntegerField(help_text="Deliveries that a provider accepted.")),
            ],
            options={
                "db_table": "bulk_job_sample",
                "indexes": [models.Index(fields=["at"], name="bulk_job_sample_age")],
                "constraints": [models.UniqueConstraint(fields=("job", "at"), name="one_bulk_job_sample")],
            },
        ),
        migrations.CreateModel(
            name="CancelJob",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("producer", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="cancel_jobs", to="notifications.producer")),
                ("notification_ids", ArrayField(base_field=models.UUIDField(), blank=True, null=True, size=None)),
                ("bulk_job", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="cancel_jobs", to="notifications.bulkjob")),
                ("type", models.CharField(blank=True, max_length=64)),
                ("template_id", models.CharField(blank=True, max_length=64)),
                ("priority", models.SmallIntegerField(blank=True, choices=_PRIORITIES, null=True)),
                ("metadata", models.JSONField(blank=True, default=dict, db_default={}, help_text="Names and values that the metadata must have.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("requested_by", models.CharField(max_length=150)),
                ("after", models.UUIDField(help_text="Notifications up to this id are done.")),
                ("first", models.UUIDField(help_text="Value of `after` at the start.")),
                ("until", models.UUIDField(help_text="Last possible id.")),
                ("cancelled", models.IntegerField(default=0, db_default=0, help_text="Cancelled notifications.")),
                ("stopped", models.IntegerField(default=0, db_default=0, help_text="Deliveries that did not leave.")),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("is_stopped", models.BooleanField(default=False, db_default=False, help_text="An operator or producer stopped it.")),
            ],
            options={"ordering": ("-id",), "indexes": [models.Index(condition=models.Q(("finished_at", None)), fields=["id"], name="cancel_job_unfinished")]},
        ),
        migrations.CreateModel(
            name="ProviderConnection",
            fields=[
                ("id", _id()),
                ("provider", models.CharField(max_length=32, unique=True)),
                ("run_at", models.DateTimeField(auto_now=True)),
                ("run_by", models.CharField(max_length=128)),
                ("findings", models.JSONField(default=list, db_default=[], help_text="Lines of the run: subject, state and detail.")),
                ("per_second", models.FloatField(blank=True, help_text="Rate limit that the command stored; a different limit is an operator's.", null=True)),
            ],
            options={"ordering": ("provider",)},
        ),
        migrations.CreateModel(
            name="ReplayJob",
            fields=[
                ("id", _id()),
                (
                    "mode",
                    models.SmallIntegerField(
                        choices=_MODES, default=1, db_default=1, help_text="Keys of this mode can read the job. Dead letters of both modes give a live job."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("requested_by", models.CharField(max_length=128)),
                ("forced", models.BooleanField(default=False, db_default=False, help_text="Also replay dead letters whose notification has already arrived.")),
                ("renews_ttl", models.BooleanField(default=False, db_default=False, help_text="Start the TTL anew (never for P0).")),
                ("total", models.IntegerField(default=0, db_default=0)),
                ("replayed", models.IntegerField(default=0, db_default=0)),
                ("skipped", models.IntegerField(default=0, db_default=0)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={"ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                ("id", _id()),
                ("delivery_id", models.UUIDField()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("priority", models.SmallIntegerField(choices=_PRIORITIES)),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("producer_id", models.BigIntegerField()),
                ("recipient_id", models.BigIntegerField()),
                ("contact_id", models.BigIntegerField(help_text="The delivery's contact. An open dead letter marks the contact.", null=True)),
                ("provider", models.CharField(blank=True, max_length=32)),
                ("reason", models.CharField(max_length=64)),
                ("detail", models.CharField(blank=True, max_length=500)),
                ("snapshot", models.JSONField()),
                ("created_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("resolution", models.CharField(blank=True, help_text="replayed, discarded, or the reason of a skipped replay.", max_length=32)),
                ("replay_job", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="letters", to="notifications.replayjob")),
            ],
            options={
                "ordering": ("-id",),
                "permissions": (("replay_deadletter", "May replay and discard dead letters"),),
                "indexes": [
                    models.Index(condition=models.Q(("resolved_at__isnull", True)), fields=["reason", "created_at"], name="dead_letter_open"),
                    models.Index(fields=["recipient_id"], name="dead_letter_by_recipient"),
                    models.Index(fields=["created_at"], name="dead_letter_by_age"),
                    models.Index(condition=models.Q(("resolved_at__isnull", True)), fields=["contact_id"], name="dead_letter_of_contact"),
                    models.Index(
                        condition=models.Q(("mode", 1), ("priority__lte", 1), ("resolved_at__isnull", True)), fields=["created_at"], name="dead_letter_urgent"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at__isnull", True)), fields=("delivery_id",), name="one_open_dead_letter_per_delivery"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Deploy",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("release", models.CharField(help_text="NOTIFY_RELEASE, such as 1.8.0.", max_length=64)),
            ],
            options={"db_table": "deploy", "ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="ErasureJob",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("recipient_id", models.BigIntegerField(help_text="Primary key of the removed recipient.")),
                ("requested_by", models.CharField(max_length=128)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("notifications", models.IntegerField(default=0, db_default=0, help_text="Notifications removed so far.")),
                ("contacts", models.IntegerField(db_default=0, default=0, help_text="Contacts removed.")),
                ("dead_letters", models.IntegerField(db_default=0, default=0, help_text="Dead letters whose message was removed.")),
                ("inbox_items", models.IntegerField(db_default=0, default=0, help_text="In-app messages removed from the inbox so far.")),
                ("archive_keys", models.IntegerField(db_default=0, default=0, help_text="Archive keys deleted; 0: there was none.")),
                ("receipt", models.JSONField(blank=True, help_text="Times, and counts for each place; written at the end.", null=True)),
                ("receipt_signature", models.CharField(blank=True, db_default="", default="", help_text="HMAC-SHA256 of the receipt.", max_length=64)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(condition=models.Q(("receipt__isnull", True)), fields=["id"], name="erasure_job_without_receipt"),
                    models.Index(fields=["recipient_id"], name="erasure_job_by_recipient"),
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("pk", models.CompositePrimaryKey("producer_id", "mode", "key", blank=True, editable=False, primary_key=True, serialize=False)),
                ("producer_id", models.BigIntegerField()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("key", models.CharField(max_length=255)),
                ("body_hash", models.BinaryField(max_length=16)),
                ("response", models.JSONField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={"db_table": "idempotency_key", "indexes": [models.Index(fields=["expires_at"], name="idempotency_key_expiry")]},
        ),
        migrations.CreateModel(
            name="ReceivedText",
            fields=[
                ("pk", models.CompositePrimaryKey("provider", "message_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("provider", models.CharField(max_length=32)),
                ("message_id", models.CharField(max_length=255)),
                ("received_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "received_text", "indexes": [models.Index(fields=["received_at"], name="received_text_age")]},
        ),
        migrations.CreateModel(
            name="Rejected",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("producer_id", models.BigIntegerField()),
                ("user_id", models.CharField(blank=True, max_length=128)),
                ("type", models.CharField(blank=True, max_length=64)),
                ("problem", models.CharField(help_text="The problem's type.", max_length=64)),
                ("detail", models.CharField(max_length=500)),
                ("pointers", models.JSONField(default=list, db_default=[], help_text="Where in the body, as JSON pointers.")),
            ],
            options={"verbose_name": "rejected request", "ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="SweepRun",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("running_since", models.DateTimeField(help_text="Start of the oldest unfinished run; empty without a running sweep.", null=True)),
                ("moved", models.IntegerField(default=0, db_default=0, help_text="Rows changed by the last run.")),
                ("failed", models.IntegerField(default=0, db_default=0, help_text="Rows with an exception in the last run; the log has their ids.")),
            ],
        ),
        migrations.CreateModel(
            name="ChangeMark",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                ("xid", models.BigIntegerField(help_text="Oldest transaction that was open at the time.")),
            ],
            options={"db_table": "change_mark"},
        ),
        migrations.CreateModel(
            name="Inbox",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("version", models.BigIntegerField(db_default=0, help_text="Grows by one with each committed change of the inbox.")),
                (
                    "oldest_version",
                    models.BigIntegerField(db_default=0, help_text="Changes before this version are incomplete, because items were deleted by age."),
                ),
                ("unseen", models.IntegerField(db_default=0)),
                ("unread", models.IntegerField(db_default=0, help_text="Includes unseen items.")),
                ("total", models.IntegerField(db_default=0, help_text="Neither archived nor snoozed; a group counts as one.")),
                ("categories", models.JSONField(db_default={}, default=dict, help_text="Category -> [unseen, unread], without zeros.")),
                ("next_change_at", models.DateTimeField(help_text="No item expires and no snooze ends before this time.", null=True)),
            ],
            options={
                "db_table": "inbox",
                "indexes": [models.Index(condition=models.Q(("next_change_at__isnull", False)), fields=["next_change_at"], name="inbox_next_change")],
            },
        ),
        migrations.CreateModel(
            name="InboxItem",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("recipient_id", models.BigIntegerField()),
                ("notification_id", models.UUIDField()),
                ("type", models.CharField(max_length=128)),
                ("category", models.CharField(max_length=64)),
                ("title", models.TextField()),
                ("body", models.TextField()),
                ("url", models.TextField(db_default="")),
                ("image_url", models.TextField(db_default="")),
                ("actions", models.JSONField(db_default=[], default=list)),
                ("data", models.JSONField(db_default={}, default=dict)),
                ("collapse_key", models.CharField(db_default="", max_length=255)),
                ("group_id", models.UUIDField(help_text="Id of the group's first item; empty without a collapse key.", null=True)),
                ("group_size", models.IntegerField(db_default=1, help_text="Items of the group; exact for the item that is not superseded.")),
                ("superseded_by", models.UUIDField(help_text="The item that stands for the group instead of this item.", null=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(null=True)),
                ("added_version", models.BigIntegerField(help_text="Version of the inbox at the arrival, or at the end of the last snooze.")),
                ("version", models.BigIntegerField(help_text="Version of the inbox at the last change.")),
                ("seen_at", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("archived_at", models.DateTimeField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
                ("removal", models.CharField(db_default="", help_text="Cause of the removal.", max_length=16)),
                (
                    "state",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(models.Q(("removed_at__isnull", False), ("superseded_by__isnull", False), _connector="OR"), then=models.Value(5)),
                            models.When(archived_at__isnull=False, then=models.Value(3)),
                            models.When(snoozed_until__isnull=False, then=models.Value(4)),
                            models.When(read_at__isnull=False, then=models.Value(2)),
                            models.When(seen_at__isnull=False, then=models.Value(1)),
                            default=models.Value(0),
                        ),
                        output_field=models.SmallIntegerField(),
                    ),
                ),
                (
                    "due_at",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(models.When(removed_at__isnull=True, then=Least(models.F("expires_at"), models.F("snoozed_until")))),
                        help_text="The item expires or its snooze ends at this time.",
                        output_field=models.DateTimeField(null=True),
                    ),
                ),
            ],
            options={
                "db_table": "inbox_item",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__lt", 5)), fields=["recipient_id", "state", "-added_version", "-id", "category"], name="inbox_item_tab"
                    ),
                    models.Index(fields=["recipient_id", "version"], name="inbox_item_changes"),
                    models.Index(
                        condition=models.Q(models.Q(("collapse_key", ""), _negated=True), ("removed_at__isnull", True), ("superseded_by__isnull", True)),
                        fields=["recipient_id", "collapse_key", "-added_version", "-id"],
                        name="inbox_item_group",
                    ),
                    models.Index(condition=models.Q(("group_id__isnull", False)), fields=["group_id", "-added_version", "-id"], name="inbox_item_member"),
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["recipient_id", "due_at"], name="inbox_item_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="InboxReport",
            fields=[
                ("item_id", models.UUIDField(primary_key=True, serialize=False)),
                ("recipient_id", models.BigIntegerField()),
                ("due_at", models.DateTimeField(help_text="Time of the next try; a claim moves the time.")),
            ],
            options={
                "db_table": "inbox_report",
                "indexes": [models.Index(fields=["due_at"], name="inbox_report_due"), models.Index(fields=["recipient_id"], name="inbox_report_recipient")],
            },
        ),
        migrations.CreateModel(
            name="InboxUncleared",
            fields=[("id", _id()), ("recipient_id", models.BigIntegerField()), ("at", models.DateTimeField())],
            options={"db_table": "inbox_uncleared"},
        ),
        migrations.CreateModel(
            name="LaneLag",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("priority", models.SmallIntegerField(choices=_PRIORITIES)),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("waiting", models.BigIntegerField(default=0, db_default=0, help_text="Due deliveries without a claim.")),
                ("is_estimate", models.BooleanField(default=False, db_default=False, help_text="Over 100,000 wait, and the number is from a sample of the table.")),
                ("behind_ms", models.BigIntegerField(default=0, db_default=0, help_text="Time since the oldest of them could leave.")),
                ("sampled_at", models.DateTimeField()),
                ("refuses_since", models.DateTimeField(blank=True, help_text="New P3 posts get 429 since this time; empty: accepted.", null=True)),
                ("retry_after_seconds", models.PositiveIntegerField(default=0, db_default=0, help_text="Retry-After of the 429 answers, without the jitter.")),
                ("drops_since", models.DateTimeField(blank=True, help_text="Stale P3 are dropped since this time; empty: kept.", null=True)),
                ("dropped", models.BigIntegerField(default=0, db_default=0, help_text="Stale deliveries dropped since then.")),
                ("dropped_at", models.DateTimeField(blank=True, help_text="Time of the last drop.", null=True)),
                ("examined_until", models.DateTimeField(blank=True, help_text="The drop goes on at this place of the queue.", null=True)),
            ],
            options={"db_table": "lane_lag", "constraints": [models.UniqueConstraint(fields=("mode", "priority", "channel"), name="one_lane_lag")]},
        ),
        migrations.CreateModel(
            name="LagLimits",
            fields=[
                ("id", _id()),
                ("channel", models.SmallIntegerField(choices=_CHANNELS, unique=True)),
                (
                    "refuse_waiting",
                    models.PositiveBigIntegerField(
                        default=10000000, db_default=10000000, help_text="Above so many waiting P3 deliveries, new P3 posts get 429.", validators=[MinValueValidator(1)]
                    ),
                ),
                (
                    "refuse_behind_seconds",
                    models.PositiveIntegerField(
                        default=7200, db_default=7200, help_text="Also when the oldest waits longer than so many seconds.", validators=[MinValueValidator(1)]
                    ),
                ),
                (
                    "drop_waiting",
                    models.PositiveBigIntegerField(
                        default=50000000, db_default=50000000, help_text="Above so many waiting P3 deliveries, stale ones are dropped.", validators=[MinValueValidator(1)]
                    ),
                ),
                (
                    "drop_behind_seconds",
                    models.PositiveIntegerField(
                        default=14400, db_default=14400, help_text="Also when the oldest waits longer than so many seconds.", validators=[MinValueValidator(1)]
                    ),
                ),
                (
                    "drop_older_seconds",
                    models.PositiveIntegerField(
                        default=7200, db_default=7200, help_text="A P3 delivery is stale when it could leave for longer than so many seconds.", validators=[MinValueValidator(1)]
                    ),
                ),
            ],
            options={"verbose_name": "lag limits", "verbose_name_plural": "lag limits", "db_table": "lag_limits"},
        ),
        migrations.CreateModel(
            name="NotificationType",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("priority", models.SmallIntegerField(choices=_PRIORITIES, default=2, db_default=2)),
                ("category", models.CharField(blank=True, help_text="Category for unsubscription, such as marketing or social.", max_length=64)),
                ("retry_preset", models.CharField(blank=True, help_text="Empty: the policy of the priority and channel.", max_length=16)),
                (
                    "digest_template",
                    models.SlugField(
                        blank=True,
                        db_index=False,
                        help_text="Template of a message which replaces several P2 held by a frequency cap; its variables are count, items and type. Empty: no digest.",
                        max_length=64,
                    ),
                ),
                (
                    "tracks_opens",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Each e-mail has an invisible picture that tells when it is loaded, so the recipient is observed: many laws require consent. The result is inexact, because mail programs block pictures or load them without a reader.",
                    ),
                ),
                (
                    "tracks_clicks",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The links of each e-mail lead over this service, and a click on a link of an e-mail or a short link of an SMS is stored with the delivery, so the recipient is observed: many laws require consent. Security scanners follow links too.",
                    ),
                ),
                (
                    "fallback_on",
                    models.CharField(
                        blank=True,
                        choices=[("", "failure, or no receipt where a receipt can come"), ("failure", "failure"), ("unconfirmed", "failure, or no receipt")],
                        db_default="",
                        help_text="Condition for the next channel of a fallback chain.",
                        max_length=16,
                    ),
                ),
                (
                    "confirm_seconds",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Seconds to wait for a receipt before the next channel of a fallback chain. Empty: 5 for P0, 30 for other priorities.",
                        null=True,
                        validators=[MinValueValidator(1)],
                    ),
                ),
                (
                    "is_mandatory",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Recipients cannot switch the type off, by itself or by its category, such as invoices. A type with priority P0 is always mandatory. A channel that is off stays off.",
                        verbose_name="mandatory",
                    ),
                ),
                (
                    "is_listed",
                    models.BooleanField(db_default=True, default=True, help_text="Recipients see the type on the preference page.", verbose_name="listed"),
                ),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="OrderingKey",
            fields=[
                ("id", _id()),
                ("producer_id", models.BigIntegerField()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("key", models.CharField(max_length=255)),
                (
                    "priority",
                    models.SmallIntegerField(choices=_PRIORITIES, help_text="Priority of the key's first notification, for all notifications of the key."),
                ),
                ("used_at", models.DateTimeField(help_text="Within the hour; a key unused for a day is forgotten.")),
                ("look_at", models.DateTimeField(help_text="Time of the next check for lost wake-ups; empty without a waiting delivery.", null=True)),
            ],
            options={
                "db_table": "ordering_key",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(condition=models.Q(("look_at__isnull", False)), fields=["look_at"], name="ordering_key_look"),
                    models.Index(fields=["used_at"], name="ordering_key_used"),
                ],
                "constraints": [models.UniqueConstraint(fields=("producer_id", "mode", "key"), name="one_ordering_key")],
            },
        ),
        migrations.CreateModel(
            name="OrderedDelivery",
            fields=[
                ("id", _id()),
                ("key", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, to="notifications.orderingkey")),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("delivery_id", models.UUIDField(unique=True)),
                ("held_since", models.DateTimeField(help_text="Start of a hold for another reason than the ordering.", null=True)),
            ],
            options={"db_table": "ordered_delivery", "indexes": [models.Index(fields=["key", "channel", "id"], name="ordered_line")]},
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                ("id", _id()),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("provider", models.CharField(blank=True, help_text="Empty: every provider.", max_length=32)),
                (
                    "country",
                    models.CharField(
                        blank=True,
                        help_text="Country of the number, such as DE. Empty: every country.",
                        max_length=2,
                        validators=[RegexValidator("^[A-Z]{2}$", "Two capital letters, such as DE.")],
                    ),
                ),
                (
                    "micros",
                    models.BigIntegerField(
                        help_text="Millionths of a US dollar for each SMS segment or message: 7500 is $0.0075.",
                        validators=[MinValueValidator(0)],
                        verbose_name="microdollars",
                    ),
                ),
                ("valid_from", models.DateField(help_text="First UTC day of the price.")),
            ],
            options={
                "db_table": "price",
                "ordering": ("channel", "country", "provider", "-valid_from"),
                "constraints": [
                    models.UniqueConstraint(fields=("channel", "country", "provider", "valid_from"), name="one_price"),
                    models.CheckConstraint(condition=models.Q(("micros__gte", 0)), name="price_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="keys", to="notifications.producer")),
                ("prefix", models.CharField(help_text="The visible beginning: finds the key, is no secret.", max_length=24, unique=True)),
                ("digest", models.BinaryField(max_length=32)),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("scopes", ArrayField(base_field=models.CharField(max_length=64), size=None)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(blank=True, help_text="An operator, or a key.", max_length=150)),
                (
                    "replaces",
                    models.OneToOneField(
                        blank=True,
                        help_text="The key replaced by this key.",
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="replaced_by",
                        to="notifications.apikey",
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_by", models.CharField(blank=True, max_length=150)),
            ],
            options={"ordering": ("-created_at",)},
        ),
        migrations.CreateModel(
            name="Recipient",
            fields=[
                ("id", _id()),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("user_id", models.CharField(max_length=128)),
                ("locale", models.CharField(default="en", db_default="en", max_length=35)),
                ("timezone", models.CharField(blank=True, max_length=64)),
                (
                    "phone_timezone",
                    models.CharField(blank=True, editable=False, help_text="Timezone of the phone number; used without a given timezone.", max_length=64),
                ),
                ("attributes", models.JSONField(blank=True, db_default={}, default=dict, help_text="Values of the defined attributes, for audiences.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "indexes": [
                    GinIndex(fields=["attributes"], name="recipient_by_attribute", opclasses=("jsonb_path_ops",)),
                    models.Index(models.F("mode"), Coalesce(NullIf("timezone", models.Value("")), "phone_timezone"), models.F("id"), name="recipient_by_zone"),
                ],
                "constraints": [models.UniqueConstraint(fields=("mode", "user_id"), name="recipient_once_per_mode")],
            },
        ),
        migrations.CreateModel(
            name="Contact",
            fields=[
                ("id", _id()),
                ("recipient", models.ForeignKey(on_delete=models.CASCADE, related_name="contacts", to="notifications.recipient")),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("kind", models.CharField(blank=True, help_text="Which sort of address where a channel has several: fcm_token, apns_token ...", max_length=24)),
                ("address", models.CharField(max_length=2048)),
                ("is_primary", models.BooleanField(default=False, db_default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(blank=True, db_default="", help_text="An operator, or a producer's key.", max_length=150)),
                ("changed_at", models.DateTimeField(blank=True, null=True)),
                ("changed_by", models.CharField(blank=True, db_default="", max_length=150)),
                ("invalidated_at", models.DateTimeField(blank=True, null=True)),
                ("invalid_reason", models.CharField(blank=True, max_length=200)),
                (
                    "client_receipt_at",
                    models.DateTimeField(editable=False, help_text="Last client receipt of the app at this address, exact to a day.", null=True),
                ),
                (
                    "secret_version",
                    models.PositiveSmallIntegerField(db_default=1, default=1, editable=False, help_text="Webhook: number of the signing secret."),
                ),
                ("secret_changed_at", models.DateTimeField(editable=False, help_text="Webhook: the secret before signs for a week more.", null=True)),
                ("shared_secret_until", models.DateTimeField(editable=False, help_text="Webhook: till when NOTIFY_WEBHOOK_SECRETS sign as well.", null=True)),
            ],
            options={
                "permissions": (("see_addresses", "May see addresses"),),
                "indexes": [models.Index(Func("channel", "address", function="suppressible"), name="contact_by_key")],
                "constraints": [
                    models.UniqueConstraint(fields=("recipient", "channel", "address"), name="contact_once_per_recipient"),
                    models.UniqueConstraint(condition=models.Q(("is_primary", True)), fields=("recipient", "channel"), name="one_primary_contact_per_channel"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Preference",
            fields=[
                (
                    "recipient",
                    models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="preference", serialize=False, to="notifications.recipient"),
                ),
                ("channels_off", ArrayField(base_field=models.SmallIntegerField(choices=_CHANNELS), blank=True, default=list, db_default=[], size=None)),
                ("channel_order", ArrayField(base_field=models.SmallIntegerField(choices=_CHANNELS), blank=True, default=list, db_default=[], size=None)),
                ("categories_off", ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, db_default=[], size=None)),
                (
                    "categories_left",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        db_default=[],
                        default=list,
                        editable=False,
                        help_text="Switched off by the recipient. API keys cannot switch these categories on.",
                        size=None,
                    ),
                ),
                (
                    "topics_off",
                    models.JSONField(blank=True, db_default={}, default=dict, help_text="Channel -> categories and types that are off on this channel."),
                ),
                (
                    "channels_left",
                    ArrayField(
                        base_field=models.SmallIntegerField(choices=_CHANNELS),
                        blank=True,
                        db_default=[],
                        default=list,
                        editable=False,
                        help_text="Switched off by the recipient. API keys cannot switch these channels on.",
                        size=None,
                    ),
                ),
                (
                    "topics_left",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        editable=False,
                        help_text="Switched off by the recipient on a channel. API keys cannot switch these on.",
                    ),
                ),
                ("digests", models.JSONField(blank=True, db_default={}, default=dict, help_text="Category or type -> at_once, daily or weekly, for e-mail.")),
                ("quiet_hours", models.JSONField(blank=True, default=list, db_default=[])),
                ("do_not_disturb_until", models.DateTimeField(blank=True, help_text="In UTC. Before this time only P0 is sent.", null=True)),
                ("caps", models.JSONField(blank=True, default=dict, db_default={}, help_text="Channel -> cap, such as 3/day; other channels have the default cap.")),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="TokenSecret",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="token_secrets", to="notifications.producer")),
                ("key_id", models.CharField(help_text="The kid of the tokens; the start of the secret.", max_length=24, unique=True)),
                ("fingerprint", models.CharField(help_text="Start of the SHA-256 of the secret; finds the encryption key.", max_length=16)),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("scopes", ArrayField(base_field=models.CharField(max_length=32), help_text="Scopes that the secret may give to a token.", size=None)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(blank=True, max_length=150)),
                (
                    "replaces",
                    models.OneToOneField(
                        blank=True,
                        help_text="The secret replaced by this secret.",
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="replaced_by",
                        to="notifications.tokensecret",
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_by", models.CharField(blank=True, max_length=150)),
            ],
            options={"db_table": "token_secret", "ordering": ("-created_at",)},
        ),
        migrations.CreateModel(
            name="TokenRevocation",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("revoked_before", models.DateTimeField(help_text="Tokens issued later are valid.")),
                ("noted_at", models.DateTimeField(help_text="Time of the write; processes read new rows by it.")),
            ],
            options={"db_table": "token_revocation", "indexes": [models.Index(fields=["noted_at"], name="token_revocation_noted")]},
        ),
        migrations.CreateModel(
            name="RetryPreset",
            fields=[
                ("name", models.SlugField(max_length=16, primary_key=True, serialize=False)),
                (
                    "base_seconds",
                    models.FloatField(
                        help_text="Delay of the first retry, before the jitter.", validators=[MinValueValidator(0.1), MaxValueValidator(86400.0)]
                    ),
                ),
                ("multiplier", models.FloatField(help_text="Factor between two consecutive delays.", validators=[MinValueValidator(1), MaxValueValidator(10)])),
                (
                    "cap_seconds",
                    models.FloatField(
                        help_text="No delay is longer, jitter included. A provider's own Retry-After can be.",
                        validators=[MinValueValidator(0.1), MaxValueValidator(86400.0)],
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(
                        help_text="Provider calls in all, the first included. A throttled call, a failed probe and a call that did not begin do not count.",
                        validators=[MinValueValidator(1), MaxValueValidator(200)],
                    ),
                ),
                (
                    "jitter",
                    models.CharField(
                        choices=[
                            ("none", "none: the delay"),
                            ("third", "third: the delay + 0 to 30 %"),
                            ("double", "double: the delay + 0 to 100 %"),
                            ("second", "second: the delay + 0 to 1 s"),
                            ("full", "full: 0 to the delay"),
                        ],
                        max_length=8,
                    ),
                ),
                ("drops", models.BooleanField(default=False, db_default=False, help_text="When every attempt failed, give up without a dead letter.")),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="RollupSeries",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("dimension_set", models.SmallIntegerField()),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("producer_id", models.BigIntegerField(help_text="0: producers beyond the limit of a day.")),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("provider", models.CharField(blank=True, max_length=32)),
                ("priority", models.SmallIntegerField()),
                ("type", models.CharField(blank=True, max_length=64)),
                ("template", models.CharField(blank=True, max_length=64)),
                ("version", models.PositiveIntegerField(default=0, db_default=0)),
                ("country", models.CharField(blank=True, max_length=2)),
                ("reason", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "db_table": "rollup_series",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dimension_set", "mode", "producer_id", "channel", "type", "template", "version", "provider", "priority", "country", "reason"),
                        name="rollup_series_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RollupValue",
            fields=[
                ("pk", models.CompositePrimaryKey("day", "dimension", "value", blank=True, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("dimension", models.CharField(max_length=16)),
                ("value", models.CharField(max_length=64)),
                (
                    "producer_id",
                    models.BigIntegerField(db_default=0, default=0, help_text="The first producer of the type or template; 0: unknown, or a producer."),
                ),
            ],
            options={"db_table": "rollup_value"},
        ),
        migrations.CreateModel(
            name="RollupPosition",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("cluster", models.BigIntegerField(help_text="Identity of the database cluster of `xid`.")),
                ("xid", models.BigIntegerField()),
                (
                    "series_checked",
                    models.IntegerField(db_default=0, default=0, help_text="Housekeeping has looked at the series up to this id; 0: it begins again."),
                ),
            ],
            options={"db_table": "rollup_position"},
        ),
        migrations.CreateModel(
            name="ProviderRoute",
            fields=[
                ("id", _id()),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                (
                    "region",
                    models.CharField(
                        blank=True,
                        help_text="SMS only: prefix of the numbers, such as +49; the longest match decides. Empty: numbers which match no other region.",
                        max_length=8,
                        validators=[RegexValidator("^\\+[1-9][0-9]{0,6}$", "Write the beginning of a number, like +49.")],
                    ),
                ),
                (
                    "platform",
                    models.CharField(
                        blank=True,
                        help_text="Kind of address, such as apns_token. Rows with the kind precede rows without a kind. Empty: every kind supported by the provider.",
                        max_length=24,
                    ),
                ),
                ("provider", models.CharField(max_length=32)),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        default=0, db_default=0, help_text="Rank 0 is first; a higher rank gets deliveries which lower ranks cannot send.", validators=[MaxValueValidator(9)]
                    ),
                ),
                (
                    "weight",
                    models.PositiveSmallIntegerField(
                        default=1, db_default=1,
                        help_text="Share among the rows of the rank: weights 3 and 1 give 75 % and 25 %.",
                        validators=[MinValueValidator(1), MaxValueValidator(1000)],
                    ),
                ),
                ("is_enabled", models.BooleanField(default=True, db_default=True, verbose_name="enabled")),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "provider route",
                "ordering": ("channel", "-region", "-platform", "rank", "provider"),
                "permissions": (("hold_provider", "May hold a provider"),),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("channel", "region", "platform", "provider"),
                        name="route_once",
                        violation_error_message="There is a row for this provider in this place already.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("region", ""), models.Q(("channel", 2), ("region__regex", "^\\+[1-9][0-9]{0,6}$")), _connector="OR"),
                        name="route_region_of_numbers",
                        violation_error_message="Only SMS has regions, and they begin like numbers.",
                    ),
                    models.CheckConstraint(condition=models.Q(("weight__gte", 1)), name="route_weight_of_one_or_more"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="schedules", to="notifications.producer")),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("name", models.CharField(max_length=100)),
                ("rrule", models.CharField(max_length=300)),
                ("timezone", models.CharField(blank=True, help_text="Empty: the recipient's timezone at each occurrence.", max_length=64)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(blank=True, null=True)),
                ("paused", models.BooleanField(default=False, db_default=False)),
                ("request", models.JSONField(help_text="The notification as requested by the producer.")),
                ("secrets", models.BinaryField(help_text="Encrypted values of variables declared sensitive later.", null=True)),
                (
                    "sealed_names",
                    ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, db_default=[], default=list, help_text="The variables in secrets.", size=None
                    ),
                ),
                ("next_local", models.CharField(blank=True, help_text="Local time in the schedule's timezone.", max_length=19)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("problem", models.CharField(blank=True, help_text="The error which prevents the next occurrence.", max_length=300)),
                ("retry_at", models.DateTimeField(blank=True, help_text="When a schedule with a problem is tried again.", null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="schedule_due")],
                "constraints": [models.UniqueConstraint(fields=("producer", "mode", "name"), name="one_schedule")],
            },
        ),
        migrations.CreateModel(
            name="Occurrence",
            fields=[
                ("id", _id()),
                ("schedule", models.ForeignKey(on_delete=models.CASCADE, related_name="occurrences", to="notifications.schedule")),
                ("local_at", models.CharField(max_length=19)),
                ("at", models.DateTimeField()),
                ("notification_id", models.UUIDField(null=True)),
                ("problem", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ("-at",),
                "indexes": [models.Index(fields=["at"], name="occurrence_by_age")],
                "constraints": [models.UniqueConstraint(fields=("schedule", "local_at"), name="occurs_once")],
            },
        ),
        migrations.CreateModel(
            name="SealingJob",
            fields=[
                ("id", _id()),
                ("template_id", models.CharField(max_length=64)),
                ("version", models.PositiveIntegerField()),
                ("names", ArrayField(base_field=models.CharField(max_length=64), size=None)),
                ("created_at", models.DateTimeField()),
                ("position", models.UUIDField(help_text="The last examined notification.", null=True)),
                ("schedules", models.IntegerField(default=0, db_default=0, help_text="Schedules sealed so far.")),
                ("notifications", models.IntegerField(default=0, db_default=0, help_text="Notifications sealed so far.")),
                ("dead_letters", models.IntegerField(default=0, db_default=0, help_text="Dead letters sealed so far.")),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={"ordering": ("-id",), "indexes": [models.Index(condition=models.Q(("finished_at", None)), fields=["id"], name="sealing_job_unfinished")]},
        ),
        migrations.CreateModel(
            name="Series",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="series", to="notifications.producer")),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("name", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "draft"), ("active", "active"), ("paused", "paused"), ("archived", "archived")], default="draft", db_default="draft", max_length=8
                    ),
                ),
                ("state_changed_at", models.DateTimeField(blank=True, null=True)),
                ("state_changed_by", models.CharField(blank=True, max_length=150)),
                ("trigger_event", models.CharField(blank=True, help_text="Event that enrols, from the current version.", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name_plural": "series",
                "db_table": "series",
                "ordering": ("-id",),
                "indexes": [models.Index(condition=models.Q(("trigger_event", ""), _negated=True), fields=["trigger_event"], name="series_by_trigger")],
                "constraints": [models.UniqueConstraint(fields=("producer", "mode", "name"), name="one_series")],
            },
        ),
        migrations.CreateModel(
            name="SeriesVersion",
            fields=[
                ("id", _id()),
                ("series", models.ForeignKey(on_delete=models.CASCADE, related_name="versions", to="notifications.series")),
                ("number", models.PositiveIntegerField()),
                ("definition", models.JSONField(help_text="Trigger, goal and steps.")),
                (
                    "listens",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        default=list, db_default=[],
                        help_text="Events of the goal and of waits, which make enrolments due.",
                        size=None,
                    ),
                ),
                ("published_at", models.DateTimeField(blank=True, help_text="Empty: a draft.", null=True)),
                ("published_by", models.CharField(blank=True, max_length=150)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "db_table": "series_version",
                "ordering": ("-number",),
                "constraints": [
                    models.UniqueConstraint(fields=("series", "number"), name="one_series_version"),
                    models.UniqueConstraint(condition=models.Q(("published_at", None)), fields=("series",), name="one_series_draft"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeriesEnrolment",
            fields=[
                ("id", _id()),
                ("series", models.ForeignKey(on_delete=models.CASCADE, related_name="enrolments", to="notifications.series")),
                ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="notifications.seriesversion")),
                ("recipient", models.ForeignKey(on_delete=models.CASCADE, related_name="series_enrolments", to="notifications.recipient")),
                ("user_id", models.CharField(max_length=128)),
                ("number", models.PositiveIntegerField(help_text="First, second ... enrolment of the recipient.")),
                ("state", models.CharField(choices=[("running", "running"), ("finished", "finished"), ("exited", "exited")], default="running", db_default="running", max_length=8)),
                (
                    "exit_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("goal", "goal"),
                            ("unsubscribed", "unsubscribed"),
                            ("requested", "requested"),
                            ("archived", "archived"),
                            ("step", "step"),
                            ("rejected", "rejected"),
                        ],
                        max_length=12,
                    ),
                ),
                ("position", models.CharField(blank=True, help_text="JSON pointer of the step; empty: after the last.", max_length=200)),
                ("arrived_at", models.DateTimeField(help_text="Arrival at the step.")),
                ("due_at", models.DateTimeField(help_text="The sweep continues at this time.", null=True)),
                ("context", models.JSONField(default=dict, db_default={}, help_text="Variables of the messages.")),
                ("counts_from", models.DateTimeField(help_text="Events stored from this time on count.")),
                ("after_event", models.BigIntegerField(default=0, db_default=0, help_text="The custom event that enrolled the recipient, which does not count.")),
                ("results", models.PositiveIntegerField(default=0, db_default=0, help_text="Number of rows in the history.")),
                ("problem", models.CharField(blank=True, help_text="Why the step is delayed.", max_length=300)),
                ("enrolled_at", models.DateTimeField()),
                ("enrolled_by", models.CharField(blank=True, max_length=150)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "series_enrolment",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["series", "due_at"], name="enrolment_due"),
                    models.Index(fields=["series", "state", "version", "position", "exit_reason"], name="enrolment_figures"),
                    models.Index(condition=models.Q(("problem", ""), _negated=True), fields=["series", "-id"], name="enrolment_delayed"),
                    models.Index(condition=models.Q(("ended_at__isnull", False), ("results__gt", 0)), fields=["ended_at"], name="enrolment_to_forget"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("series", "recipient", "number"), name="one_enrolment_number"),
                    models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=("series", "recipient"), name="one_running_enrolment"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("due_at__isnull", False), ("ended_at", None)), models.Q(("due_at", None), ("ended_at__isnull", False)), _connector="OR"
                        ),
                        name="running_enrolment_is_due",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeriesStepResult",
            fields=[
                ("id", _id()),
                ("enrolment", models.ForeignKey(on_delete=models.CASCADE, related_name="history", to="notifications.seriesenrolment")),
                ("number", models.PositiveIntegerField()),
                ("position", models.CharField(blank=True, max_length=200)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("sent", "sent"),
                            ("rejected", "rejected"),
                            ("waited", "waited"),
                            ("event", "event"),
                            ("then", "then"),
                            ("else", "else"),
                            ("exited", "exited"),
                        ],
                        max_length=8,
                    ),
                ),
                ("notification_id", models.UUIDField(null=True)),
                ("detail", models.CharField(blank=True, max_length=300)),
                ("at", models.DateTimeField()),
            ],
            options={
                "db_table": "series_step_result",
                "ordering": ("number",),
                "indexes": [models.Index(condition=models.Q(("outcome", "rejected")), fields=["-id"], name="step_rejected")],
                "constraints": [models.UniqueConstraint(fields=("enrolment", "number"), name="one_step_result")],
            },
        ),
        migrations.CreateModel(
            name="CustomEvent",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="notifications.producer")),
                ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                ("recipient", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="notifications.recipient")),
                ("user_id", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=64)),
                ("properties", models.JSONField(default=dict, db_default={})),
                ("occurred_at", models.DateTimeField(help_text="As the producer says.")),
                ("received_at", models.DateTimeField()),
                ("idempotency_key", models.CharField(blank=True, max_length=255, null=True)),
                ("handled", models.BooleanField(default=False, db_default=False)),
                ("due_at", models.DateTimeField(help_text="Next try after an exception; null: the row is due at once.", null=True)),
            ],
            options={
                "db_table": "custom_event",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["recipient", "name", "received_at"], name="custom_event_found"),
                    models.Index(condition=models.Q(("handled", False)), fields=["id"], name="custom_event_unhandled"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("idempotency_key__isnull", False)), fields=("producer", "mode", "idempotency_key"), name="one_custom_event"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ShortLink",
            fields=[
                ("token", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("delivery_id", models.UUIDField()),
                ("target", models.TextField()),
                ("clicks", models.PositiveIntegerField(default=0, db_default=0)),
                ("first_clicked_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "db_table": "short_link",
                "indexes": [models.Index(fields=["expires_at"], name="short_link_expiry"), models.Index(fields=["delivery_id"], name="short_link_delivery")],
            },
        ),
        migrations.CreateModel(
            name="SignIn",
            fields=[
                ("id", _id()),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="sign_ins", to=settings.AUTH_USER_MODEL)),
                ("session_key", models.CharField(editable=False, max_length=40, unique=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("seen_at", models.DateTimeField(auto_now_add=True, help_text="Last used, to the minute.")),
                ("address", models.GenericIPAddressField(blank=True, null=True)),
                ("agent", models.CharField(blank=True, help_text="User-Agent header of the browser.", max_length=200)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
            ],
            options={"verbose_name": "session", "ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="ExternalIdentity",
            fields=[
                ("id", _id()),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="identities", to=settings.AUTH_USER_MODEL)),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "external identities",
                "constraints": [models.UniqueConstraint(fields=("issuer", "subject"), name="one_account_per_identity")],
            },
        ),
        migrations.CreateModel(
            name="SmsLimits",
            fields=[
                ("id", models.SmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                (
                    "address_limit",
                    models.PositiveIntegerField(
                        default=10, db_default=10,
                        help_text="Further P0 and P1 SMS to the number get 429.",
                        validators=[MinValueValidator(1)],
                        verbose_name="SMS to a number in 10 minutes",
                    ),
                ),
                (
                    "prefix_floor",
                    models.PositiveIntegerField(
                        default=50, db_default=50,
                        help_text="So many SMS to numbers with the same first seven digits are never refused.",
                        validators=[MinValueValidator(1)],
                        verbose_name="SMS to a prefix in 10 minutes",
                    ),
                ),
                (
                    "country_floor",
                    models.PositiveIntegerField(
                        default=100, db_default=100,
                        help_text="So many SMS to a country are never refused.",
                        validators=[MinValueValidator(1)],
                        verbose_name="SMS to a country in an hour",
                    ),
                ),
                (
                    "growth_percent",
                    models.PositiveIntegerField(
                        default=300, db_default=300,
                        help_text="Percentage of the usual traffic of the last four weeks above which SMS are refused.",
                        validators=[MinValueValidator(100), MaxValueValidator(100000)],
                    ),
                ),
                (
                    "is_enforced",
                    models.BooleanField(default=True, db_default=True, help_text="Off: SMS above a ceiling are sent, and alerts are raised.", verbose_name="enforced"),
                ),
            ],
            options={
                "verbose_name": "SMS limits",
                "verbose_name_plural": "SMS limits",
                "db_table": "sms_limits",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_sms_limits")],
            },
        ),
        migrations.CreateModel(
            name="SmsOverride",
            fields=[
                ("id", _id()),
                ("ceiling", models.CharField(choices=[("address", "address"), ("prefix", "prefix"), ("country", "country")], default="prefix", db_default="prefix", max_length=16)),
                (
                    "value",
                    models.CharField(
                        help_text="A number in digits (address), the first one to seven digits of numbers (prefix), or a country such as DE; ?? is the unknown country.",
                        max_length=15,
                        validators=[RegexValidator("^(\\d{1,15}|[A-Z]{2}|\\?\\?)$", "Write digits or a country.")],
                    ),
                ),
                (
                    "limit",
                    models.PositiveIntegerField(
                        blank=True, help_text="P0 and P1 SMS in 10 minutes, or in an hour for a country. Empty: no ceiling. 0: every SMS is refused.", null=True
                    ),
                ),
                ("ends_at", models.DateTimeField(blank=True, help_text="End of the override; empty: no end.", null=True)),
                ("reason", models.CharField(help_text="For the audit log.", max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "SMS override",
                "db_table": "sms_override",
                "ordering": ("-created_at",),
                "constraints": [models.UniqueConstraint(fields=("ceiling", "value"), name="one_sms_override")],
            },
        ),
        migrations.CreateModel(
            name="SmsTraffic",
            fields=[
                ("id", _id()),
                ("day", models.DateField()),
                ("ceiling", models.CharField(max_length=16)),
                ("producer_id", models.BigIntegerField(default=0, db_default=0, help_text="0: all producers.")),
                ("name", models.CharField(help_text="A prefix, a country, or * for all countries.", max_length=15)),
                ("peak", models.BigIntegerField(help_text="Most SMS in 10 minutes, or in an hour to a country.")),
                ("total", models.BigIntegerField()),
            ],
            options={
                "db_table": "sms_traffic",
                "constraints": [models.UniqueConstraint(fields=("day", "ceiling", "producer_id", "name"), name="one_sms_traffic")],
            },
        ),
        migrations.CreateModel(
            name="SmsTrafficPosition",
            fields=[
                ("ceiling", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("interval", models.BigIntegerField(help_text="Number of the interval since 1970.")),
            ],
            options={"db_table": "sms_traffic_position"},
        ),
        migrations.CreateModel(
            name="Suppression",
            fields=[
                ("id", _id()),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("address", models.CharField(max_length=2048)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("bounce", "bounce"),
                            ("complaint", "complaint"),
                            ("stop_keyword", "stop keyword"),
                            ("unsubscribe_all", "unsubscribe all"),
                            ("manual", "manual"),
                            ("import", "import"),
                        ],
                        max_length=16,
                    ),
                ),
                ("provider", models.CharField(blank=True, help_text="Provider which reported the address.", max_length=32)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=128)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("undone_by", models.CharField(blank=True, max_length=128)),
                ("undo_note", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["address"], name="suppression_by_address")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)), fields=("channel", "address", "reason"), name="one_active_suppression"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Switch",
            fields=[
                ("id", _id()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("producer", "producer"),
                            ("type", "type"),
                            ("template", "template"),
                            ("bulk_job", "bulk_job"),
                            ("channel", "channel"),
                            ("provider", "provider"),
                            ("lane", "lane"),
                        ],
                        help_text="What the switch holds.",
                        max_length=16,
                    ),
                ),
                ("value", models.CharField(help_text="Name of the producer, type, template, channel, provider or lane, or id of the bulk job.", max_length=64)),
                (
                    "channel",
                    models.SmallIntegerField(blank=True, choices=_CHANNELS, help_text="Only for a provider. Empty: every channel of the provider.", null=True),
                ),
                ("producer", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="switches", to="notifications.producer")),
                ("reason", models.CharField(help_text="Why. Operators read the reason on every held delivery.", max_length=200)),
                ("set_by", models.CharField(max_length=150)),
                ("set_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, help_text="The pause ends by itself. Empty: until an operator resumes.", null=True)),
                ("resumed_at", models.DateTimeField(blank=True, null=True)),
                ("resumed_by", models.CharField(blank=True, max_length=150)),
                ("released_at", models.DateTimeField(blank=True, help_text="Every delivery that the switch held was released.", null=True)),
            ],
            options={
                "verbose_name_plural": "switches",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(condition=models.Q(("released_at__isnull", True), ("resumed_at__isnull", False)), fields=["id"], name="switch_to_release")
                ],
            },
        ),
        migrations.CreateModel(
            name="Template",
            fields=[
                ("id", _id()),
                ("template_id", models.SlugField(help_text="Name of the template in requests.", max_length=64)),
                ("version", models.PositiveIntegerField(default=1, db_default=1)),
                ("published_at", models.DateTimeField(blank=True, help_text="The highest published version is the current one.", null=True)),
                (
                    "sensitive_variables",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        default=list, db_default=[],
                        help_text="Names of variables that are encrypted, masked and wiped (an OTP).",
                        size=None,
                    ),
                ),
                (
                    "no_longer_sensitive",
                    ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Names declared sensitive in the previous version only.",
                        size=None,
                    ),
                ),
                ("variables", models.JSONField(blank=True, default=list, db_default=[], help_text="Declared variables: name, type, required, example.")),
                ("default_locale", models.CharField(default="en", db_default="en", help_text="Locale for recipients whose language has no text.", max_length=35)),
                (
                    "fallback_on",
                    models.CharField(
                        blank=True,
                        choices=[("", "as the notification type"), ("failure", "failure"), ("unconfirmed", "failure, or no receipt")],
                        db_default="",
                        default="",
                        help_text="Condition for the next channel of a fallback chain.",
                        max_length=16,
                    ),
                ),
                (
                    "confirm_seconds",
                    models.PositiveSmallIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Seconds to wait for a receipt before the next channel of a fallback chain. 0: as the notification type.",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_by", models.CharField(blank=True, help_text="An operator, an API key's prefix, or `files`.", max_length=150)),
                ("published_by", models.CharField(blank=True, max_length=150)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ("template_id", "-version"),
                "permissions": (("publish_template", "May publish templates"),),
                "constraints": [models.UniqueConstraint(fields=("template_id", "version"), name="template_version_once")],
            },
        ),
        migrations.CreateModel(
            name="TemplateText",
            fields=[
                ("id", _id()),
                ("template", models.ForeignKey(on_delete=models.CASCADE, related_name="texts", to="notifications.template")),
                ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                ("locale", models.CharField(default="en", db_default="en", max_length=35)),
                ("title", models.TextField(blank=True, help_text="Title or subject.")),
                ("body", models.TextField(blank=True, help_text="Empty for e-mail: derived from the HTML.")),
                ("html", models.TextField(blank=True, help_text="HTML part of an e-mail.")),
                ("transliterate", models.BooleanField(default=False, db_default=False, help_text="SMS: replace characters outside GSM-7 where possible.")),
                (
                    "max_segments",
                    models.PositiveSmallIntegerField(blank=True, help_text="SMS: a text whose example needs more segments cannot be published. Empty: one.", null=True),
                ),
                ("shorten_links", models.BooleanField(default=False, db_default=False, help_text="SMS: replace links by short links with click counts.")),
                (
                    "in_app",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        help_text='In-app: {"url": ..., "image_url": ..., "actions": [{"id", "label", "url"}]}. The template editor has a field for each.',
                    ),
                ),
            ],
            options={
                "ordering": ("channel", "locale"),
                "constraints": [models.UniqueConstraint(fields=("template", "channel", "locale"), name="template_text_once")],
            },
        ),
        migrations.CreateModel(
            name="TemplateEvent",
            fields=[
                ("id", _id()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("template_id", models.SlugField(max_length=64)),
                ("version", models.PositiveIntegerField()),
                (
                    "verb",
                    models.CharField(
                        choices=[
                            ("drafted", "Drafted"),
                            ("edited", "Edited"),
                            ("published", "Published"),
                            ("rolled back", "Rolled Back"),
                            ("deleted", "Deleted"),
                            ("sealed", "Sealed"),
                        ],
                        max_length=16,
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("detail", models.CharField(blank=True, max_length=200)),
            ],
            options={"ordering": ("-id",)},
        ),
        migrations.CreateModel(
            name="TopicText",
            fields=[
                ("id", _id()),
                ("topic", models.CharField(help_text="A category or a notification type, as in the type's settings.", max_length=64)),
                ("locale", models.CharField(help_text="BCP 47, such as de or pt-BR.", max_length=35)),
                ("name", models.CharField(help_text="As recipients read it: Order updates.", max_length=100)),
                ("description", models.CharField(blank=True, help_text="One sentence: which messages these are.", max_length=300)),
            ],
            options={
                "verbose_name": "topic text",
                "ordering": ("topic", "locale"),
                "constraints": [models.UniqueConstraint(fields=("topic", "locale"), name="topic_text_once_per_locale")],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                ("id", _id()),
                ("producer", models.ForeignKey(on_delete=models.CASCADE, related_name="webhooks", to="notifications.producer")),
                ("mode", models.SmallIntegerField(choices=_MODES)),
                ("url", models.CharField(blank=True, help_text="Empty: the webhook_url of each request.", max_length=2048)),
                (
                    "events",
                    ArrayField(
                        base_field=models.CharField(max_length=32),
                        blank=True,
                        default=list, db_default=[],
                        help_text="Event types, such as notification.failed. Empty: all.",
                        size=None,
                    ),
                ),
                (
                    "preset",
                    models.CharField(
                        choices=[("standard", "standard"), ("brief", "brief")],
                        default="standard", db_default="standard",
                        help_text="standard: retries for about 24 hours. brief: three retries within 7 seconds.",
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "active"), ("paused", "paused"), ("disabled", "disabled")],
                        default="active", db_default="active",
                        help_text="active: messages leave. paused: messages wait. disabled: none are made.",
                        max_length=8,
                    ),
                ),
                ("state_reason", models.CharField(blank=True, max_length=200)),
                ("state_since", models.DateTimeField(blank=True, null=True)),
                ("failures", models.PositiveIntegerField(default=0, db_default=0, help_text="Failed calls since the last successful call.")),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("secret_version", models.PositiveSmallIntegerField(default=1, db_default=1)),
                ("previous_secret_until", models.DateTimeField(blank=True, help_text="Until then the previous secret signs as well.", null=True)),
                ("replay_since", models.DateTimeField(blank=True, help_text="Start of the replay that runs; empty without a replay.", null=True)),
                ("replay_xid", models.BigIntegerField(default=0, db_default=0, help_text="Position of the replay.")),
                ("replay_seq", models.BigIntegerField(default=0, db_default=0)),
                ("replay_end", models.BigIntegerField(default=0, db_default=0, help_text="Transaction at which the replay ends: later changes come anyway.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "webhook_endpoint",
                "ordering": ("producer", "mode", "id"),
                "constraints": [models.UniqueConstraint(condition=models.Q(("url", "")), fields=("producer", "mode"), name="webhook_endpoint_of_requests")],
            },
        ),
        migrations.CreateModel(
            name="WebhookMessage",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("endpoint_id", models.BigIntegerField()),
                ("url", models.CharField(blank=True, help_text="Empty: the endpoint's URL.", max_length=2048)),
                ("type", models.CharField(max_length=32)),
                ("notification_id", models.UUIDField(null=True)),
                ("delivery_id", models.UUIDField(null=True)),
                ("contact_id", models.BigIntegerField(help_text="The contact of contact.invalidated; empty in other messages.", null=True)),
                ("bulk_job_id", models.UUIDField(help_text="The job of bulk_job.*; empty in other messages.", null=True)),
                ("status", models.SmallIntegerField(choices=_STATUSES, null=True)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("occurred_at", models.DateTimeField()),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed")], default="waiting", db_default="waiting", max_length=8)),
                ("due_at", models.DateTimeField(null=True)),
                ("claim_token", models.UUIDField(null=True)),
                ("attempts", models.SmallIntegerField(default=0, db_default=0, help_text="Calls of the current budget.")),
                ("calls", models.SmallIntegerField(default=0, db_default=0, help_text="Calls ever.")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "db_table": "webhook_message",
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["endpoint_id", "due_at"], name="webhook_message_due"),
                    models.Index(condition=models.Q(("claim_token__isnull", False)), fields=["endpoint_id"], name="webhook_message_in_flight"),
                    models.Index(fields=["created_at"], name="webhook_message_age"),
                    models.Index(condition=models.Q(("contact_id__isnull", False)), fields=["contact_id"], name="webhook_message_of_contact"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookAttempt",
            fields=[
                ("id", _id()),
                ("message_id", models.UUIDField()),
                ("number", models.SmallIntegerField()),
                ("endpoint_id", models.BigIntegerField()),
                ("started_at", models.DateTimeField()),
                ("latency_ms", models.IntegerField()),
                ("http_status", models.SmallIntegerField(help_text="Empty without an HTTP answer.", null=True)),
                ("error", models.CharField(blank=True, help_text="Why no answer came, such as timeout.", max_length=64)),
                ("response", models.CharField(blank=True, help_text="Beginning of the answer's body.", max_length=200)),
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
            name="WebhookPosition",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("xid", models.BigIntegerField()),
                ("seq", models.BigIntegerField(default=0, db_default=0)),
            ],
            options={"db_table": "webhook_position"},
        ),
        migrations.CreateModel(
            name="Withdrawal",
            fields=[
                ("delivery_id", models.UUIDField(primary_key=True, serialize=False)),
                ("due_at", models.DateTimeField(help_text="Time of the next try; a claim moves the time.")),
                ("ends_at", models.DateTimeField(help_text="End of the tries.")),
                ("failures", models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Failed provider calls.")),
                ("slot_at", models.DateTimeField(help_text="Reserved send time in the provider's bucket.", null=True)),
            ],
            options={"db_table": "withdrawal", "indexes": [models.Index(fields=["due_at"], name="withdrawal_due")]},
        ),
        migrations.CreateModel(
            name="HoldCheck",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("changed_at", models.DateTimeField(db_default=Now())),
                ("due_at", models.DateTimeField(db_default=Now(), help_text="Time of the next check.")),
                ("checked_to", models.UUIDField(help_text="Last delivery of a check that goes on in the next run.", null=True)),
            ],
            options={"db_table": "hold_check", "indexes": [models.Index(fields=["due_at"], name="hold_check_due")]},
        ),
        migrations.AddField(
            model_name="series",
            name="current",
            field=models.ForeignKey(
                blank=True, help_text="The version of new enrolments.", null=True, on_delete=models.PROTECT, related_name="+", to="notifications.seriesversion"
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[_sql("partitioned_tables.sql")],
            state_operations=[
                migrations.CreateModel(
                    name="Notification",
                    fields=[
                        ("id", models.UUIDField(primary_key=True, serialize=False)),
                        ("producer_id", models.BigIntegerField()),
                        ("mode", models.SmallIntegerField(choices=_MODES, default=1, db_default=1)),
                        ("priority", models.SmallIntegerField(choices=_PRIORITIES)),
                        ("type", models.CharField(max_length=64)),
                        ("category", models.CharField(blank=True, max_length=64)),
                        ("retry_preset", models.CharField(blank=True, max_length=16)),
                        ("recipient_id", models.BigIntegerField()),
                        ("user_id", models.CharField(max_length=128)),
                        ("template", models.BigIntegerField(help_text="The pinned template version's row.", null=True)),
                        ("content", models.JSONField(help_text="Raw title, body, html instead of a template.", null=True)),
                        ("variables", models.JSONField(default=dict, db_default={})),
                        ("secrets", models.BinaryField(help_text="Sensitive variables, encrypted; then wiped.", null=True)),
                        ("metadata", models.JSONField(default=dict, db_default={})),
                        ("inbox", models.JSONField(help_text="For the in-app message: expires_in, in seconds, and data.", null=True)),
                        ("collapse_key", models.CharField(blank=True, max_length=64)),
                        ("ordering_key", models.CharField(blank=True, db_default="", max_length=255)),
                        ("webhook_url", models.CharField(blank=True, db_default="", help_text="Learns of status changes.", max_length=2048)),
                        ("channels", ArrayField(base_field=models.SmallIntegerField(choices=_CHANNELS), default=list, db_default=[], size=None)),
                        ("spread", models.CharField(max_length=8)),
                        ("falls_back", models.BooleanField(db_default=False, default=False, help_text="The request has a fallback chain.")),
                        ("idempotency_key", models.CharField(blank=True, max_length=255)),
                        ("traceparent", models.CharField(blank=True, max_length=55)),
                        ("scheduled_at", models.DateTimeField(null=True)),
                        ("local_at", models.CharField(blank=True, db_default="", help_text="On the recipient's wall clock.", max_length=16)),
                        ("local_zone", models.CharField(blank=True, db_default="", help_text="Timezone of send_at_local, resolved at accept.", max_length=64)),
                        ("expires_at", models.DateTimeField()),
                        ("cancelled_at", models.DateTimeField(null=True)),
                        ("bulk_job_id", models.UUIDField(help_text="The bulk job that made the notification.", null=True)),
                        ("variant", models.CharField(blank=True, db_default="", help_text="A/B variant of the bulk job.", max_length=32)),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "notification",
                        "permissions": (("cancel_notification", "May cancel notifications"), ("export_list", "May export lists as CSV files")),
                        "indexes": [
                            models.Index(fields=["recipient_id", "-id"], name="notification_by_recipient"),
                            models.Index(condition=models.Q(("secrets__isnull", False)), fields=["expires_at"], name="notification_with_secrets"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Delivery",
                    fields=[
                        ("id", models.UUIDField(primary_key=True, serialize=False)),
                        ("mode", models.SmallIntegerField(choices=_MODES)),
                        ("priority", models.SmallIntegerField(choices=_PRIORITIES)),
                        ("channel", models.SmallIntegerField(choices=_CHANNELS)),
                        ("status", models.SmallIntegerField(choices=_STATUSES)),
                        ("due_at", models.DateTimeField(null=True)),
                        ("reason", models.CharField(blank=True, help_text="Reason of the status.", max_length=64)),
                        ("recipient_id", models.BigIntegerField()),
                        ("contact_id", models.BigIntegerField(help_text="None until a schedule is released.", null=True)),
                        ("provider", models.CharField(blank=True, max_length=32)),
                        ("provider_message_id", models.CharField(blank=True, max_length=255)),
                        ("publishes", models.SmallIntegerField(default=0, db_default=0, help_text="Number of publications of the id to the broker.")),
                        ("published_at", models.DateTimeField(null=True)),
                        ("claims", models.SmallIntegerField(default=0, db_default=0, help_text="Consecutive claims without a result.")),
                        ("claim_token", models.UUIDField(null=True)),
                        ("call_started_at", models.DateTimeField(null=True)),
                        ("attempts", models.SmallIntegerField(default=0, db_default=0, help_text="Provider calls ever.")),
                        (
                            "attempts_before",
                            models.SmallIntegerField(default=0, db_default=0, help_text="Calls before the last replay, outside the replay's attempt budget."),
                        ),
                        ("resent", models.BooleanField(default=False, db_default=False, help_text="Resent once after an unanswered call.")),
                        ("generation", models.SmallIntegerField(default=0, db_default=0, help_text="Part of the provider's key; raised by a replay after a rejection.")),
                        ("slot_provider", models.CharField(blank=True, db_default="", max_length=32)),
                        ("slot_at", models.DateTimeField(help_text="Reserved send time in the provider's bucket; the next call uses the slot.", null=True)),
                        ("switch_id", models.BigIntegerField(help_text="The switch of the last hold by a switch.", null=True)),
                        ("budget_id", models.BigIntegerField(help_text="The budget of the last hold by a budget.", null=True)),
                        (
                            "falls_back",
                            models.BooleanField(db_default=False, default=False, help_text="Member of a fallback chain: the next channel follows a failure."),
                        ),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("delivered_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "verbose_name_plural": "deliveries",
                        "db_table": "delivery",
                        "indexes": [
                            models.Index(
                                condition=models.Q(("due_at__isnull", False)), fields=["status", "mode", "priority", "channel", "due_at"], name="delivery_due"
                            ),
                            models.Index(
                                condition=models.Q(("provider_message_id", ""), _negated=True), fields=["provider_message_id"], name="delivery_by_provider_id"
                            ),
                            models.Index(
                                condition=models.Q(("reason__in", ["paused", "channel_paused"])),
                                fields=["switch_id", "priority", "due_at"],
                                name="delivery_switched",
                            ),
                            models.Index(condition=models.Q(("reason", "budget")), fields=["budget_id", "priority", "due_at"], name="delivery_budget"),
                            models.Index(
                                condition=models.Q(("reason__in", ["do_not_disturb", "quiet_hours", "producers_night", "cap", "digest"])),
                                fields=["recipient_id", "id"],
                                name="delivery_held",
                            ),
                            models.Index(condition=models.Q(("status", 14)), fields=["id"], name="delivery_unknown"),
                            models.Index(
                                condition=models.Q(("due_at__isnull", True), ("status__in", [1, 2, 3, 4])), fields=["id"], name="delivery_without_due"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Attempt",
                    fields=[
                        ("pk", models.CompositePrimaryKey("delivery_id", "number", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("delivery_id", models.UUIDField()),
                        ("number", models.SmallIntegerField()),
                        ("provider", models.CharField(max_length=32)),
                        ("outcome", models.CharField(help_text="The outcome's name, in lower case.", max_length=16)),
                        ("code", models.CharField(blank=True, max_length=64)),
                        ("detail", models.CharField(blank=True, help_text="Redacted and cut.", max_length=500)),
                        ("started_at", models.DateTimeField()),
                        ("latency_ms", models.IntegerField()),
                        (
                            "segments",
                            models.SmallIntegerField(help_text="SMS segments by the provider's count, or else computed; empty for other channels.", null=True),
                        ),
                        ("http_status", models.SmallIntegerField(help_text="Of the provider's answer; empty where no HTTP answer came.", null=True)),
                        ("retry_after_s", models.IntegerField(help_text="Retry-After of the provider in seconds; empty without one.", null=True)),
                        ("signed_with", models.CharField(blank=True, db_default="", help_text="Web Push: the public VAPID key of the call.", max_length=96)),
                        (
                            "country",
                            models.CharField(blank=True, db_default="", help_text="Country of an SMS number, such as DE, or on other channels a guess by the recipient's timezone or locale; empty if unknown.", max_length=2),
                        ),
                        (
                            "cost_micros",
                            models.BigIntegerField(
                                help_text="Estimated price of an accepted or unanswered call in millionths of a US dollar; empty: free.", null=True
                            ),
                        ),
                        ("reserved_at", models.DateTimeField(help_text="The time that chose the day of the call's budgets; empty: no budget.", null=True)),
                        (
                            "settled_micros",
                            models.BigIntegerField(
                                help_text="Price by the provider's receipt in millionths of a US dollar; empty: no receipt with a price has come.", null=True
                            ),
                        ),
                        ("settled_at", models.DateTimeField(help_text="The time of the event that settled the cost.", null=True)),
                        (
                            "answered_at",
                            models.DateTimeField(
                                help_text="The time of the answer of a call that counted as unanswered before; empty otherwise.", null=True
                            ),
                        ),
                    ],
                    options={"db_table": "attempt"},
                ),
                migrations.CreateModel(
                    name="Event",
                    fields=[
                        ("pk", models.CompositePrimaryKey("notification_id", "seq", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("notification_id", models.UUIDField()),
                        ("seq", models.BigIntegerField()),
                        ("delivery_id", models.UUIDField(null=True)),
                        ("status", models.SmallIntegerField(choices=_STATUSES, null=True)),
                        ("reason", models.CharField(blank=True, max_length=64)),
                        ("detail", models.CharField(blank=True, max_length=500)),
                        ("at", models.DateTimeField()),
                        ("occurred_at", models.DateTimeField(help_text="Receipts: the time that the provider or the app gave; empty without one.", null=True)),
                        (
                            "xid",
                            models.BigIntegerField(
                                db_default=Cast(Cast(models.Func(function="pg_current_xact_id"), models.TextField()), models.BigIntegerField()),
                                help_text="Transaction of the insert, for the change feed; empty in events of earlier releases.",
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "db_table": "event",
                        "indexes": [models.Index(condition=models.Q(("xid__isnull", False)), fields=["xid", "seq"], name="event_feed")],
                    },
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[_sql("rollup_tables.sql")],
            state_operations=[
                migrations.CreateModel(
                    name="Rollup",
                    fields=[
                        ("pk", models.CompositePrimaryKey("cube", "series", "bucket", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("cube", models.SmallIntegerField(help_text="Step and dimension set.")),
                        (
                            "series",
                            models.ForeignKey(
                                db_column="series",
                                db_constraint=False,
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                related_name="+",
                                to="notifications.rollupseries",
                            ),
                        ),
                        ("bucket", models.DateTimeField(help_text="Start of the minute, the hour or the UTC day.")),
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
                        ("cost_micros", models.BigIntegerField(help_text="Millionths of a US dollar.", null=True)),
                    ],
                    options={"db_table": "rollup"},
                ),
                migrations.CreateModel(
                    name="RollupLatency",
                    fields=[
                        ("pk", models.CompositePrimaryKey("cube", "series", "kind", "bucket", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("cube", models.SmallIntegerField(help_text="Step and dimension set.")),
                        (
                            "series",
                            models.ForeignKey(
                                db_column="series",
                                db_constraint=False,
                                db_index=False,
                                on_delete=models.DO_NOTHING,
                                related_name="+",
                                to="notifications.rollupseries",
                            ),
                        ),
                        ("kind", models.SmallIntegerField(help_text="Number of the latency.")),
                        ("bucket", models.DateTimeField(help_text="Start of the minute, the hour or the UTC day.")),
                        ("sketch", models.DecimalField(decimal_places=0, help_text="Sum of count * 10^(12 * bin) over the bins.", max_digits=4000)),
                    ],
                    options={"db_table": "rollup_latency"},
                ),
            ],
        ),
        migrations.RunPython(_add_foreign_keys),
        _sql("cascades.sql"),
        _sql("partition_functions.sql"),
        _sql("archive_functions.sql"),
        _sql("audit.sql"),
        _sql("template_versions.sql"),
        _sql("series_versions.sql"),
        _sql("hold_checks.sql"),
        _sql("first_rows.sql"),
    ]
