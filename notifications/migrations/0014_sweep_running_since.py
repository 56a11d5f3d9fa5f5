from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0013_sweep_failures")]

    operations = [
        migrations.AddField(
            model_name="sweeprun",
            name="running_since",
            field=models.DateTimeField(
                help_text="When the first run began that has not ended; empty while none runs.",
                null=True,
            ),
        ),
    ]
