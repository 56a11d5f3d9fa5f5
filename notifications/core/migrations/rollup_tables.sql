-- The roll-ups: one partition for each cube, which is a step (10 minute, 20 hour, 30 day) plus a dimension set. Set 4 has no producer, so
-- that questions about all producers read fewer rows. Set 5, with the countries of all channels, has neither
-- minutes nor latencies. Rows of the current bucket are updated in place, so pages keep room. Rows arrive in
-- the order of time, so a small BRIN index finds an interval; the primary key finds a series.
CREATE TABLE rollup (
    cube smallint NOT NULL,
    series integer NOT NULL,
    bucket timestamptz NOT NULL,
    accepted bigint,
    sent bigint,
    delivered bigint,
    read bigint,
    clicked bigint,
    failed bigint,
    bounced bigint,
    expired bigint,
    suppressed bigint,
    cancelled bigint,
    unknown bigint,
    unconfirmed bigint,
    retried bigint,
    replayed bigint,
    calls bigint,
    failed_calls bigint,
    sent_after_retry bigint,
    failed_after_retry bigint,
    cost_micros bigint,
    PRIMARY KEY (cube, series, bucket)
) PARTITION BY LIST (cube);

CREATE TABLE rollup_latency (
    cube smallint NOT NULL,
    series integer NOT NULL,
    kind smallint NOT NULL,
    bucket timestamptz NOT NULL,
    sketch numeric NOT NULL, -- sum of count * 10^(12 * bin) over the bins, so that sketches merge by sum
    PRIMARY KEY (cube, series, kind, bucket)
) PARTITION BY LIST (cube);

CREATE INDEX rollup_bucket ON rollup USING brin (bucket) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX rollup_latency_bucket ON rollup_latency USING brin (bucket) WITH (pages_per_range = 16, autosummarize = on);

DO $$
DECLARE
    parent text;
    step smallint;
    dimension_set smallint;
BEGIN
    FOREACH parent IN ARRAY ARRAY['rollup', 'rollup_latency'] LOOP
        FOREACH step IN ARRAY ARRAY[10, 20, 30] LOOP
            FOREACH dimension_set IN ARRAY ARRAY[1, 2, 3, 4, 5] LOOP
                CONTINUE WHEN dimension_set = 5 AND (step = 10 OR parent = 'rollup_latency');
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (%s) WITH (fillfactor = 80)',
                               parent || '_' || step + dimension_set, parent, step + dimension_set);
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
