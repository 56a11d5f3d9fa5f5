-- True if a report is due. Uses inbox_report_due.
EXISTS (SELECT FROM inbox_report WHERE due_at <= %(now)s::timestamptz)
