from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0005_brand"),
    ]

    operations = [
        migrations.AddField(
            model_name="templatetext",
            name="blocks",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Source of an e-mail in blocks, compiled to the body and the HTML.",
            ),
        ),
    ]
