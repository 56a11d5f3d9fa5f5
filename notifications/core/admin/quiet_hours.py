"""Form field for quiet hours, written as lines.

mon-fri 22:00-07:00
sat sun 23:00-10:00 push sms
12:30-13:30

A line has days, the window and channels. Without days the window applies every day, without
channels to all channels.
"""

from __future__ import annotations

from typing import Any, Final

import pydantic
from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget

from notifications.core.rules.times import quiet_hours
from notifications.core.rules.times.quiet_hours import WEEKDAYS, Weekday, Window

HELP: Final = (
    "One window per line, in the person's local time: days, from-to, channels, such as"
    " “mon-fri 22:00-07:00 push sms”. No days: every day. No channels: all."
)


class QuietHoursField(forms.CharField):
    """Quiet hours, a window per line."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored windows to lines; return typed text unchanged."""
        if isinstance(value, list):
            return "\n".join(_line(Window.model_validate(kept)) for kept in value)
        return value

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare stored windows with typed lines."""
        return super().has_changed(self.prepare_value(initial), data)

    def clean(self, value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - Django's signature
        """Convert lines to stored windows.

        Raises:
            ValidationError: a line is malformed, or the windows cover the whole week.
        """
        lines = [line for line in str(value or "").splitlines() if line.strip()]
        if len(lines) > quiet_hours.MAX_WINDOWS:
            raise ValidationError(f"More than {quiet_hours.MAX_WINDOWS} windows.")
        windows = [_window(line) for line in lines]
        try:
            quiet_hours.check(windows)
        except ValueError as error:
            raise ValidationError(f"Together they {error}.") from error
        return quiet_hours.to_json(windows)


def _line(window: Window) -> str:
    channels = (channel.label for channel in window.channels)
    return " ".join([*window.days, f"{window.start:%H:%M}-{window.end:%H:%M}", *channels])


def _window(line: str) -> Window:
    """Parse a line.

    Raises:
        ValidationError: the line is malformed; the message has the line and the cause.
    """
    words = line.lower().replace(",", " ").split()
    place = next((at for at, word in enumerate(words) if ":" in word), None)
    if place is None:
        raise ValidationError(f"“{line.strip()}” has no window like 22:00-07:00.")
    start, _, end = words[place].partition("-")
    try:
        return Window.model_validate({
            "days": [day for word in words[:place] for day in _days(word)],
            "start": start,
            "end": end,
            "channels": words[place + 1 :],
        })
    except pydantic.ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValidationError(f"“{line.strip()}”: {said}.") from error


def _days(word: str) -> list[str]:
    """Return the days of `mon` or `fri-mon`; the window rejects an unknown word later."""
    first, _, last = word.partition("-")
    if not last or first not in WEEKDAYS or last not in WEEKDAYS:
        return [word]
    begin, end = (WEEKDAYS.index(Weekday(name)) for name in (first, last))
    length = (end - begin) % len(WEEKDAYS) + 1
    return [WEEKDAYS[(begin + step) % len(WEEKDAYS)] for step in range(length)]
