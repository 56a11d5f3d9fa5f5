"""A fixture that compares the condition of a sweep with each run of the sweep in a test."""

from __future__ import annotations

import datetime as dt
import functools
import importlib
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Final, cast

import pytest
from django.db import Error

from notifications.core import clock, feature, sweeps
from notifications.core.sweeps import Sweep
from notifications.core.sweeps.rounds import Swept

RunOnce = Callable[..., Swept]
_SOON: Final = dt.timedelta(seconds=1)


@pytest.fixture(autouse=True)
def compared_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test in which a sweep changes a row while its condition says that there is no work."""
    paths = {each.name: each.run for app in feature.all_features() for each in app.sweeps}
    for sweep in sweeps.SWEEPS.values():
        if sweep.work is None:
            continue
        module, name = _place(sweep, paths)
        run_once = getattr(module, name)
        monkeypatch.setattr(module, name, _compared(sweep.name, run_once))


def _place(sweep: Sweep, paths: dict[str, str]) -> tuple[object, str]:
    """Return the module and the name of the function of a sweep."""
    if sweep.name in paths:
        module, _, name = paths[sweep.name].rpartition(".")
        return importlib.import_module(module), name
    function = cast("FunctionType", sweep.run_once)
    return sys.modules[function.__module__], function.__name__


def _compared(name: str, run_once: RunOnce) -> RunOnce:
    @functools.wraps(run_once)
    def run(*, now: dt.datetime, limit: int) -> Swept:
        had_work = _had_work(name)
        swept = run_once(now=now, limit=limit)
        # A test may play a later time; beat asks with the time of the clock.
        if now <= clock.now() + _SOON:
            assert had_work or not swept.moved, f"{name} changed rows, and had no work"
        return swept

    return run


def _had_work(name: str) -> bool:
    try:
        return name in sweeps.with_work({name})
    except Error:  # beat sends the task
        return True
