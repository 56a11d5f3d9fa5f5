-- Write a small record, of no table, whose commit waits for the disk and a synchronous standby. Locks nothing.
SELECT pg_logical_emit_message(true, 'notify', '')
