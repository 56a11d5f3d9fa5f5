"""Form field for countries, such as `DE, AT`."""

from __future__ import annotations

from typing import Any, Final

import phonenumbers
from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

_KNOWN: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
"""Countries with phone numbers."""


class CountriesField(forms.CharField):
    """Countries of phone numbers (ISO 3166-1 alpha-2), separated by commas."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored countries to text; return typed text unchanged."""
        return ", ".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare stored countries with typed text."""
        return super().has_changed(self.prepare_value(initial), data)

    def clean(self, value: Any) -> list[str]:  # noqa: ANN401 - Django's signature
        """Convert text to countries in alphabetical order.

        Raises:
            ValidationError: a country is unknown.
        """
        written = {each.strip().upper() for each in str(value or "").split(",") if each.strip()}
        unknown = sorted(written - _KNOWN)
        if unknown:
            raise ValidationError(f"Unknown countries: {', '.join(unknown)}. Write DE, AT.")
        return sorted(written)
