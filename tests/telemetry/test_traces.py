"""Without an endpoint the tracing of OpenTelemetry is not imported."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest

_PROGRAM: Final = """
import sys
from notifyproj.celery import app
app.loader.import_default_modules()
from notifications.core.telemetry import traces
traces.start()
print(traces.are_on(), any(name.startswith("opentelemetry.sdk.trace") for name in sys.modules))
print(traces.is_sampled("00-" + "a" * 32 + "-" + "b" * 16 + "-01"),
      traces.is_sampled("00-" + "a" * 32 + "-" + "b" * 16 + "-00"), traces.is_sampled(""))
"""
_ENDPOINT: Final = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}


@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        ({}, ["False False", "False False False"]),
        (_ENDPOINT, ["True True", "True False False"]),
        ({**_ENDPOINT, "OTEL_SDK_DISABLED": "true"}, ["False False", "False False False"]),
    ],
)
def test_an_endpoint_switches_spans_on(environ: dict[str, str], shown: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == shown
