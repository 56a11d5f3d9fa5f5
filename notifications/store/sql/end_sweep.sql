UPDATE notifications_sweeprun SET finished_at = now(), moved = %(moved)s WHERE name = %(name)s
