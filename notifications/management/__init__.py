"""Management commands and helpers."""
