"""Deliveries are called so in the admin; nothing in the database changes."""

from django.db import migrations


class Migration(migrations.Migration):
    """A name."""

    dependencies = [
        ("notifications", "0009_template_versions"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="delivery", options={"verbose_name_plural": "deliveries"}
        ),
    ]
