from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0052_rollups_by_route"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="erasurejob",
            name="erasure_job_unfinished",
        ),
        migrations.AddField(
            model_name="erasurejob",
            name="archive_keys",
            field=models.IntegerField(
                db_default=0, default=0, help_text="Archive keys deleted; 0: there was none."
            ),
        ),
        migrations.AddField(
            model_name="erasurejob",
            name="contacts",
            field=models.IntegerField(db_default=0, default=0, help_text="Contacts removed."),
        ),
        migrations.AddField(
            model_name="erasurejob",
            name="dead_letters",
            field=models.IntegerField(
                db_default=0, default=0, help_text="Dead letters whose message was removed."
            ),
        ),
        migrations.AddField(
            model_name="erasurejob",
            name="receipt",
            field=models.JSONField(
                blank=True,
                help_text="Times, and counts for each place; written at the end.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="erasurejob",
            name="receipt_signature",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="HMAC-SHA256 of the receipt.",
                max_length=64,
            ),
        ),
        migrations.AddIndex(
            model_name="erasurejob",
            index=models.Index(
                condition=models.Q(("receipt__isnull", True)),
                fields=["id"],
                name="erasure_job_without_receipt",
            ),
        ),
    ]
