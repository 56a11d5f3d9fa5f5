"""The audit log, and the triggers that keep it append-only."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations, models

_TRIGGERS = (Path(__file__).parent / "audit.sql").read_text()
_WITHOUT = (
    "DROP TRIGGER audit_is_not_emptied ON notifications_auditentry;"
    "DROP TRIGGER audit_stays ON notifications_auditentry; DROP FUNCTION audit_stays()"
)


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0022_categories_left"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.CharField(
                        help_text="An operator's user name, or a producer with the prefix of a key.",
                        max_length=150,
                    ),
                ),
                (
                    "operation",
                    models.CharField(help_text="As in OpenAPI, like resolve_alert.", max_length=64),
                ),
                (
                    "object_type",
                    models.CharField(help_text="The model's name in small letters.", max_length=32),
                ),
                ("object_id", models.CharField(max_length=64)),
                ("object_name", models.CharField(blank=True, max_length=150)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                (
                    "request_id",
                    models.CharField(blank=True, help_text="X-Request-Id.", max_length=32),
                ),
            ],
            options={
                "ordering": ("-id",),
                "verbose_name_plural": "audit entries",
                "indexes": [
                    models.Index(fields=["object_type", "object_id", "id"], name="audit_of_object"),
                    models.Index(fields=["at"], name="audit_by_age"),
                ],
            },
        ),
        migrations.RunSQL(_TRIGGERS, _WITHOUT),
    ]
