"""Sessions of operators, who made and revoked a key, and publishing as a right of its own.

Who could change templates could publish them: they get the new right.
"""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_publishing(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Give the right to publish to the users and groups that had it with `change_template`."""
    permissions = apps.get_model("auth", "Permission").objects
    could = permissions.filter(
        content_type__app_label="notifications", codename="change_template"
    ).first()
    if could is None:
        return  # a new installation: nobody has a right yet
    publish, _ = permissions.get_or_create(
        content_type=could.content_type,
        codename="publish_template",
        defaults={"name": "Can publish template"},
    )
    publish.user_set.add(*could.user_set.all())
    publish.group_set.add(*could.group_set.all())


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0028_partition_days"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="template",
            options={
                "ordering": ("template_id", "-version"),
                "permissions": (("publish_template", "Can publish template"),),
            },
        ),
        migrations.AddField(
            model_name="apikey",
            name="created_by",
            field=models.CharField(blank=True, help_text="An operator, or a key.", max_length=150),
        ),
        migrations.AddField(
            model_name="apikey",
            name="replaces",
            field=models.OneToOneField(
                blank=True,
                help_text="The key that was rotated into this one.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaced_by",
                to="notifications.apikey",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="revoked_by",
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.CreateModel(
            name="SignIn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_key", models.CharField(editable=False, max_length=40, unique=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "seen_at",
                    models.DateTimeField(auto_now_add=True, help_text="Last used, to the minute."),
                ),
                ("address", models.GenericIPAddressField(blank=True, null=True)),
                (
                    "agent",
                    models.CharField(
                        blank=True, help_text="What the browser says it is.", max_length=200
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "ordering": ("-id",),
            },
        ),
        migrations.RunPython(keep_publishing, migrations.RunPython.noop),
    ]
