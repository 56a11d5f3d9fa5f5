"""Kinds and states of recipient lists."""

from __future__ import annotations

from enum import StrEnum


class ListKind(StrEnum):
    """The origin of a recipient list."""

    UPLOAD = "upload"
    """A file of user ids, with variables of each recipient."""
    SNAPSHOT = "snapshot"
    """The recipients of an audience expression at one time."""


class ListState(StrEnum):
    """State of a recipient list."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    """The loading ended early; a sweep removes the members."""
