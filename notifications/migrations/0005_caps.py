from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0004_wishes"),
    ]

    operations = [
        migrations.AddField(
            model_name="preference",
            name="caps",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Channel -> cap, like 3/day; others have the usual one.",
            ),
        ),
        migrations.AddField(
            model_name="notificationtype",
            name="digest_template",
            field=models.SlugField(
                blank=True,
                db_index=False,
                help_text="The template of one message in place of several P2 that a cap has held back;"
                " it gets count, items and type. Empty: each leaves by itself.",
                max_length=64,
                default="",
            ),
            preserve_default=False,
        ),
    ]
