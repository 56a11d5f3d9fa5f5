"""The management command `translate_templates`."""
