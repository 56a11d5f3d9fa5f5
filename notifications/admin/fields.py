"""Form fields for columns that hold several numbers, words or lines, or a small object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.rules.rate_limits import frequency_caps
from notifications.rules.times import local_time
from providers.contract import Channel


def several(
    choices: Iterable[tuple[Any, str]], *, help_text: str = ""
) -> forms.MultipleChoiceField:
    """Check boxes over an array of small numbers."""
    return forms.TypedMultipleChoiceField(
        choices=list(choices),
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=help_text,
    )


def known_zone(name: str) -> str:
    """A timezone's name as it is.

    Raises:
        ValidationError: the tz database knows none of this name.
    """
    if not local_time.is_zone(name):
        raise ValidationError("There is no such timezone. It reads like America/Sao_Paulo.")
    return name


class ChannelOrderField(forms.CharField):
    """An ordered list of channels, written `push, sms`."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Numbers from the row as names; what somebody typed as it is."""
        if isinstance(value, list):
            return ", ".join(Channel(number).label for number in value)
        return value

    def clean(self, value: Any) -> list[int]:  # noqa: ANN401 - Django's signature
        """Read names back.

        Raises:
            ValidationError: a name that is no channel, or one that stands there twice.
        """
        names = [name.strip() for name in str(value or "").split(",") if name.strip()]
        try:
            order = [int(Channel.from_label(name)) for name in names]
        except KeyError as error:
            known = ", ".join(channel.label for channel in Channel)
            raise ValidationError(f"{error.args[0].lower()} is none of {known}") from error
        if len(set(order)) != len(order):
            raise ValidationError("a channel stands there twice")
        return order


class CapsField(forms.CharField):
    """Caps by channel, written `sms 1/day, push 5/hour`."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """The row's object as a line; what somebody typed as it is."""
        if isinstance(value, dict):
            return ", ".join(f"{label} {text}" for label, text in value.items())
        return value

    def clean(self, value: Any) -> dict[str, str]:  # noqa: ANN401 - Django's signature
        """Read a line back.

        Raises:
            ValidationError: an item that is no channel with a cap, or a channel that stands there
            twice.
        """
        items = [item.split() for item in str(value or "").split(",") if item.strip()]
        try:
            written = dict(items)
        except ValueError as error:
            raise ValidationError("write it like sms 1/day, push 5/hour") from error
        if len(written) != len(items):
            raise ValidationError("a channel stands there twice")
        try:
            read = frequency_caps.parsed(written)
        except KeyError as error:
            raise ValidationError(f"{error.args[0].lower()} is no channel") from error
        except ValueError as error:
            raise ValidationError(str(error)) from error
        return {channel.label: str(cap) for channel, cap in read.items()}

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """The row's object against the typed line."""
        return super().has_changed(self.prepare_value(initial or {}), data)
