"""Pages for operators: days past retention with their files, and a search for messages."""

from notifications.features.archive.admin import archive

__all__ = ["archive"]
