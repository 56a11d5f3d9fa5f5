"""A sketch is one number, so that Postgres merges sketches by sum."""

from django.db import migrations, models

_TO_NUMBER = """
    CREATE FUNCTION pg_temp.as_number(bigint[]) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
        SELECT sum(((entry & 4294967295) || repeat('0', 12 * (entry >> 32)::int))::numeric)
        FROM unnest($1) AS entry
    $$;
    ALTER TABLE rollup_latency ALTER COLUMN sketch TYPE numeric USING pg_temp.as_number(sketch);
    DROP FUNCTION pg_temp.as_number(bigint[])
"""
_TO_ENTRIES = """
    CREATE FUNCTION pg_temp.as_entries(numeric) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
        SELECT array_agg((bin::bigint << 32) | number ORDER BY bin)
        FROM generate_series(0, (length($1::text) - 1) / 12) AS bin
        CROSS JOIN LATERAL (SELECT mod(div($1, ('1' || repeat('0', 12 * bin))::numeric),
                                       1000000000000)::bigint AS number) AS n
        WHERE number > 0
    $$;
    ALTER TABLE rollup_latency ALTER COLUMN sketch TYPE bigint[] USING pg_temp.as_entries(sketch);
    DROP FUNCTION pg_temp.as_entries(numeric)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0056_unknown_deliveries"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(_TO_NUMBER, _TO_ENTRIES)],
            state_operations=[
                migrations.AlterField(
                    model_name="rolluplatency",
                    name="sketch",
                    field=models.DecimalField(
                        decimal_places=0,
                        help_text="Sum of count * 10^(12 * bin) over the bins.",
                        max_digits=4000,
                    ),
                ),
            ],
        ),
    ]
