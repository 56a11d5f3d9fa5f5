-- True if a withdrawal is due. Uses withdrawal_due.
EXISTS (SELECT FROM withdrawal WHERE due_at <= %(now)s::timestamptz)
