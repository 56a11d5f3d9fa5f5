"""The inbox on pages for operators: the page of an inbox, and parts of other pages.

page         a recipient's inbox as the recipient sees it
recipients   the link to that page on the page of a recipient
parts        the counts on the page of a recipient, and the state on the page of a message
"""

from notifications.features.inbox.admin import recipients

__all__ = ["recipients"]
