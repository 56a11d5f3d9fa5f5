"""Switches: the table.

A breaker that an operator forced open becomes a switch without an expiry; workers of the earlier
release keep to the old column.
"""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def _forced_open_to_switches(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    switch = apps.get_model("notifications", "Switch")
    for row in apps.get_model("notifications", "Breaker").objects.filter(forced="open"):
        switch.objects.get_or_create(
            kind="provider",
            value=row.provider,
            channel=row.channel,
            resumed_at=None,
            defaults={"reason": "The breaker was forced open.", "set_by": "migrate"},
        )


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0047_alert_destinations"),
    ]

    operations = [
        migrations.CreateModel(
            name="Switch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("producer", "producer"),
                            ("type", "type"),
                            ("template", "template"),
                            ("channel", "channel"),
                            ("provider", "provider"),
                            ("lane", "lane"),
                        ],
                        help_text="What the switch holds.",
                        max_length=16,
                    ),
                ),
                (
                    "value",
                    models.CharField(
                        help_text="Name of the producer, type, template, channel, provider or lane.",
                        max_length=64,
                    ),
                ),
                (
                    "channel",
                    models.SmallIntegerField(
                        blank=True,
                        choices=[
                            (1, "push"),
                            (2, "sms"),
                            (3, "email"),
                            (4, "in_app"),
                            (5, "webhook"),
                            (6, "chat"),
                        ],
                        help_text="Only for a provider. Empty: every channel of the provider.",
                        null=True,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        help_text="Why. Operators read the reason on every held delivery.",
                        max_length=200,
                    ),
                ),
                ("set_by", models.CharField(max_length=150)),
                ("set_at", models.DateTimeField(auto_now_add=True)),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="The pause ends by itself. Empty: until an operator resumes.",
                        null=True,
                    ),
                ),
                ("resumed_at", models.DateTimeField(blank=True, null=True)),
                ("resumed_by", models.CharField(blank=True, max_length=150)),
                (
                    "released_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Every delivery that the switch held was released.",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "switches",
                "ordering": ("-id",),
            },
        ),
        migrations.AlterField(
            model_name="breaker",
            name="forced",
            field=models.CharField(
                blank=True, choices=[("", "auto"), ("closed", "closed")], max_length=8
            ),
        ),
        migrations.AddField(
            model_name="switch",
            name="producer",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="switches",
                to="notifications.producer",
            ),
        ),
        migrations.AddIndex(
            model_name="switch",
            index=models.Index(
                condition=models.Q(("released_at__isnull", True), ("resumed_at__isnull", False)),
                fields=["id"],
                name="switch_to_release",
            ),
        ),
        migrations.RunPython(_forced_open_to_switches, migrations.RunPython.noop),
    ]
