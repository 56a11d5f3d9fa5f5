"""Writes the manifests of kustomize from the chart: `python -m tests.architecture.kubernetes_base`.

The chart in `docs/helm/notify` is the source. With its default values it gives `docs/kubernetes`,
and with KEDA the workers and autoscalers of `docs/kubernetes-autoscaling`. Written by hand are the
files that kustomize alone has: each `kustomization.yaml`, `migrate.yaml`, and `hpa.yaml`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

from tests.architecture import helm, manifests

BY_LAG: Final = {"autoscaling": {"kind": "keda"}}
"""The values of the chart for docs/kubernetes-autoscaling."""
_HELM_ALONE: Final = {"migrate.yaml", "proxy-template.yaml"}
"""Templates that kustomize has in another form: a Job without hooks, a generated ConfigMap."""
_HEADER: Final = (
    "# Written by `python -m tests.architecture.kubernetes_base` from docs/helm/notify.\n"
)
_DIGEST: Final = re.compile(r'^ *annotations: \{"checksum/config":.*\n', re.MULTILINE)
"""An annotation that replaces pods after a change; kustomize users restart them."""


def contents() -> dict[Path, str]:
    """Return the text of each written file."""
    base = {
        name: _documents(text)
        for name, text in helm.files().items()
        if name.endswith(".yaml") and name not in _HELM_ALONE
    }
    by_lag = helm.files(BY_LAG)
    known = {_key(each) for each in base["workers.yaml"]}
    workers = [each for each in _documents(by_lag["workers.yaml"]) if _key(each) not in known]
    return {
        **{manifests.FOLDER / name: _text(found) for name, found in base.items() if found},
        manifests.AUTOSCALING / "workers.yaml": _text(workers),
        manifests.AUTOSCALING / "keda.yaml": _text(_documents(by_lag["keda.yaml"])),
    }


def _documents(text: str) -> list[str]:
    """Return the documents of a rendered template, comments at its beginning with the first."""
    text = re.sub(r"\A((?:#.*\n)+)---\n", r"\1", _DIGEST.sub("", text).lstrip())
    return [each.strip() for each in text.split("\n---\n") if each.strip()]


def _text(documents: list[str]) -> str:
    return _HEADER + "\n---\n".join(documents) + "\n"


def _key(document: str) -> tuple[str, str]:
    loaded: dict[str, Any] = yaml.safe_load(document)
    return loaded["kind"], loaded["metadata"]["name"]


if __name__ == "__main__":
    for path, text in contents().items():
        path.write_text(text)
