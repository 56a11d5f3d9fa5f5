-- Delete the history and the context of up to `limit` enrolments that ended before an instant. The enrolment stays,
-- because `reentry: never` needs the row. Uses enrolment_to_forget.
WITH old AS (
    UPDATE series_enrolment SET results = 0, context = '{}'
    WHERE id IN (
        SELECT id FROM series_enrolment
        WHERE ended_at < %(before)s AND results > 0
        ORDER BY ended_at LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    )
    RETURNING id
)
DELETE FROM series_step_result WHERE enrolment_id IN (SELECT id FROM old)
