UPDATE delivery SET contact_id = %(contact_id)s WHERE id = %(id)s AND contact_id IS NULL
