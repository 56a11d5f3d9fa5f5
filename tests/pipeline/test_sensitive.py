"""Sensitive variables: what is stored beside them does not give them away."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet

from notifications import conf
from notifications.models import IdempotencyKey
from notifications.pipeline.accept import Refused, Taken
from notifications.rules import request
from notifications.rules.problems import Kind, Problem
from notifications.store import vault
from tests.pipeline.conftest import Accept, Reach


def _hashes_without_a_key(code: str) -> set[bytes]:
    """What somebody can compute who has read the database and guesses the code."""
    asked = request.parse({
        "user_id": "maria",
        "type": "LIKE",
        "template_id": "otp",
        "variables": {"name": "Ana", "code": code},
        "channels": ["email"],
    })
    assert not isinstance(asked, Problem)
    body = request.canonical(asked).reveal()
    return {hashlib.blake2b(body, digest_size=16).digest(), hashlib.sha256(body).digest()[:16]}


def test_a_sensitive_variable_cannot_be_guessed_from_its_idempotency_key(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    assert isinstance(take(idempotency_key="k"), Taken)
    kept = bytes(IdempotencyKey.objects.get(key="k").body_hash)
    assert len(kept) == 16
    assert kept not in _hashes_without_a_key("4711")


def _rotated(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    settings = replace(conf.current(), encryption_keys=keys)
    monkeypatch.setattr(conf, "current", lambda: settings)
    vault.forget()


def test_an_idempotency_key_counts_across_a_change_of_the_encryption_key(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    old, new = conf.current().encryption_keys[0], Fernet.generate_key().decode()
    first = take(idempotency_key="k")
    try:
        _rotated(monkeypatch, new, old)
        again, other = take(idempotency_key="k"), take(idempotency_key="k", priority="P1")
    finally:
        monkeypatch.undo()
        vault.forget()
    assert isinstance(first, Taken)
    assert isinstance(again, Taken)
    assert (again.replayed, again.response) == (True, first.response)
    assert isinstance(other, Refused)
    assert other.problem.kind is Kind.KEY_REUSED
