"""Pages for operators.

audiences, choices         saved audiences; choices of the audience builder
topics, recipient_lists    topics with subscribers; uploads and snapshots of recipients
"""

from notifications.features.audiences.admin import audiences, recipient_lists, topics

__all__ = ["audiences", "recipient_lists", "topics"]
