-- True if a replay of dead letters is not finished.
EXISTS (SELECT FROM notifications_replayjob WHERE finished_at IS NULL OR unassigned IS NOT NULL)
