"""Signing keys: keys of the settings, or keys that botocore's chain finds.

The chain may ask the machine's metadata service or STS, so a background thread runs the
chain, and a send uses the last result:

    age of the last look   a send
    under a minute         takes the keys
    under five minutes     takes the keys, and starts a new look
    older, or none yet     waits for the thread, within the send's deadline

botocore itself renews keys 15 minutes before they expire and insists 10 minutes before, so keys
from a look five minutes ago are good for another five minutes. A clock that is wrong by minutes
breaks the guarantee, and breaks signatures too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import Final, Protocol

from providers.aws.settings import Account
from providers.contract import Misconfigured, Unavailable

LOOK_AGAIN_SECONDS: Final = 60.0
TRUSTED_SECONDS: Final = 300.0
"""Half of botocore's mandatory refresh window."""

METADATA_TIMEOUT_SECONDS: Final = 2
"""The metadata service is on the same machine; botocore's own default is one second."""
STS_TIMEOUT_SECONDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A key pair at a moment."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


class NoKeys(Exception):
    """No credentials are available, so nothing was sent; carries the outcome of every message."""

    def __init__(self, outcome: Misconfigured | Unavailable) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class Credentials(Protocol):
    """Source of keys. Thread-safe."""

    def keys(self, *, patience: timedelta) -> Keys:
        """Return keys that are valid for minutes; wait at most `patience`.

        Raises:
            NoKeys: no keys exist, or the keys did not come in time.
        """


@dataclass(frozen=True, slots=True)
class Fixed:
    """The keys of the settings."""

    held: Keys

    def keys(self, *, patience: timedelta) -> Keys:
        """See `Credentials.keys`: never waits, never raises."""
        del patience
        return self.held


class Frozen(Protocol):
    """botocore's `ReadOnlyCredentials`."""

    access_key: str
    secret_key: str
    token: str | None


class Source(Protocol):
    """botocore's `Credentials`: an access renews expiring keys, with I/O."""

    def get_frozen_credentials(self) -> Frozen:
        """Return the current keys; raises botocore's errors."""


class Chain:
    """Keys from botocore's chain; see the module."""

    def __init__(
        self,
        *,
        find: Callable[[], Source | None] | None = None,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        """Make no look-up yet. `find` returns None if no credentials exist."""
        self._find = find or _find
        self._seconds = seconds
        self._start_afresh()
        os.register_at_fork(after_in_child=self._start_afresh)

    def keys(self, *, patience: timedelta) -> Keys:
        """See `Credentials.keys`.

        Raises:
            NoKeys: the chain has none, or did not answer in time.
        """
        last = self._last
        age = self._seconds() - last[1] if last else TRUSTED_SECONDS
        if last and age < LOOK_AGAIN_SECONDS:
            return last[0]
        look = self._look_again()
        if last and age < TRUSTED_SECONDS:
            return last[0]
        try:
            return look.result(timeout=patience.total_seconds())
        except TimeoutError:
            raise NoKeys(Unavailable(code="credentials", detail="no keys in time")) from None

    def _start_afresh(self) -> None:
        """Start with a new thread and lock: a fork kills threads and may copy a held lock."""
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aws-credentials")
        self._source: Source | None = None
        self._last: tuple[Keys, float] | None = None
        self._looking: Future[Keys] | None = None

    def _look_again(self) -> Future[Keys]:
        with self._lock:
            if self._looking is None or self._looking.done():
                self._looking = self._thread.submit(self._look)
            return self._looking

    def _look(self) -> Keys:
        """Run in the thread.

        Raises:
            NoKeys: with botocore's message.
        """
        from botocore import exceptions as boto  # noqa: PLC0415 - it costs 10 MiB

        began = self._seconds()
        passing = (
            boto.HTTPClientError,
            boto.MetadataRetrievalError,
            boto.CredentialRetrievalError,
            OSError,  # a web identity's token file that is being replaced
        )
        try:
            self._source = self._source or self._find()
            frozen = self._source.get_frozen_credentials() if self._source else None
        except passing as error:
            raise NoKeys(Unavailable(code=type(error).__name__)) from None
        except (boto.BotoCoreError, boto.ClientError) as error:
            raise NoKeys(Misconfigured(code=type(error).__name__)) from None
        if frozen is None:
            detail = "no key in the settings, and none in botocore's chain"
            raise NoKeys(Misconfigured(code="no_credentials", detail=detail))
        keys = Keys(
            access_key_id=frozen.access_key,
            secret_access_key=frozen.secret_key,
            session_token=frozen.token or "",
        )
        self._last = (keys, began)
        return keys


def of(account: Account) -> Credentials:
    """Return the credentials chosen by the settings."""
    if not account.access_key_id:
        return Chain()
    return Fixed(
        Keys(
            access_key_id=account.access_key_id,
            secret_access_key=account.secret_access_key,
            session_token=account.session_token,
        )
    )


def _find() -> Source | None:
    from botocore.config import Config  # noqa: PLC0415 - it costs 10 MiB
    from botocore.session import Session  # noqa: PLC0415 - it costs 10 MiB

    # At DEBUG its parsers log whole answers, and the answer of STS is a key.
    logging.getLogger("botocore").setLevel(logging.INFO)
    session = Session()
    session.set_config_variable("metadata_service_timeout", METADATA_TIMEOUT_SECONDS)
    session.set_default_client_config(
        Config(
            connect_timeout=STS_TIMEOUT_SECONDS,
            read_timeout=STS_TIMEOUT_SECONDS,
            retries={"total_max_attempts": 1, "mode": "standard"},
        )
    )
    found: Source | None = session.get_credentials()
    return found
