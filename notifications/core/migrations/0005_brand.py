"""The table of brands, whose rows go with their producers."""

import django.db.models.deletion
from django.db import migrations, models

_FONTS = ["system", "arial", "courier", "georgia", "tahoma", "times", "trebuchet", "verdana"]
_CASCADE = """
DO $$
DECLARE
    key record;
BEGIN
    FOR key IN
        SELECT conname, pg_get_constraintdef(oid) AS definition
        FROM pg_constraint
        WHERE contype = 'f' AND confdeltype = 'a' AND conrelid = 'brand'::regclass
    LOOP
        EXECUTE format(
            'ALTER TABLE brand DROP CONSTRAINT %I, ADD CONSTRAINT %I %s',
            key.conname, key.conname,
            replace(key.definition, ' DEFERRABLE', ' ON DELETE CASCADE DEFERRABLE')
        );
    END LOOP;
END $$;
"""
"""Without the feature in INSTALLED_APPS Django does not know the rows of a producer: cascades.sql."""


def _add_foreign_key(apps, schema_editor):
    """Run the statement that Django keeps for the end of a migration: `_CASCADE` reads the foreign key."""
    for statement in schema_editor.deferred_sql:
        schema_editor.execute(statement)
    schema_editor.deferred_sql.clear()


class Migration(migrations.Migration):
    dependencies = [("notifications", "0004_attachments")]

    operations = [
        migrations.CreateModel(
            name="Brand",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "producer",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: the brand of the installation, for producers without a brand.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="brands",
                        to="notifications.producer",
                    ),
                ),
                ("name", models.CharField(help_text="Name that recipients know.", max_length=100)),
                (
                    "logo_url",
                    models.CharField(
                        "logo URL",
                        blank=True,
                        help_text="https URL of an image, shown 40 pixels high. Empty: the name is shown.",
                        max_length=2000,
                    ),
                ),
                (
                    "logo_alt",
                    models.CharField(
                        "text in place of the logo",
                        blank=True,
                        help_text="Empty: the name.",
                        max_length=100,
                    ),
                ),
                (
                    "color",
                    models.CharField(
                        default="#1d4ed8",
                        db_default="#1d4ed8",
                        help_text="Colour of buttons and links, such as #1d4ed8, with a contrast of at least 4.5 to"
                        " 1 on white. Text on the colour is black or white, whichever is easier to read.",
                        max_length=7,
                    ),
                ),
                (
                    "font",
                    models.CharField(
                        choices=[(name, name) for name in _FONTS],
                        default="system",
                        db_default="system",
                        help_text="Font of e-mails, which needs no download.",
                        max_length=16,
                    ),
                ),
                (
                    "footer",
                    models.TextField(
                        blank=True, help_text="Text below each e-mail.", max_length=1000
                    ),
                ),
                (
                    "postal_address",
                    models.TextField(
                        blank=True,
                        help_text="Below each e-mail, such as laws on advertising by e-mail require.",
                        max_length=500,
                    ),
                ),
                (
                    "website_url",
                    models.CharField(
                        "website URL",
                        blank=True,
                        help_text="https URL, below each e-mail.",
                        max_length=2000,
                    ),
                ),
                (
                    "links",
                    models.JSONField(
                        blank=True,
                        default=list,
                        db_default=[],
                        help_text="Up to five links below each e-mail.",
                    ),
                ),
                (
                    "sender_name",
                    models.CharField(
                        blank=True,
                        help_text="Name in the From header. Empty: that of the e-mail provider's setting.",
                        max_length=100,
                    ),
                ),
                (
                    "sender_address",
                    models.CharField(
                        blank=True,
                        help_text="Address in the From header, permitted by NOTIFY_MAIL_SENDERS. Empty: that of the"
                        " e-mail provider's setting.",
                        max_length=320,
                    ),
                ),
                (
                    "reply_to",
                    models.CharField(
                        blank=True,
                        help_text="Address that gets the answers. Empty: the sender.",
                        max_length=320,
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "db_table": "brand",
                "ordering": ("producer",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("producer",),
                        name="one_brand",
                        nulls_distinct=False,
                        violation_error_message="There is a brand of this producer, or of the installation,"
                        " already: change that brand.",
                    )
                ],
            },
        ),
        migrations.RunPython(_add_foreign_key),
        migrations.RunSQL(_CASCADE),
    ]
