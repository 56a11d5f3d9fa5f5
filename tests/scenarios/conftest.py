"""One running product for all scenarios, mended before each: what one test killed runs again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import clock
from tests.scenarios.world import World


@pytest.fixture(scope="session")
def _world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    # Its own servers, with fsync: what they lose, production would lose.
    with clock.stack("scenarios", environ={}) as stack:
        world = World(stack, var=tmp_path_factory.mktemp("scenarios"))
        try:
            world.set_up()
            yield world
        finally:
            world.stop()


@pytest.fixture
def world(_world: World) -> World:
    _world.repair()
    return _world


@pytest.fixture
def provider_shows_repeats(world: World) -> Iterator[None]:
    """The provider knows no keys: a message that it gets twice is seen twice."""
    world.restart_workers(NOTIFY_SANDBOX_DEDUP="no")
    yield
    world.restart_workers()
