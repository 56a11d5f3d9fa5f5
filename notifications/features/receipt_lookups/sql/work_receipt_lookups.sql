-- True if a vendor is to be asked for a receipt. Uses receipt_lookup_due.
EXISTS (SELECT FROM receipt_lookup WHERE due_at <= %(now)s::timestamptz)
