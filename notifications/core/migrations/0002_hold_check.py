"""Hold checks: the held deliveries of recipients whose settings changed."""

from django.db import migrations, models
from django.db.models.functions import Now

_TRIGGERS = """
CREATE FUNCTION note_hold_check() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose bigint;
BEGIN
    IF TG_TABLE_NAME = 'notifications_recipient' THEN
        whose := NEW.id;
    ELSIF TG_OP = 'DELETE' THEN
        whose := OLD.recipient_id;
    ELSE
        whose := NEW.recipient_id;
    END IF;
    INSERT INTO hold_check (recipient_id, changed_at, due_at) VALUES (whose, now(), now())
    ON CONFLICT (recipient_id) DO UPDATE
        SET changed_at = now(), due_at = now(), checked_to = NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER recipient_notes_hold_check AFTER UPDATE ON notifications_recipient
    FOR EACH ROW
    WHEN ((OLD.timezone, OLD.phone_timezone) IS DISTINCT FROM (NEW.timezone, NEW.phone_timezone))
    EXECUTE FUNCTION note_hold_check();

CREATE TRIGGER preference_notes_hold_check AFTER UPDATE ON notifications_preference
    FOR EACH ROW
    WHEN ((OLD.quiet_hours, OLD.do_not_disturb_until, OLD.caps, OLD.digests)
          IS DISTINCT FROM (NEW.quiet_hours, NEW.do_not_disturb_until, NEW.caps, NEW.digests))
    EXECUTE FUNCTION note_hold_check();

CREATE TRIGGER new_preference_notes_hold_check AFTER INSERT ON notifications_preference
    FOR EACH ROW WHEN (NEW.caps <> '{}')
    EXECUTE FUNCTION note_hold_check();

CREATE TRIGGER deleted_preference_notes_hold_check AFTER DELETE ON notifications_preference
    FOR EACH ROW
    WHEN (OLD.quiet_hours <> '[]' OR OLD.do_not_disturb_until IS NOT NULL OR OLD.caps <> '{}'
          OR OLD.digests <> '{}')
    EXECUTE FUNCTION note_hold_check();
"""


class Migration(migrations.Migration):
    """The table, the index of held deliveries, and the triggers."""

    dependencies = (("notifications", "0001_initial_239d64cb"),)

    operations = (
        migrations.CreateModel(
            name="HoldCheck",
            fields=[
                ("recipient_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("changed_at", models.DateTimeField(db_default=Now())),
                (
                    "due_at",
                    models.DateTimeField(db_default=Now(), help_text="Time of the next check."),
                ),
                (
                    "checked_to",
                    models.UUIDField(
                        help_text="Last delivery of a check that goes on in the next run.",
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "hold_check",
                "indexes": [models.Index(fields=["due_at"], name="hold_check_due")],
            },
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q((
                    "reason__in",
                    ["do_not_disturb", "quiet_hours", "producers_night", "cap", "digest"],
                )),
                fields=["recipient_id", "id"],
                name="delivery_held",
            ),
        ),
        migrations.RunSQL(_TRIGGERS),
    )
