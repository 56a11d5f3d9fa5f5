"""Form fields for array columns and small JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications.core.rules.prices import MICROS
from notifications.core.rules.rate_limits import frequency_caps
from notifications.core.rules.times import local_time
from providers.contract import Channel

_MOST_DOLLARS: Final = 1_000_000_000


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

    Raises:
        ValidationError: the text is no JSON object.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"This is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValidationError('Write a JSON object, such as {"name": "value"}.')
    return value
