"""One running product for all scenarios, mended before each: what one test killed runs again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import Final

import pytest

from tests import clock
from tests.providers.fakes import HttpFake
from tests.scenarios.settings import PRIVATE_WEBHOOKS
from tests.scenarios.world import WORKERS, World

_SHOWS_REPEATS: Final = "provider_shows_repeats"
_WITHOUT_WORLD: Final = frozenset({"test_all_in_one", "test_compose_processes"})
"""The modules that kill the processes of the others."""
_RUNNING: Final = pytest.StashKey[World]()
_OFFSET: Final = pytest.StashKey[float]()
_STEP: Final = 1.0
"""Seconds."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember the machine's clock: scenarios compare times of several processes."""
    item.stash[_OFFSET] = clock.offset()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a failure as skipped if somebody set the machine's clock during the test.

    A virtual machine that was paused, for example, sets its clock once it runs again.
    """
    report = yield
    step = clock.offset() - item.stash.get(_OFFSET, clock.offset())
    if report.failed and abs(step) > _STEP:
        report.outcome = "skipped"
        said = f"the machine's clock was set by {step:.1f} s. {report.longreprtext}"
        report.longrepr = (str(item.path), item.location[1] or 0, said)
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put those with other settings last and in a row, so that processes are seldom restarted."""
    items.sort(
        key=lambda item: (
            item.path.stem in _WITHOUT_WORLD,
            _shows_repeats(item),
            "webhook_world" in item.fixturenames,  # type: ignore[attr-defined]  # of a function
        )
    )


def _shows_repeats(item: pytest.Item | pytest.FixtureRequest) -> bool:
    return _SHOWS_REPEATS in getattr(item, "fixturenames", ())


@pytest.fixture(scope="module")
def _world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return the product, which ends with this folder: idle, it takes a quarter of a core."""
    folder: pytest.Collector = request.node.parent
    if _RUNNING not in folder.stash:
        with ExitStack() as ends:
            # Its own servers, with fsync: what they lose, production would lose.
            stack = ends.enter_context(clock.stack("scenarios", environ={}))
            world = World(stack, var=tmp_path_factory.mktemp("scenarios"))
            ends.callback(folder.stash.__delitem__, _RUNNING)  # the run may come back to the folder
            ends.callback(world.stop)
            world.set_up()
            folder.stash[_RUNNING] = world
            folder.addfinalizer(ends.pop_all().close)
    return folder.stash[_RUNNING]


@pytest.fixture
def world(_world: World, request: pytest.FixtureRequest) -> World:
    _world.repair(*WORKERS, **({"NOTIFY_SANDBOX_DEDUP": "no"} if _shows_repeats(request) else {}))
    return _world


@pytest.fixture
def webhook_world(_world: World, request: pytest.FixtureRequest) -> World:
    """The product, which may send webhooks to this machine."""
    shows = {"NOTIFY_SANDBOX_DEDUP": "no"} if _shows_repeats(request) else {}
    _world.repair("web", *WORKERS, **PRIVATE_WEBHOOKS, **shows)
    return _world


@pytest.fixture
def receiver(webhook_world: World) -> Iterator[HttpFake]:
    """The server of a producer, and the endpoint for it."""
    world = webhook_world
    with closing(HttpFake(key_header="webhook-id")) as fake:
        [endpoint] = world.rows(
            "INSERT INTO webhook_endpoint (producer_id, mode, url, events, preset, state,"
            " state_reason, failures, secret_version, replay_xid, replay_seq, replay_end,"
            " created_at) SELECT id, 1, %s, '{}', 'standard', 'active', '', 0, 1, 0, 0, 0, now()"
            " FROM notifications_producer WHERE name = 'order-service' RETURNING id",
            fake.url,
        )
        yield fake
        world.rows("DELETE FROM webhook_endpoint WHERE id = %s", endpoint["id"])


@pytest.fixture
def provider_shows_repeats() -> None:
    """The provider knows no keys: a message that it gets twice is seen twice (see `world`)."""
