-- Return template versions with all texts, by id, or by name: the highest published version. Locks nothing. Uses the
-- primary key and the unique index of name and version.
SELECT t.id, t.template_id, t.version, t.sensitive_variables, t.variables::text AS variables,
       t.default_locale, t.fallback_on, t.confirm_seconds, t.attachments::text AS attachments, x.channel, x.locale, x.variant, x.title, x.body, x.html,
       x.blocks, x.transliterate, x.max_segments, x.shorten_links, x.in_app::text AS in_app,
       x.vendor_template::text AS vendor_template
FROM notifications_template t
JOIN notifications_templatetext x ON x.template_id = t.id
WHERE t.id = ANY(%(ids)s)
   OR t.id IN (SELECT DISTINCT ON (template_id) id FROM notifications_template
               WHERE template_id = ANY(%(names)s) AND published_at IS NOT NULL
               ORDER BY template_id, version DESC)
