"""The programs of published versions, kept in each process: a published version never changes."""

from __future__ import annotations

import functools

from notifications.core.rules.problems import Problem
from notifications.features.series.models import SeriesVersion
from notifications.features.series.rules import definition, program
from notifications.features.series.rules.program import Program


class UnreadableDefinition(Exception):
    """The stored definition is not valid in this release; publish a new version."""


@functools.lru_cache(maxsize=500)
def of_version(version_id: int) -> Program:
    """Return the program of a published version.

    Raises:
        UnreadableDefinition: the definition is not valid in this release.
    """
    stored = SeriesVersion.objects.values_list("definition", flat=True).get(pk=version_id)
    parsed = definition.parse(stored)
    if isinstance(parsed, Problem):
        raise UnreadableDefinition(parsed.detail)
    return program.compile_definition(parsed)
