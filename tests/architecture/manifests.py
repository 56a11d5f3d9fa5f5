"""The manifests of Kubernetes as `kubectl kustomize` renders them, without kubectl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from tests.clock import ROOT

FOLDER: Final = ROOT / "docs" / "kubernetes"
AUTOSCALING: Final = ROOT / "docs" / "kubernetes-autoscaling"
MEMORY: Final = "Memory"


def rendered(folder: Path) -> list[dict[str, Any]]:
    """Return the objects that `kubectl apply -k` applies.

    Knows what the files here use: resources, folders among them, generated ConfigMaps (without the
    suffix of their names), and patches that delete.
    """
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    patches = [yaml.safe_load(each["patch"]) for each in kustomization.get("patches", [])]
    gone = {(each["kind"], each["metadata"]["name"]) for each in patches}
    found = [*_listed(folder, kustomization), *_generated(folder, kustomization)]
    assert gone <= {(each["kind"], each["metadata"]["name"]) for each in found}
    return [each for each in found if (each["kind"], each["metadata"]["name"]) not in gone]


def _listed(folder: Path, kustomization: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in kustomization.get("resources", []):
        if (folder / name).is_dir():
            yield from rendered(folder / name)
            continue
        for each in yaml.safe_load_all((folder / name).read_text()):
            yield from each["items"] if each["kind"] == "List" else [each]


def _generated(folder: Path, kustomization: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in kustomization.get("configMapGenerator", []):
        data = {Path(name).name: (folder / name).read_text() for name in each["files"]}
        metadata = {"name": each["name"]}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def by_name(objects: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind."""
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def pods(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the pod templates of the Deployments and the Job."""
    found = {**by_name(objects, "Deployment"), **by_name(objects, "Job")}
    return {name: each["spec"]["template"] for name, each in found.items()}


def replicas(objects: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return the least and the most pods of each Deployment."""
    found = {}
    for name, each in by_name(objects, "Deployment").items():
        fixed = each["spec"].get("replicas", 1)
        found[name] = (fixed, fixed)
    for each in by_name(objects, "HorizontalPodAutoscaler").values():
        spec = each["spec"]
        found[spec["scaleTargetRef"]["name"]] = (spec["minReplicas"], spec["maxReplicas"])
    for each in by_name(objects, "ScaledObject").values():
        spec = each["spec"]
        counts = (spec["minReplicaCount"], spec["maxReplicaCount"])
        found[spec["scaleTargetRef"]["name"]] = counts
    return found


def scaled(objects: list[dict[str, Any]]) -> list[str]:
    """Return the names that an autoscaler scales, once for each autoscaler."""
    return [
        each["spec"]["scaleTargetRef"]["name"]
        for kind in ("HorizontalPodAutoscaler", "ScaledObject")
        for each in by_name(objects, kind).values()
    ]


def matches(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Return whether a label selector takes a pod with these labels."""
    for each in selector.get("matchExpressions", []):
        assert each["operator"] == "NotIn"
        if labels.get(each["key"]) in each["values"]:
            return False
    wanted: dict[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= labels.items()
