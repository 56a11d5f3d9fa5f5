-- Notes the recipients whose settings changed: the change may end the hold of a delivery. The sweep of holds reads hold_check.

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
