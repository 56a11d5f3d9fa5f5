"""Filters of templates: `time_spans` has time spans and sentences."""
