-- A published version of a series never changes, whoever tries: admin, API, a shell.

CREATE FUNCTION series_version_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.published_at IS NOT NULL THEN
        RAISE restrict_violation
            USING MESSAGE = format('version %s of series %s is published: it never changes', OLD.number, OLD.series_id);
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER series_version_stays BEFORE UPDATE ON series_version
    FOR EACH ROW EXECUTE FUNCTION series_version_stays();
