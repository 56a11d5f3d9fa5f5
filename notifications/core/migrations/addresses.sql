-- Spelling of an address on the suppression list: a mailbox (channel 3) is case-insensitive. Statements of notifications/core/store call it.

CREATE FUNCTION suppressible(channel integer, address text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN channel = 3 THEN lower(address) ELSE address END;
