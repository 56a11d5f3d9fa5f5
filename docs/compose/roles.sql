-- The two roles of the service's database. Run as a superuser at each start, before `migrate`: what is as it should be stays. The
-- session has the passwords as the settings notify.owner_password and notify.app_password.
--
--   notify_owner  owns the database and every table; `migrate` signs in as it, and nothing else does
--   notify_app    what web, workers and beat sign in as: reads and writes rows; owns nothing, alters nothing, drops nothing
--
-- The app still makes and drops partitions: by functions that run as the owner (notifications/core/migrations/partition_functions.sql).

DO $$
DECLARE
    role text;
    statement text;
BEGIN
    FOREACH role IN ARRAY ARRAY['owner', 'app'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'notify_' || role) THEN
            EXECUTE format('CREATE ROLE %I', 'notify_' || role);
        END IF;
        EXECUTE format('ALTER ROLE %I LOGIN PASSWORD %L', 'notify_' || role, current_setting('notify.' || role || '_password'));
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('notify_owner', 'notify_app')
            AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) THEN
        RAISE EXCEPTION 'notify_owner or notify_app has an attribute that it must not have: see pg_roles';
    END IF;

    EXECUTE format('ALTER DATABASE %I OWNER TO notify_owner', current_database());
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO notify_app', current_database());
    ALTER SCHEMA public OWNER TO notify_owner;
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    GRANT USAGE ON SCHEMA public TO notify_app;

    -- What an earlier release made as a superuser belongs to the owner from now on. A sequence of a column goes with its table.
    FOR statement IN
        SELECT format('ALTER %s %s OWNER TO notify_owner',
                CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, oid::regclass)
        FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'S') AND relowner <> 'notify_owner'::regrole
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i') AND relkind = 'S')
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO notify_owner', oid::regprocedure)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner <> 'notify_owner'::regrole
    LOOP
        EXECUTE statement;
    END LOOP;

    -- Rows, now and of every table that the owner will make.
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO notify_app;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO notify_app;
    ALTER DEFAULT PRIVILEGES FOR ROLE notify_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO notify_app;
    ALTER DEFAULT PRIVILEGES FOR ROLE notify_owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO notify_app;

    -- Every session of the app has these (notifications/core/store/postgres/session_settings.py), also behind a transaction pooler.
    EXECUTE format('ALTER ROLE notify_app IN DATABASE %I SET idle_in_transaction_session_timeout = %L', current_database(), '30s');
    EXECUTE format('ALTER ROLE notify_app IN DATABASE %I SET lock_timeout = %L', current_database(), '2s');
    EXECUTE format('ALTER ROLE notify_app IN DATABASE %I SET jit = off', current_database());
    EXECUTE format('ALTER ROLE notify_app IN DATABASE %I SET client_min_messages = notice', current_database());
END $$;
