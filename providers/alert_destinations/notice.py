"""The notice of an alert: the fields that a destination gets, and texts for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from providers.alert_destinations.destination import Destination
from providers.alert_destinations.events import NoticeEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A notice to a destination, without addresses, tokens and texts of messages."""

    id: UUID
    """The same at every try of the notice: a receiver drops repeats by it."""
    event: NoticeEvent
    destination: Destination
    incident: str
    """The same for all notices of an alert, at every destination."""
    kind: str
    title: str
    subject: str
    severity: str
    """`page` or `ticket`."""
    detail: str
    meaning: str
    owner: str
    raised_at: datetime
    at: datetime
    """Time of the event."""
    source: str
    """Host of the installation."""
    url: str
    cause_url: str
    runbook_url: str

    @property
    def headline(self) -> str:
        """Return the first line: `Resolved: A provider refuses our account: ses`."""
        what = f"{self.title}: {self.subject}" if self.subject else self.title
        match self.event:
            case NoticeEvent.RAISED:
                return f"{self.severity.capitalize()}: {what}"
            case NoticeEvent.REMINDED:
                return f"Still open: {what}"
            case NoticeEvent.ACKNOWLEDGED:
                return f"Acknowledged: {what}"
            case NoticeEvent.RESOLVED:
                return f"Resolved: {what}"
            case NoticeEvent.TEST:
                return f"Test: {what}"

    @property
    def text(self) -> str:
        """Return the text for mail and chat."""
        lines = [self.detail, self.meaning, f"Open since {self.raised_at:%Y-%m-%d %H:%M} UTC."]
        if self.owner:
            lines.append(f"Owner: {self.owner}")
        lines.append(f"Alert: {self.url}")
        if self.cause_url:
            lines.append(f"Cause: {self.cause_url}")
        lines += [f"Runbook: {self.runbook_url}", f"Installation: {self.source}"]
        return "\n".join(lines)
