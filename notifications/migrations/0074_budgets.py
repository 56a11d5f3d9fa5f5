"""Budgets with their ledgers and reservations, and the first budget."""

from __future__ import annotations

from typing import Any

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

_SMS = 2
_FIRST_MICROS = 200_000_000_000  # $200,000 a day


def _add_first(apps: Any, _editor: Any) -> None:
    """Limit the text messages of all producers together."""
    budgets = apps.get_model("notifications", "Budget").objects
    budgets.get_or_create(producer=None, channel=_SMS, defaults={"amount_micros": _FIRST_MICROS})


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0073_series"),
    ]

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                        help_text="Empty: all channels together.",
                        null=True,
                    ),
                ),
                (
                    "amount_micros",
                    models.BigIntegerField(
                        help_text="Millionths of a US dollar: 5000000 is $5.",
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="microdollars a day",
                    ),
                ),
                (
                    "alert_percent",
                    models.PositiveSmallIntegerField(
                        default=80,
                        help_text="Share of the amount at which the first alert of a day is raised.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(100),
                        ],
                    ),
                ),
                (
                    "is_hard",
                    models.BooleanField(
                        default=True,
                        help_text="Above the amount P3 by SMS goes by e-mail or waits, P2 and other P3 wait, P0 and P1 go on. Otherwise alerts alone are raised.",
                        verbose_name="hard",
                    ),
                ),
                (
                    "timezone",
                    models.CharField(
                        default="UTC",
                        help_text="A day begins at midnight of this timezone.",
                        max_length=64,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "budget",
                "ordering": ("producer", "channel"),
            },
        ),
        migrations.CreateModel(
            name="BudgetDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField(help_text="In the timezone of the budget.")),
                ("used_micros", models.BigIntegerField(default=0, help_text="Reserved and spent.")),
                (
                    "refused_micros",
                    models.BigIntegerField(
                        help_text="Price of the last call that was refused; empty: none was.",
                        null=True,
                    ),
                ),
                ("nearly_spent_alert_at", models.DateTimeField(null=True)),
                ("spent_alert_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "budget_day",
            },
        ),
        migrations.CreateModel(
            name="BudgetReservation",
            fields=[
                ("delivery_id", models.UUIDField(primary_key=True, serialize=False)),
                ("token", models.UUIDField(help_text="Claim of the worker that makes the call.")),
                (
                    "micros",
                    models.BigIntegerField(help_text="Estimated price, added to the ledgers."),
                ),
                (
                    "settled_micros",
                    models.BigIntegerField(
                        help_text="Price by the outcome, not yet in the ledgers; empty: no outcome.",
                        null=True,
                    ),
                ),
                (
                    "ledgers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), size=None
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "db_table": "budget_reservation",
            },
        ),
        migrations.AddField(
            model_name="budget",
            name="producer",
            field=models.ForeignKey(
                blank=True,
                help_text="Empty: all producers together.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="budgets",
                to="notifications.producer",
            ),
        ),
        migrations.AddField(
            model_name="budgetday",
            name="budget",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="days",
                to="notifications.budget",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                fields=("producer", "channel"), name="one_budget", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_micros__gte", 0)), name="budget_is_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="budgetday",
            constraint=models.UniqueConstraint(fields=("budget", "day"), name="one_ledger_a_day"),
        ),
        migrations.RunPython(_add_first, migrations.RunPython.noop),
    ]
