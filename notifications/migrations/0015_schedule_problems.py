from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0014_sweep_running_since")]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="problem",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Why no notification can be made of it now.",
                max_length=300,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="schedule",
            name="retry_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When a schedule with a problem is tried again.",
                null=True,
            ),
        ),
    ]
