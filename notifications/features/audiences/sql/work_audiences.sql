-- True if a list is filled, failed, expired or deleted, or a topic is deleted. Reads the lists and the topics.
EXISTS (SELECT FROM recipient_list WHERE state <> 'ready' OR deleted_at IS NOT NULL OR expires_at < %(now)s::timestamptz)
OR EXISTS (SELECT FROM topic WHERE deleted_at IS NOT NULL)
