import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0006_template_blocks"),
    ]

    operations = [
        migrations.AddField(
            model_name="notificationtype",
            name="batch_window_seconds",
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="Seconds for which P2 and P3 of the type wait for further messages to the same recipient; the digest template replaces them. 0: each message leaves at once.",
                validators=[django.core.validators.MaxValueValidator(43200)],
                verbose_name="batch window",
            ),
        ),
        migrations.AlterModelOptions(
            name="topictext",
            options={"ordering": ("topic", "locale"), "verbose_name": "preference topic"},
        ),
    ]
