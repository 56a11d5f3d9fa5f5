"""Form field for origins of web pages, one a line."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget

from notifications.core.rules import origins

_MOST: Final = 100
"""Origins of a producer."""


class OriginsField(forms.CharField):
    """Origins of web pages, such as `https://shop.example`, one a line."""

    widget = UnfoldAdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Convert stored origins to lines; return typed text unchanged."""
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:  # noqa: ANN401 - Django's signature
        """Compare stored origins with typed lines."""
        return super().has_changed(self.prepare_value(initial), data)

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
        if len(wanted) > _MOST:
            raise ValidationError(f"More than {_MOST} origins.")
        return wanted
