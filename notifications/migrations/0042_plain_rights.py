"""Rights with plain names, and publishing as the work of a role of its own.

Users and groups keep their abilities: who could replay with `change_deadletter` may replay, and so
on; the members of `role: editor`, who could publish, become members of `role: publisher` too.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RIGHTS = {
    "replay_deadletter": ("deadletter", "May replay and discard dead letters"),
    "see_addresses": ("contact", "May see addresses"),
    "export_list": ("notification", "May export lists as CSV files"),
    "hold_provider": ("providerroute", "May hold a provider"),
    "cancel_notification": ("notification", "May cancel notifications"),
    "publish_template": ("template", "May publish templates"),
}
BEFORE = {
    "replay_deadletter": ("change_deadletter",),
    "see_addresses": ("change_contact", "change_suppression"),
    "export_list": ("change_suppression",),
    "hold_provider": ("change_breaker",),
}
"""Right -> the rights that allowed the same before."""


def keep_abilities(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Give the new rights to the users and groups that could do the same before."""
    types = apps.get_model("contenttypes", "ContentType").objects
    if not types.filter(app_label="notifications", model="deadletter").exists():
        return  # a new installation: nobody has a right yet
    permissions = apps.get_model("auth", "Permission").objects
    for codename, (model, name) in RIGHTS.items():
        of, _ = types.get_or_create(app_label="notifications", model=model)
        right, _ = permissions.update_or_create(
            content_type=of, codename=codename, defaults={"name": name}
        )
        could = permissions.filter(
            content_type__app_label="notifications", codename__in=BEFORE.get(codename, ())
        )
        for each in could:
            right.user_set.add(*each.user_set.all())
            right.group_set.add(*each.group_set.all())
    _keep_publishing(apps)


def _keep_publishing(apps: Apps) -> None:
    groups = apps.get_model("auth", "Group").objects
    editors = groups.filter(name="role: editor").first()
    if editors is not None:
        publishers, _ = groups.get_or_create(name="role: publisher")
        publishers.user_set.add(*editors.user_set.all())


def _named(model: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((codename, name) for codename, (of, name) in RIGHTS.items() if of == model))


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0041_webhook_contact"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="contact",
            options={"permissions": _named("contact")},
        ),
        migrations.AlterModelOptions(
            name="deadletter",
            options={"ordering": ("-id",), "permissions": _named("deadletter")},
        ),
        migrations.AlterModelOptions(
            name="notification",
            options={"permissions": _named("notification")},
        ),
        migrations.AlterModelOptions(
            name="providerroute",
            options={
                "ordering": ("channel", "-region", "-platform", "rank", "provider"),
                "permissions": _named("providerroute"),
                "verbose_name": "provider route",
            },
        ),
        migrations.AlterModelOptions(
            name="template",
            options={
                "ordering": ("template_id", "-version"),
                "permissions": _named("template"),
            },
        ),
        migrations.RunPython(keep_abilities, migrations.RunPython.noop),
    ]
