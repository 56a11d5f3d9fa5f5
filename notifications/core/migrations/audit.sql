-- The audit log is append-only, whoever tries: admin, API, a shell. Rows leave by retention alone, which keeps at least 90 days.

CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '90 days' THEN
        RETURN OLD;
    END IF;
    RAISE restrict_violation USING MESSAGE = 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON notifications_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_stays();

CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON notifications_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();
