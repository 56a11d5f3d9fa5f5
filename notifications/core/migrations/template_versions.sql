-- A published version never changes, whoever tries: admin, API, a shell. Only its note may.

CREATE FUNCTION template_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL AND (
        TG_OP = 'DELETE'
        OR to_jsonb(NEW) - '{note,updated_at}'::text[]
           IS DISTINCT FROM to_jsonb(OLD) - '{note,updated_at}'::text[]
    ) THEN
        RAISE restrict_violation
            USING MESSAGE = format('%s v%s is published: it never changes', OLD.template_id, OLD.version);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER template_stays BEFORE UPDATE OR DELETE ON notifications_template
    FOR EACH ROW EXECUTE FUNCTION template_stays();

-- Texts may join a published version in the transaction that publishes it, and never later. The lock
-- makes an editor wait for a publication that is under way, and then see it.
CREATE FUNCTION template_text_stays() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    version record;
BEGIN
    FOR version IN
        SELECT published_at FROM notifications_template
        WHERE id IN (
            CASE TG_OP WHEN 'INSERT' THEN NULL ELSE OLD.template_id END,
            CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.template_id END
        )
        ORDER BY id
        FOR SHARE
    LOOP
        IF version.published_at < now()
           OR (version.published_at IS NOT NULL AND TG_OP <> 'INSERT') THEN
            RAISE restrict_violation
                USING MESSAGE = 'this version is published: its texts never change';
        END IF;
    END LOOP;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER template_text_stays BEFORE INSERT OR UPDATE OR DELETE
    ON notifications_templatetext
    FOR EACH ROW EXECUTE FUNCTION template_text_stays();
