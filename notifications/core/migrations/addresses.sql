-- One key for each spelling of an address, for the look-ups of contacts and of the suppression list. A mailbox (channel 3) has no case;
-- a number (2) of Mexico, Argentina or Brazil has an optional digit; a browser (1) is known by its endpoint. Statements of
-- notifications/core/store call it.

CREATE FUNCTION suppressible(channel integer, address text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE
        WHEN channel = 3 THEN lower(address)
        WHEN channel = 2 AND address LIKE '+5%' THEN regexp_replace(regexp_replace(regexp_replace(
            address, '^\+521(\d{10})$', '+52\1'), '^\+54([1-3]\d{9})$', '+549\1'),
            '^\+55([1-9]{2})([689]\d{7}|7[1-6]\d{6})$', '+55\19\2')
        WHEN channel = 1 AND address LIKE '{%' THEN
            coalesce(substring(address FROM '"endpoint"\s*:\s*"([^"]+)"'), address)
        ELSE address
    END;
