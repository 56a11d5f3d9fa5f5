"""The manifests of Kubernetes: valid by its own schemas, restricted, and complete."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from celeryconfig import EXPAND, OPS, TELL
from notifications.rules.lane import LANES

_FOLDER = Path(__file__).resolve().parents[2] / "docs" / "kubernetes"
_VERSIONS: Final = ("1.32", "1.37")
"""The oldest and the newest that the manifests are checked for."""
_SECRETS: Final = {"migrate": {"notify-app", "notify-migrate"}, "flower": {"notify-flower"}}
"""Of the other components: notify-app."""


def _objects() -> Iterator[dict[str, Any]]:
    for name in yaml.safe_load((_FOLDER / "kustomization.yaml").read_text())["resources"]:
        for each in yaml.safe_load_all((_FOLDER / name).read_text()):
            yield from each["items"] if each["kind"] == "List" else [each]


_OBJECTS = list(_objects())
_PODS: Final = {
    each["metadata"]["name"]: each["spec"]["template"]
    for each in _OBJECTS
    if each["kind"] in {"Deployment", "Job"}
}


@pytest.mark.parametrize("version", _VERSIONS)
def test_every_object_is_valid(version: str) -> None:
    for each in _OBJECTS:
        kubernetes_validate.validate(each, version, strict=True)


def test_a_misspelt_field_is_found() -> None:
    wrong = {**_OBJECTS[0], "dta": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, _VERSIONS[0], strict=True)


def test_every_file_is_applied() -> None:
    listed = yaml.safe_load((_FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == {path.name for path in _FOLDER.iterdir()}


def test_each_queue_is_served_once() -> None:
    arguments = [
        part
        for pod in _PODS.values()
        for container in pod["spec"]["containers"]
        for part in container.get("args", [])
    ]
    served = [part.removeprefix("--queues=") for part in arguments if part.startswith("--queues=")]
    found = sorted(queue for option in served for queue in option.split(","))
    assert found == sorted([EXPAND, OPS, TELL, *(lane.name for lane in LANES)])


def test_processes_run_as_compose_runs_them() -> None:
    compose = yaml.safe_load((_FOLDER.parents[1] / "docker-compose.yml").read_text())["services"]
    for name, pod in _PODS.items():
        [container] = pod["spec"]["containers"]
        arguments = [*container["command"], *container.get("args", [])]
        service = compose[name]
        assert arguments == [*service.get("entrypoint", []), *service["command"]], name


@pytest.mark.parametrize("name", _PODS)
def test_a_pod_has_no_rights(name: str) -> None:
    spec = _PODS[name]["spec"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert not spec["automountServiceAccountToken"]
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert not rights["allowPrivilegeEscalation"]
        assert rights["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"]["cpu"]


@pytest.mark.parametrize("name", _PODS)
def test_a_pod_gets_its_own_secrets_only(name: str) -> None:
    spec = _PODS[name]["spec"]
    found = set()
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        found |= {each["secretRef"]["name"] for each in container["envFrom"] if "secretRef" in each}
        sources = [each["valueFrom"] for each in container.get("env", [])]
        found |= {each["secretKeyRef"]["name"] for each in sources if "secretKeyRef" in each}
    assert found == _SECRETS.get(name, {"notify-app"})


def test_what_scales_and_what_may_not_be_disturbed_exists() -> None:
    for each in _OBJECTS:
        if each["kind"] == "HorizontalPodAutoscaler":
            assert each["spec"]["scaleTargetRef"]["name"] in _PODS
        if each["kind"] in {"PodDisruptionBudget", "Service"}:
            selector = each["spec"]["selector"]
            wanted = selector.get("matchLabels", selector).items()
            assert any(wanted <= pod["metadata"]["labels"].items() for pod in _PODS.values())


def test_only_who_calls_providers_may_leave_the_cluster() -> None:
    calling = {name for name, pod in _PODS.items() if "notify/calls" in pod["metadata"]["labels"]}
    assert calling == set(_PODS) - {"beat", "flower", "live", "migrate", "worker-expand"}
