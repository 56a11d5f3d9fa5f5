"""The management command `archive`."""
