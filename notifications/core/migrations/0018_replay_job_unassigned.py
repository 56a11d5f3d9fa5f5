"""A replay job notes the dead letters that have yet to join it. The column is empty in old jobs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0017_message_id_hashes")]

    operations = [
        migrations.AddField(
            model_name="replayjob",
            name="unassigned",
            field=models.JSONField(
                blank=True,
                help_text="Dead letters that join the job in batches; empty once all have joined.",
                null=True,
            ),
        )
    ]
