"""Each address gets a bulk job once: the choice of the job, and the addresses of running jobs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0004_webhook_message_of_contact")]

    operations = [
        migrations.AddField(
            model_name="bulkjob",
            name="unique_by",
            field=models.CharField(
                choices=[("address", "address"), ("recipient", "recipient")],
                db_default="address",
                default="address",
                help_text="address: one message to each mailbox, number, device or chat; recipient:"
                " one to each recipient.",
                max_length=9,
            ),
        ),
        migrations.CreateModel(
            name="BulkJobAddress",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "job",
                        "digest",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="addresses",
                        to="notifications.bulkjob",
                    ),
                ),
                (
                    "digest",
                    models.BinaryField(
                        help_text="First 16 bytes of SHA-256 of channel and address, as the"
                        " suppression list compares addresses."
                    ),
                ),
            ],
            options={"db_table": "bulk_job_address"},
        ),
    ]
