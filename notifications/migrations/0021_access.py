"""Replay jobs get a mode, and keys keep the rights that one scope gave them before.

`recipients:write` covered contacts, preferences and suppressions; each has a scope of its own now.
A key that exists keeps what it could do: take the scopes away from those that only send.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_LIVE = 1
_WRITE = ("contacts:write", "preferences:write")
_BEFORE = {
    "recipients:read": ("suppressions:read",),
    "recipients:write": (*_WRITE, "suppressions:write"),
    "recipients:*": (*_WRITE, "suppressions:*"),
}
"""Scope -> what it also gave."""


def spell_out(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Give each key by name what `recipients:...` gave it; test keys never had suppressions."""
    for key in apps.get_model("notifications", "ApiKey").objects.all():
        gave = {also for scope in key.scopes for also in _BEFORE.get(scope, ())}
        kept = {also for also in gave if key.mode == _LIVE or not also.startswith("suppressions:")}
        if kept - set(key.scopes):
            key.scopes = sorted({*key.scopes, *kept})
            key.save(update_fields=("scopes",))


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0020_received_texts"),
    ]

    operations = [
        migrations.AddField(
            model_name="replayjob",
            name="mode",
            field=models.SmallIntegerField(
                choices=[(1, "live"), (2, "test")],
                default=1,
                help_text="Whose keys see the job. Letters of both modes make a live job.",
            ),
        ),
        migrations.RunSQL(
            "UPDATE notifications_replayjob SET mode = 2 WHERE id IN (SELECT replay_job_id"
            " FROM notifications_deadletter GROUP BY replay_job_id HAVING min(mode) = 2)",
            migrations.RunSQL.noop,
        ),
        migrations.RunPython(spell_out, migrations.RunPython.noop),
    ]
