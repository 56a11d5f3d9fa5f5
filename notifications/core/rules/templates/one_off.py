"""One-off templates: the text that a person writes for one bulk job.

A one-off template has one version and the id of its job in its name. It is a template like any
other for rendering, pages of messages and retention; lists of templates leave it out. Only
`store.templates.versions.publish_once` makes one: a template of another author under such a name
would be in no list.
"""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

PATTERN: Final = r"^one-off-[0-9a-f]{32}$"
"""Regular expression of the names, for Python and PostgreSQL."""
RESERVED: Final = "this name belongs to the text of a bulk job; choose another name"
"""The fault of another template with such a name."""


def name_of(job_id: UUID) -> str:
    """Return the name of the one-off template of a bulk job."""
    return f"one-off-{job_id.hex}"


def label(template_id: str) -> str:
    """Return the name of a template, or for a one-off template `the text of the bulk job`."""
    return "the text of the bulk job" if is_one_off(template_id) else template_id


def described(template_id: str) -> str:
    """Return `template winter_sale`, or for a one-off template `the text of the bulk job`."""
    return label(template_id) if is_one_off(template_id) else f"template {template_id}"


def is_one_off(template_id: str) -> bool:
    """Return True for the name of a one-off template."""
    return re.fullmatch(PATTERN, template_id) is not None


def check_name(template_id: str) -> str:
    """Return the name of a template of an author.

    Raises:
        ValueError: the name is one of a one-off template.
    """
    if is_one_off(template_id):
        raise ValueError(RESERVED)
    return template_id
