"""Variants of template texts, and the variant that a notification renders."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0009_attachment_recipients")]

    operations = [
        migrations.AlterModelOptions(
            name="templatetext", options={"ordering": ("channel", "locale", "variant")}
        ),
        migrations.AddField(
            model_name="templatetext",
            name="variant",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Variant of an A/B test, such as b; its empty fields have the values of the base text."
                " Empty: the base text.",
                max_length=32,
            ),
        ),
        migrations.RemoveConstraint(model_name="templatetext", name="template_text_once"),
        migrations.AddConstraint(
            model_name="templatetext",
            constraint=models.UniqueConstraint(
                fields=("template", "channel", "locale", "variant"), name="template_text_once"
            ),
        ),
        migrations.AddField(
            model_name="notification",
            name="template_variant",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="Variant of the template's texts; empty: the base texts.",
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="bulkjob",
            name="variants",
            field=models.JSONField(
                db_default=[],
                default=list,
                help_text="A/B: name, template_id, template, template_variant and share in percent of each variant.",
            ),
        ),
    ]
