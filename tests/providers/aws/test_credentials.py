"""Keys: from the settings, or from botocore's chain, and never looked up while a send waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from botocore.exceptions import MetadataRetrievalError, PartialCredentialsError

from providers.aws import credentials
from providers.aws.credentials import (
    LOOK_AGAIN_SECONDS,
    TRUSTED_SECONDS,
    Chain,
    Frozen,
    NoKeys,
)
from providers.aws.settings import Account
from providers.contract import Misconfigured, Unavailable
from providers.sandbox_server.wire import Connection, ServerAnswer, ServerRequest
from tests.providers.aws.fakes import ACCOUNT, KEY_ID, SECRET, TOKEN, json_answer
from tests.providers.fakes import Listener

SECOND = timedelta(seconds=1)


@dataclass
class Pair:
    access_key: str
    secret_key: str = SECRET
    token: str | None = None


class Seconds:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Counting:
    """A source whose keys are numbered by look; `gate` holds a look up."""

    def __init__(self) -> None:
        self.looks = 0
        self.gate = Event()
        self.gate.set()
        self.error: Exception | None = None

    def get_frozen_credentials(self) -> Frozen:
        assert self.gate.wait(30)
        self.looks += 1
        if self.error is not None:
            raise self.error
        return Pair(f"KEY{self.looks}")


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def source() -> Counting:
    return Counting()


@pytest.fixture
def chain(source: Counting, seconds: Seconds) -> Chain:
    return Chain(find=lambda: source, seconds=seconds)


def key(chain: Chain, *, patience: timedelta = 30 * SECOND) -> str:
    return chain.keys(patience=patience).access_key_id


def settled(chain: Chain) -> None:
    assert chain._looking is not None
    chain._looking.exception(timeout=30)


def test_nothing_is_looked_up_before_the_first_send(chain: Chain, source: Counting) -> None:
    assert source.looks == 0
    assert key(chain) == "KEY1"


def test_fresh_keys_are_used_without_a_look(
    chain: Chain, source: Counting, seconds: Seconds
) -> None:
    key(chain)
    seconds.now = LOOK_AGAIN_SECONDS - 1
    assert key(chain) == "KEY1"
    assert source.looks == 1


def test_older_keys_are_used_while_a_thread_looks_again(
    chain: Chain, source: Counting, seconds: Seconds
) -> None:
    key(chain)
    seconds.now = LOOK_AGAIN_SECONDS
    source.gate.clear()
    assert key(chain, patience=timedelta(0)) == "KEY1"
    source.gate.set()
    settled(chain)
    assert key(chain) == "KEY2"


def test_keys_of_an_idle_process_are_not_trusted(
    chain: Chain, source: Counting, seconds: Seconds
) -> None:
    key(chain)
    seconds.now = TRUSTED_SECONDS
    assert key(chain) == "KEY2"
    assert source.looks == 2


def test_a_look_that_hangs_costs_the_deadline_and_is_not_repeated(
    chain: Chain, source: Counting
) -> None:
    source.gate.clear()
    for _ in range(2):
        with pytest.raises(NoKeys) as refused:
            key(chain, patience=timedelta(milliseconds=20))
        assert refused.value.outcome == Unavailable(code="credentials", detail="no keys in time")
    source.gate.set()
    assert key(chain) == "KEY1"
    assert source.looks == 1


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MetadataRetrievalError(error_msg="no"), Unavailable(code="MetadataRetrievalError")),
        (FileNotFoundError("token"), Unavailable(code="FileNotFoundError")),
        (
            PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"),
            Misconfigured(code="PartialCredentialsError"),
        ),
    ],
)
def test_a_failed_look_is_an_outcome_and_is_tried_again(
    chain: Chain, source: Counting, error: Exception, outcome: Unavailable | Misconfigured
) -> None:
    source.error = error
    with pytest.raises(NoKeys) as refused:
        key(chain)
    assert refused.value.outcome == outcome
    source.error = None
    assert key(chain) == "KEY2"


def test_no_credentials_at_all_are_our_fault() -> None:
    with pytest.raises(NoKeys) as refused:
        key(Chain(find=lambda: None))
    assert isinstance(refused.value.outcome, Misconfigured)
    assert refused.value.outcome.code == "no_credentials"


def test_a_forked_child_looks_for_itself(chain: Chain) -> None:
    key(chain)
    child = os.fork()
    if child == 0:
        os._exit(0 if key(chain) == "KEY2" else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_keys_of_the_settings_are_used_as_they_are() -> None:
    account = Account(session_token=TOKEN, **ACCOUNT)  # type: ignore[arg-type] # texts
    keys = credentials.of(account).keys(patience=timedelta(0))
    assert (keys.access_key_id, keys.secret_access_key, keys.session_token) == (
        KEY_ID, SECRET, TOKEN,
    )  # fmt: skip


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No credentials in the environment, in files, or on the machine."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    return monkeypatch


def real() -> Chain:
    """The chain that a vendor without keys in its settings gets."""
    chain = credentials.of(Account(region="eu-west-1"))
    assert isinstance(chain, Chain)
    return chain


@pytest.mark.usefixtures("alone")
def test_botocores_chain_may_find_nothing() -> None:
    with pytest.raises(NoKeys, match="no_credentials"):
        key(real())


def test_botocores_chain_finds_a_profile(alone: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = ["[mail]", f"aws_access_key_id={KEY_ID}", f"aws_secret_access_key={SECRET}"]
    (tmp_path / "credentials").write_text("\n".join(lines))
    alone.setenv("AWS_PROFILE", "mail")
    assert key(real()) == KEY_ID


@pytest.fixture
def container(alone: pytest.MonkeyPatch) -> Iterator[Callable[[ServerAnswer], None]]:
    """The endpoint that a container's role is asked at; called with what it answers."""
    answers: list[ServerAnswer] = []

    def answer(_request: ServerRequest) -> ServerAnswer:
        return answers[-1]

    with closing(Listener(lambda: Connection(answer))) as listener:
        url = f"http://127.0.0.1:{listener.port}/role"
        alone.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
        yield answers.append


def test_botocores_chain_asks_for_a_containers_role(
    container: Callable[[ServerAnswer], None],
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)  # noqa: TID251 - botocore looks at the real time
    container(
        json_answer({
            "AccessKeyId": "ROLE",
            "SecretAccessKey": SECRET,
            "Token": TOKEN,
            "Expiration": later.isoformat(),
        })
    )
    keys = real().keys(patience=30 * SECOND)
    assert (keys.access_key_id, keys.session_token) == ("ROLE", TOKEN)
