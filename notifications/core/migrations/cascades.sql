-- Rows of a feature go with the rows of the core that they refer to, also by SQL alone: without the feature in INSTALLED_APPS Django
-- does not know its models, and the foreign key would refuse the deletion of a recipient.

DO $$
DECLARE
    key record;
BEGIN
    FOR key IN
        SELECT conrelid::regclass AS relation, conname, pg_get_constraintdef(oid) AS definition
        FROM pg_constraint
        WHERE contype = 'f' AND confdeltype = 'a'
          AND (conrelid::regclass::text, confrelid::regclass::text) IN (
              ('series', 'notifications_producer'),
              ('series_version', 'series'),
              ('series_enrolment', 'series'),
              ('series_enrolment', 'notifications_recipient'),
              ('series_step_result', 'series_enrolment'),
              ('custom_event', 'notifications_producer'),
              ('custom_event', 'notifications_recipient')
          )
    LOOP
        EXECUTE format(
            'ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s',
            key.relation, key.conname, key.conname,
            replace(key.definition, ' DEFERRABLE', ' ON DELETE CASCADE DEFERRABLE')
        );
    END LOOP;
END $$;
