"""Form fields for columns that hold several numbers, words or lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from notifications.rules import local_time
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
