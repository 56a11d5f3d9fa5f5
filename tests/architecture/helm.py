"""Helm's own rendering of the chart, by the Go library in the wheel `helm-python-sdk`.

The library runs in a process of its own, because a Go runtime does not survive a fork of its
process.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
from typing import Any, Final

import yaml

from tests.clock import ROOT

CHART: Final = ROOT / "docs" / "helm" / "notify"
NAMESPACE: Final = "notify"
INSTALLED: Final = importlib.util.find_spec("helm_python") is not None
"""True if the wheel is there; the lock has it for Linux on x86-64 alone."""
_RENDER: Final = """
import json, sys, helm_python
asked = json.load(sys.stdin)
try:
    with helm_python.Chart.load(asked.pop("chart")) as chart:
        chart.validate_schema(asked["values"])
        json.dump(chart.render(**asked), sys.stdout)
except helm_python.HelmError as refusal:
    sys.exit(str(refusal))
"""
_LINT: Final = """
import json, sys, helm_python
json.dump(helm_python.lint(json.load(sys.stdin)["chart"], strict=True), sys.stdout)
"""

Object = dict[str, Any]
"""An object of Kubernetes, or a part of one; also the values of a chart."""


class RefusedError(Exception):
    """Helm refuses the values; the message is Helm's."""


def files(values: Object | None = None, *, namespace: str = NAMESPACE) -> dict[str, str]:
    """Return the text of each rendered template, by its file name.

    Raises:
        RefusedError: Helm refuses the values.
    """
    rendered = _rendered(json.dumps(values or {}), namespace)
    return {path.rpartition("/")[2]: text for path, text in rendered.items()}


def objects(values: Object | None = None, *, namespace: str = NAMESPACE) -> list[Object]:
    """Return the objects of the chart, hooks among them.

    Raises:
        RefusedError: Helm refuses the values.
    """
    return list(_objects(json.dumps(values or {}), namespace))


def findings() -> list[str]:
    """Return the errors and warnings of `helm lint --strict`."""
    report = json.loads(_run(_LINT, {}))
    return [each["error"] for each in report["messages"] if each["severity"] > 1]


@functools.cache
def _objects(values: str, namespace: str) -> tuple[Object, ...]:
    texts = _rendered(values, namespace)
    found = [
        yaml.load_all(text, Loader=yaml.CSafeLoader)
        for name, text in texts.items()
        if name.endswith(".yaml")
    ]
    return tuple(each for documents in found for each in documents if each)


@functools.cache
def _rendered(values: str, namespace: str) -> dict[str, str]:
    asked = {"values": json.loads(values), "name": "notify", "namespace": namespace}
    rendered: dict[str, str] = json.loads(_run(_RENDER, asked))
    return rendered


def _run(program: str, asked: Object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps({"chart": str(CHART), **asked}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RefusedError(done.stderr.strip())
    return done.stdout
