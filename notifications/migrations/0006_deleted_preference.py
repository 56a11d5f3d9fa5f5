"""Hold checks after the deletion of preferences."""

from django.db import migrations

_TRIGGER = """
CREATE OR REPLACE FUNCTION note_hold_check() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER deleted_preference_notes_hold_check AFTER DELETE ON notifications_preference
    FOR EACH ROW
    WHEN (OLD.quiet_hours <> '[]' OR OLD.do_not_disturb_until IS NOT NULL OR OLD.caps <> '{}'
          OR OLD.digests <> '{}')
    EXECUTE FUNCTION note_hold_check();
"""


class Migration(migrations.Migration):
    """The trigger; the function knows deletions."""

    dependencies = (("notifications", "0005_bulk_job_address"),)
    operations = (migrations.RunSQL(_TRIGGER),)
