"""Variables of a request: refuse missing and wrong variables, and warn of unknown variables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from notifications.core.rules import request_faults
from notifications.core.rules.language import variables
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.templates.template_cache import TemplateVersion
from providers.contract import Channel


def needed(template: TemplateVersion, wanted: Collection[Channel]) -> frozenset[str] | None:
    """Return the variables that the texts of channels need; None: the template declares its own."""
    if template.declared:
        return None
    return frozenset().union(*(template.needed[channel] for channel in wanted))


def mistakes(
    template: TemplateVersion, wanted: Collection[Channel], given: Mapping[str, Any]
) -> Iterable[tuple[str, str]]:
    """List wrong variables with a sentence: by declaration, or missing in the texts of channels."""
    names = needed(template, wanted)
    if names is None:
        return variables.mistakes(template.declared, given)
    missing = names - given.keys()
    return [
        (name, "the template needs this variable, and it is missing") for name in sorted(missing)
    ]


def problem(
    template: TemplateVersion, channels: Sequence[Channel], given: Mapping[str, Any]
) -> Problem | None:
    """Return the problem of the variables for channels; no channels: those of the texts."""
    wrong = [
        FieldError(f"/variables/{name}", detail)
        for name, detail in mistakes(template, channels or list(template.texts), given)
    ]
    if not wrong:
        return None
    detail = f"{wrong[0].pointer}: {wrong[0].detail}"
    errors = tuple([*wrong, *unknown(template, given)][: request_faults.MAX_ERRORS])
    return Problem(Kind.INVALID, detail, errors)


def unknown(template: TemplateVersion, given: Mapping[str, Any]) -> list[FieldError]:
    """Return a warning for each variable that no text uses, with a similar name if any."""
    if template.mentioned is None:
        return []
    surplus = given.keys() - template.mentioned
    if not surplus:
        return []
    free = template.mentioned - given.keys()
    return [
        FieldError(
            f"/variables/{name}",
            f"no text of the template uses this variable{request_faults.did_you_mean(name, free)}",
        )
        for name in sorted(surplus)[: request_faults.MAX_ERRORS]
    ]
