"""Attachments of templates: files without a producer, and the column of versions.

The lock of the files comes first: a deletion of large files can hold the table for a second, and
each process reads templates. The lock of the templates, which comes last, is held for the index of
no row.
"""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0013_bulk_job_calendar")]

    operations = [
        migrations.AlterField(
            model_name="attachment",
            name="producer",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                help_text="Empty: the file is of templates, and its id follows from digest and type.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="attachments",
                to="notifications.producer",
            ),
        ),
        migrations.AddField(
            model_name="template",
            name="attachments",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="Files of each e-mail, without the contents: name, type, size, digest, inline_id"
                " (`rules.attachments.TemplateFile`).",
            ),
        ),
        migrations.AddIndex(
            model_name="template",
            index=django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(("attachments", []), _negated=True),
                fields=["attachments"],
                name="template_attachments",
                opclasses=("jsonb_path_ops",),
            ),
        ),
    ]
