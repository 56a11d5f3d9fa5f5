"""Pages for operators.

audiences, choices   saved audiences, topics with subscribers; choices of the audience builder
name_search          the names with a typed text, for boxes of forms
recipient_lists      uploads and snapshots of recipients
"""

from notifications.features.audiences.admin import audiences, recipient_lists

__all__ = ["audiences", "recipient_lists"]
