from __future__ import annotations

from typing import Any

import django.core.validators
from django.db import migrations, models

_SHIPPED = (
    # name, base, multiplier, cap, attempts, jitter, drops
    ("critical", 2.0, 4.0, 300.0, 7, "full", False),
    ("low", 2.0, 4.0, 10.0, 3, "full", True),
    ("patient", 2.0, 4.0, 300.0, 52, "second", False),
    ("plain", 1.0, 2.0, 3600.0, 6, "none", False),
    ("push", 2.0, 2.0, 120.0, 6, "second", False),
    ("push_spread", 2.0, 2.0, 120.0, 6, "full", False),
    ("service", 1.0, 2.0, 30.0, 5, "third", False),
    ("worker", 1.0, 2.0, 30.0, 5, "double", False),
)


def _load(apps: Any, _editor: Any) -> None:
    preset = apps.get_model("notifications", "RetryPreset")
    for name, base, multiplier, cap, attempts, jitter, drops in _SHIPPED:
        preset.objects.get_or_create(
            name=name,
            defaults={
                "base_seconds": base,
                "multiplier": multiplier,
                "cap_seconds": cap,
                "attempts": attempts,
                "jitter": jitter,
                "drops": drops,
            },
        )


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0015_schedule_problems"),
    ]

    operations = [
        migrations.CreateModel(
            name="RetryPreset",
            fields=[
                ("name", models.SlugField(max_length=16, primary_key=True, serialize=False)),
                (
                    "base_seconds",
                    models.FloatField(
                        help_text="Delay of the first retry, before the jitter.",
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(86400.0),
                        ],
                    ),
                ),
                (
                    "multiplier",
                    models.FloatField(
                        help_text="Each further delay is this many times the one before.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "cap_seconds",
                    models.FloatField(
                        help_text="No delay is longer, jitter included. A provider's own Retry-After can be.",
                        validators=[
                            django.core.validators.MinValueValidator(0.1),
                            django.core.validators.MaxValueValidator(86400.0),
                        ],
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(
                        help_text="Provider calls in all, the first included. A throttled call, a failed probe and a call that did not begin do not count.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(200),
                        ],
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
                (
                    "drops",
                    models.BooleanField(
                        default=False,
                        help_text="When every attempt failed, give up without a dead letter.",
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.AlterField(
            model_name="notificationtype",
            name="retry_preset",
            field=models.CharField(
                blank=True,
                help_text="Empty: the policy of its priority and channel.",
                max_length=16,
            ),
        ),
        migrations.RunPython(_load, migrations.RunPython.noop),
    ]
