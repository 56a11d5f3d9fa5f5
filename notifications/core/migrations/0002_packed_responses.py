"""Idempotency keys get packed responses. Both statements wait for a lock and read no row."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_initial_099a7bc0")]

    operations = [
        migrations.AddField(
            model_name="idempotencykey",
            name="packed_response",
            field=models.BinaryField(
                help_text="The response of an accepted notification, see rules/accepted_answer.py.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="idempotencykey",
            name="response",
            field=models.JSONField(help_text="Empty with a packed response.", null=True),
        ),
    ]
