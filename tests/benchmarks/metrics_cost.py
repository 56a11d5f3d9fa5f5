"""[metrics_cost] What counting costs a delivery.

The whole pipeline as in [pipeline_http]. On one side the workers count and serve their metrics,
scraped every five seconds; on the other they count nothing. Web counts on both sides.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.benchmarks import costs, pipeline
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import VAR, WORKING, Stage

_COUNT: Final = 20_000
_TARGET: Final = 1.02
_WORKERS: Final = ("p0", "channels", "transactional", "ops", "beat")
_SETTING: Final = "NOTIFY_METRICS_LISTEN"
_SCRAPE_EVERY: Final = 5.0


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    first = free_port(f"{VAR}/metrics")
    ports = range(first, first + len(_WORKERS))
    spent = {name: costs.Meter() for name in ("warm", "counting", "none")}

    def microseconds(name: str, **settings: str) -> float:
        _restart_workers(stage, **settings)
        pipeline.rate(stage, spent["warm"], count=2_000)
        return 1e6 / pipeline.rate(stage, spent[name], count=_COUNT)

    def counting() -> float:
        with _scraping(ports):
            return microseconds("counting", **{_SETTING: f"{LOOPBACK}:{first}-{ports[-1]}"})

    try:
        microseconds("warm")
        found = paired(ours=counting, theirs=lambda: microseconds("none"))
    finally:
        _restart_workers(stage)
    cpu = [sum(spent[name].seconds.values()) for name in ("counting", "none")]
    return Figure(
        name="metrics_cost",
        value=found.ours,
        unit="us a delivery, workers count and are scraped",
        baseline="us a delivery, workers do not count",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET}x",
        met=found.ratio <= _TARGET,
        notes=(
            f"CPU of everything: {cpu[0] / cpu[1]:.3f}x",
            *(f"{name}: {spent[name].each(PAIRS * _COUNT)}" for name in ("counting", "none")),
        ),
    )


def _restart_workers(stage: Stage, **settings: str) -> None:
    stage.run(name for name in WORKING if name not in _WORKERS)
    with stage.settings(**settings):
        stage.run()


@contextmanager
def _scraping(ports: range) -> Iterator[None]:
    """Scrape every port three times as often as docs/grafana/prometheus.yml does."""
    over = threading.Event()

    def scrape() -> None:
        while not over.wait(_SCRAPE_EVERY):
            for port in ports:
                try:
                    with urlopen(f"http://{LOOPBACK}:{port}/metrics") as answer:
                        answer.read()
                except URLError:
                    continue  # its worker is starting

    thread = threading.Thread(target=scrape, name="scraper")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
