"""Faults of an audience expression, with places."""

from __future__ import annotations

from dataclasses import dataclass

from notifications.core.rules.problems import FieldError, Kind, Problem


class ExpressionError(ValueError):
    """The value is not an audience expression: correct the value at the pointer."""

    def __init__(self, error: FieldError) -> None:
        """Store the fault; the pointer begins at the expression."""
        super().__init__(f"{error.pointer}: {error.detail}" if error.pointer else error.detail)
        self.error = error

    def problem(self, *, within: str = "") -> Problem:
        """Return the fault as a problem of a request.

        Args:
            within: JSON pointer of the expression in the body.
        """
        error = FieldError(within + self.error.pointer, self.error.detail)
        return Problem(Kind.INVALID, f"{error.pointer or 'the body'}: {error.detail}", (error,))


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value inside an expression, as a JSON pointer."""

    pointer: str = ""

    def at(self, part: str | int) -> Place:
        """Return the place of a field or item below."""
        text = str(part)[:64].replace("\0", "\ufffd").replace("~", "~0").replace("/", "~1")
        return Place(f"{self.pointer}/{text}")

    def error(self, detail: str) -> ExpressionError:
        """Return an error at the place, to raise."""
        return ExpressionError(FieldError(self.pointer, detail))
