from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0012_call_answers")]

    operations = [
        migrations.AddField(
            model_name="sweeprun",
            name="failed",
            field=models.IntegerField(
                default=0,
                help_text="Rows that raised an exception in the last run; the log says which.",
            ),
        ),
    ]
