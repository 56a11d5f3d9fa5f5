"""Form fields for array columns, small JSON objects, countries and origins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar, Final

import orjson
import phonenumbers
import pydantic
from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from notifications.core.rules import origins
from notifications.core.rules.prices import MICROS
from notifications.core.rules.rate_limits import frequency_caps
from notifications.core.rules.times import local_time, quiet_hours
from notifications.core.rules.times.quiet_hours import WEEKDAYS, Weekday, Window
from providers.contract import Channel

_MOST_DOLLARS: Final = 1_000_000_000

_KNOWN_COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
"""Countries with phone numbers."""

_MOST_ORIGINS: Final = 100
"""Origins of a producer."""

QUIET_HOURS_HELP: Final = (
    "One window per line, in the person's local time: days, from-to, channels, such as"
    " “mon-fri 22:00-07:00 push sms”. No days: every day. No channels: all."
)


class DollarsField(forms.DecimalField):
    """An amount in US dollars, stored as whole microdollars."""

    def __init__(self, *, label: str, help_text: str) -> None:
        """Create the field; six decimal places are one microdollar."""
        super().__init__(
            label=label,
            help_text=help_text,
            min_value=0,
            max_value=_MOST_DOLLARS,
            decimal_places=6,
            widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
        )

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Return the dollars of stored microdollars; an entered text stays."""
        return f"{Decimal(value) / MICROS:f}" if isinstance(value, int) else value

    def clean(self, value: Any) -> int:  # noqa: ANN401 - Django's signature
        """Return microdollars.

        Raises:
            ValidationError: the text is no amount, negative, too large or too precise.
        """
        return int(super().clean(value) * MICROS)

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Return True if the entered amount differs from the stored one."""
        return bool(super().has_changed(self.prepare_value(initial), data))


class _WordsField(forms.CharField):
    """A stored list of words as a text."""

    separator: ClassVar[str]

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored words to a text; return a typed text unchanged."""
        return self.separator.join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare stored words with a typed text."""
        return super().has_changed(self.prepare_value(initial), data)


class CountriesField(_WordsField):
    """Countries of phone numbers (ISO 3166-1 alpha-2), separated by commas."""

    widget = UnfoldAdminTextInputWidget
    separator = ", "

    def clean(self, value: Any) -> list[str]:  # noqa: ANN401 - Django's signature
        """Convert text to countries in alphabetical order.

        Raises:
            ValidationError: a country is unknown.
        """
        written = {each.strip().upper() for each in str(value or "").split(",") if each.strip()}
        unknown = sorted(written - _KNOWN_COUNTRIES)
        if unknown:
            raise ValidationError(f"Unknown countries: {', '.join(unknown)}. Write DE, AT.")
        return sorted(written)


class OriginsField(_WordsField):
    """Origins of web pages, such as `https://shop.example`, one a line."""

    widget = UnfoldAdminTextareaWidget
    separator = "\n"

    def clean(self, value: Any) -> list[str]:  # noqa: ANN401 - Django's signature
        """Convert lines to origins.

        Raises:
            ValidationError: a line is no origin, or `*` is not alone.
        """
        lines = [line for line in str(value or "").splitlines() if line.strip()]
        try:
            wanted = list(dict.fromkeys(origins.normalize(line) for line in lines))
        except ValueError as error:
            raise ValidationError(f"{error}.") from error
        if origins.EVERY in wanted and len(wanted) > 1:
            raise ValidationError("* permits every origin: write it alone, or leave it out.")
        if len(wanted) > _MOST_ORIGINS:
            raise ValidationError(f"More than {_MOST_ORIGINS} origins.")
        return wanted


def several(
    choices: Iterable[tuple[Any, str]], *, help_text: str = ""
) -> forms.MultipleChoiceField:
    """Return checkboxes for an array of small numbers."""
    return forms.TypedMultipleChoiceField(
        choices=list(choices),
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=help_text,
    )


def clean_timezone_name(name: str) -> str:
    """Return the name of a timezone unchanged.

    Raises:
        ValidationError: the tz database has no such timezone.
    """
    if not local_time.is_zone(name):
        raise ValidationError("Unknown IANA timezone. Use a name such as America/Sao_Paulo.")
    return name


class ChannelSelects(forms.Widget):
    """A select for each place of an order of channels; an empty select is no place."""

    def render(
        self,
        name: str,
        value: Any,  # noqa: ANN401 - Django's signature
        attrs: Mapping[str, Any] | None = None,
        renderer: Any = None,  # noqa: ANN401 - Django's signature
    ) -> SafeString:
        """Return the selects; the first has the id of the field, which the label names."""
        labels = [channel.label for channel in Channel]
        chosen = [str(each) for each in value or ()]
        first = (attrs or {}).get("id", f"id_{name}")
        selects = []
        for place, label in enumerate([*chosen, *[""] * (len(labels) - len(chosen))]):
            known = labels if label in {*labels, ""} else [*labels, label]
            choices = [("", "-"), *((each, each) for each in known)]
            own = {
                "id": f"{first}_{place}" if place else first,
                "aria-label": f"Channel {place + 1}",
            }
            select = UnfoldAdminSelectWidget(choices=choices)
            selects.append(select.render(name, label, own, renderer))
        return format_html(
            '<div class="nc-order">{}</div>', format_html_join("", "{}", ((s,) for s in selects))
        )

    def value_from_datadict(
        self,
        data: Any,  # noqa: ANN401 - Django's signature
        files: Any,  # noqa: ANN401, ARG002 - Django's signature
        name: str,
    ) -> list[str]:
        """Return the chosen names in order; `push, sms` counts as two names."""
        given = data.getlist(name) if hasattr(data, "getlist") else data.get(name) or []
        texts = [given] if isinstance(given, str) else given
        words = [word.strip() for text in texts for word in str(text).split(",")]
        return [word for word in words if word]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:  # noqa: ANN401, ARG002 - Django's signature
        """Return True if the form has no such field."""
        return name not in data


class ChannelOrderField(forms.Field):
    """An ordered list of channels, as selects."""

    widget = ChannelSelects
    hidden_widget = forms.MultipleHiddenInput

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored numbers to names; return chosen names unchanged."""
        return [each if isinstance(each, str) else Channel(each).label for each in value or ()]

    def clean(self, value: Any) -> list[int]:  # noqa: ANN401 - Django's signature
        """Convert names to numbers.

        Raises:
            ValidationError: a name is unknown or repeated.
        """
        try:
            order = [int(Channel.from_label(name)) for name in value or ()]
        except KeyError as error:
            known = ", ".join(channel.label for channel in Channel)
            raise ValidationError(
                f"unknown channel {error.args[0].lower()}; use one of {known}"
            ) from error
        if len(set(order)) != len(order):
            raise ValidationError("a channel is repeated")
        return order

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare the stored channels with the chosen ones."""
        return bool(self.prepare_value(initial) != list(data or ()))


class CapsField(forms.CharField):
    """Frequency caps by channel, written `sms 1/day, push 5/hour`."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert the stored object to a line; return typed text unchanged."""
        if isinstance(value, dict):
            return ", ".join(f"{label} {text}" for label, text in value.items())
        return value

    def clean(self, value: Any) -> dict[str, str]:  # noqa: ANN401 - Django's signature
        """Convert a line to an object.

        Raises:
            ValidationError: an item is malformed, or a channel is unknown or repeated.
        """
        items = [item.split() for item in str(value or "").split(",") if item.strip()]
        try:
            written = dict(items)
        except ValueError as error:
            raise ValidationError("use the form: sms 1/day, push 5/hour") from error
        if len(written) != len(items):
            raise ValidationError("a channel is repeated")
        try:
            read = frequency_caps.parse_all(written)
        except KeyError as error:
            raise ValidationError(f"unknown channel {error.args[0].lower()}") from error
        except ValueError as error:
            raise ValidationError(str(error)) from error
        return {channel.label: str(cap) for channel, cap in read.items()}

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare the stored object with the typed line."""
        return super().has_changed(self.prepare_value(initial or {}), data)


class TopicsOffField(forms.CharField):
    """Topics that are off by channel, written `email: orders LIKE, push: social`."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert the stored object to a line; return typed text unchanged."""
        if isinstance(value, dict):
            return ", ".join(f"{label}: {' '.join(topics)}" for label, topics in value.items())
        return value

    def clean(self, value: Any) -> dict[str, list[str]]:  # noqa: ANN401 - Django's signature
        """Convert a line to an object.

        Raises:
            ValidationError: an item is malformed, or a channel is unknown or repeated.
        """
        topics: dict[str, list[str]] = {}
        for item in filter(str.strip, str(value or "").split(",")):
            label, _, names = (part.strip() for part in item.partition(":"))
            if label.upper() not in Channel.__members__:
                raise ValidationError(f"unknown channel {label}; write email: orders LIKE")
            if label in topics:
                raise ValidationError(f"the channel {label} is repeated")
            if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}(\s+[A-Za-z0-9_.:-]{1,64})*", names):
                raise ValidationError(f"after {label}: write categories or types with spaces")
            topics[label] = sorted(set(names.split()))
        return topics

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare the stored object with the typed line."""
        return super().has_changed(self.prepare_value(initial or {}), data)


def parse_object(text: str) -> dict[str, Any]:
    """Return the object of a JSON text; an empty object for an empty text.

    NaN, infinity and half of a surrogate pair are refused, as in requests of the API.

    Raises:
        ValidationError: the text is no JSON object.
    """
    if not text.strip():
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValidationError(f"This is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValidationError('Write a JSON object, such as {"name": "value"}.')
    return value


class QuietHoursField(forms.CharField):
    """Quiet hours, a window per line."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored windows to lines; return typed text unchanged."""
        if isinstance(value, list):
            return "\n".join(_quiet_line(Window.model_validate(kept)) for kept in value)
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
        windows = [_quiet_window(line) for line in lines]
        try:
            quiet_hours.check(windows)
        except ValueError as error:
            raise ValidationError(f"Together they {error}.") from error
        return quiet_hours.to_json(windows)


def _quiet_line(window: Window) -> str:
    channels = (channel.label for channel in window.channels)
    return " ".join([*window.days, f"{window.start:%H:%M}-{window.end:%H:%M}", *channels])


def _quiet_window(line: str) -> Window:
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
            "days": [day for word in words[:place] for day in _quiet_days(word)],
            "start": start,
            "end": end,
            "channels": words[place + 1 :],
        })
    except pydantic.ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValidationError(f"“{line.strip()}”: {said}.") from error


def _quiet_days(word: str) -> list[str]:
    """Return the days of `mon` or `fri-mon`; the window rejects an unknown word later."""
    first, _, last = word.partition("-")
    if not last or first not in WEEKDAYS or last not in WEEKDAYS:
        return [word]
    begin, end = (WEEKDAYS.index(Weekday(name)) for name in (first, last))
    length = (end - begin) % len(WEEKDAYS) + 1
    return [WEEKDAYS[(begin + step) % len(WEEKDAYS)] for step in range(length)]
