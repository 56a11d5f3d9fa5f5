"""No code needs a session of Postgres for longer than a transaction, as a pooler requires."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings

_ROOT: Final = Path(__file__).resolve().parents[2]
_FOLDERS: Final = ("notifications", "notifyproj", "providers")
_SQL: Final = {
    "a setting of the session: use SET LOCAL": r"^\s*(RE)?SET\s+(?!LOCAL\b|TRANSACTION\b)",
    "a setting of the session: the third argument is true": r"\bset_config\([^()]*,\s*false\s*\)",
    "a lock of the session: use pg_advisory_xact_lock": r"\bpg_(try_)?advisory_(un)?lock",
    "LISTEN": r"^\s*(UN)?LISTEN\b",
    "a temporary table": r"\bTEMP(ORARY)?\s+(TABLE|VIEW|SEQUENCE)\b",
    "a cursor of the server": r"\bDECLARE\s+\S+\s+[A-Z ]*CURSOR\b|\bWITH\s+HOLD\b",
    "a prepared statement": r"^\s*(PREPARE|DEALLOCATE)\s",
    "DISCARD": r"^\s*DISCARD\s",
}
"""Forbidden feature -> its pattern in a statement."""
_NAMES: Final = {
    "iterator": "QuerySet.iterator: read by pages of the key",
    "ServerCursor": "a cursor of the server",
    "chunked_cursor": "a cursor of the server",
    "prepare_threshold": "prepared statements",
    "notifies": "LISTEN",
    "add_notify_handler": "LISTEN",
}
"""Attribute in Python -> what it needs."""
_EXEMPT: Final = {
    "notifications/core/migrations/": "`migrate` connects without a pooler, as docs/deploy.md says",
    "notifications/core/store/postgres/session_settings.py": "`migrate` alone stores them",
}
"""Beginning of a path -> why its statements may need their session later."""


def _statements(text: str) -> Iterator[str]:
    """Return the statements of a SQL text, without comments."""
    yield from re.sub(r"--[^\n]*", "", text).split(";")


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _faults_in_sql(text: str) -> Iterator[str]:
    for statement in _statements(text):
        for what, pattern in _SQL.items():
            if re.search(pattern, statement):
                yield what


def _faults_in_python(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for each in _strings(tree):
        yield from _faults_in_sql(each)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _NAMES:
            yield _NAMES[node.attr]
        elif isinstance(node, ast.keyword) and node.arg in _NAMES:
            yield _NAMES[node.arg]


def _files() -> Iterator[Path]:
    for folder in _FOLDERS:
        yield from sorted((_ROOT / folder).rglob("*.py"))
        yield from sorted((_ROOT / folder).rglob("*.sql"))


def test_no_statement_needs_its_session_later() -> None:
    found: dict[str, set[str]] = {}
    for file in _files():
        faults = _faults_in_python if file.suffix == ".py" else _faults_in_sql
        if told := set(faults(file.read_text())):
            found[file.relative_to(_ROOT).as_posix()] = told
    others = {name: told for name, told in found.items() if not name.startswith(tuple(_EXEMPT))}
    assert others == {}


def test_django_opens_no_cursor_of_the_server() -> None:
    assert settings.DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] is True


@pytest.mark.parametrize(
    "text",
    [
        "SET statement_timeout = 0",
        "-- wait\nSELECT 1; RESET lock_timeout",
        "SELECT set_config('jit', 'off', false)",
        "SELECT pg_try_advisory_lock(1)",
        "LISTEN changes",
        "CREATE TEMP TABLE t (a int)",
        "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1",
        "PREPARE p AS SELECT 1",
    ],
)
def test_a_statement_that_needs_its_session_is_found(text: str) -> None:
    assert list(_faults_in_sql(text))
    assert list(_faults_in_python(f"running.execute({text!r})"))


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t\nSET a = 1",
        "SET LOCAL work_mem = '1MB'",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "SELECT set_config('statement_timeout', '1', true)",
        "SELECT pg_advisory_xact_lock(1)",
    ],
)
def test_a_statement_that_ends_with_its_transaction_is_allowed(text: str) -> None:
    assert not list(_faults_in_sql(text))


def test_a_cursor_of_django_is_found() -> None:
    assert list(_faults_in_python("rows.values_list('id').iterator()"))
