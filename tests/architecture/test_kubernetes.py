"""The manifests of Kubernetes: valid by its own schemas, restricted, scaled and spread."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml
from cloudcoil.models.keda.v1alpha1 import ScaledObject

from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL
from tests.architecture import manifests

_FOLDERS: Final = (manifests.FOLDER, manifests.AUTOSCALING)
VERSIONS: Final = ("1.32", "1.35", "1.37")
"""The oldest and the newest that the manifests are checked for, and one between."""
_SECRETS: Final = {
    "migrate": {"notify-app", "notify-migrate"},
    "flower": {"notify-flower"},
    "proxy": set[str](),
}
"""Of the other components: notify-app."""

_OBJECTS: Final = manifests.rendered(manifests.FOLDER)
_PODS: Final = manifests.pods(_OBJECTS)
in_each_folder = pytest.mark.parametrize("folder", _FOLDERS, ids=lambda each: each.name)


def _examples() -> list[dict[str, Any]]:
    """Return the policies in comments at the end of network.yaml."""
    text = (manifests.FOLDER / "network.yaml").read_text().partition("\n#---\n")[2]
    lines = [line.removeprefix("#") for line in text.splitlines()]
    return list(yaml.safe_load_all("\n".join(lines)))


@in_each_folder
@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid(folder: Path, version: str) -> None:
    for each in [*manifests.rendered(folder), *_examples()]:
        if each["kind"] == "ScaledObject":
            check_keda(each)
        else:
            kubernetes_validate.validate(each, version, strict=True)


def check_keda(scaled: dict[str, Any]) -> None:
    """Compare a ScaledObject with what KEDA's own schema keeps of it: a misspelt field is lost."""
    kept = ScaledObject.model_validate(scaled)
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == scaled


def test_a_misspelt_field_is_found() -> None:
    wrong = {**manifests.by_name(_OBJECTS, "ConfigMap")["notify"], "dta": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


def test_a_misspelt_field_of_keda_is_found() -> None:
    scaled = manifests.by_name(manifests.rendered(manifests.AUTOSCALING), "ScaledObject")
    wrong = scaled["worker-p0"] | {"spec": scaled["worker-p0"]["spec"] | {"minReplicas": 4}}
    with pytest.raises(AssertionError):
        check_keda(wrong)


@in_each_folder
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_renders_the_same_objects(folder: Path) -> None:
    done = subprocess.run(
        ["/usr/bin/env", "kubectl", "kustomize", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = list(yaml.safe_load_all(done.stdout))
    assert _kinds(theirs) == _kinds(manifests.rendered(folder))
    assert manifests.replicas(theirs) == manifests.replicas(manifests.rendered(folder))


def _kinds(objects: list[dict[str, Any]]) -> list[tuple[str, str]]:
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    prefix = "notify-proxy-template"  # the name goes on with a hash of the content
    return sorted((kind, prefix if name.startswith(prefix) else name) for kind, name in names)


def test_every_file_is_applied() -> None:
    applied = set()
    for folder in _FOLDERS:
        listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        applied |= {folder / each for each in listed} | {folder / "kustomization.yaml"}
    alternative = {manifests.AUTOSCALING / "hpa.yaml"}
    there = {path for folder in _FOLDERS for path in folder.iterdir()}
    assert there - alternative <= applied


def test_both_folders_have_the_same_image() -> None:
    first, second = (yaml.safe_load((each / "kustomization.yaml").read_text()) for each in _FOLDERS)
    assert first["images"] == second["images"]
    assert first["namespace"] == second["namespace"]


@in_each_folder
def test_each_queue_is_served_once(folder: Path) -> None:
    arguments = [
        part
        for pod in manifests.pods(manifests.rendered(folder)).values()
        for container in pod["spec"]["containers"]
        for part in container.get("args", [])
    ]
    served = [part.removeprefix("--queues=") for part in arguments if part.startswith("--queues=")]
    found = sorted(queue for option in served for queue in option.split(","))
    assert found == sorted([EXPAND, OPS, TELL, *(lane.name for lane in LANES)])


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
        sources = [each["valueFrom"] for each in container.get("env", []) if "valueFrom" in each]
        found |= {each["secretKeyRef"]["name"] for each in sources if "secretKeyRef" in each}
    assert found == _SECRETS.get(name, {"notify-app"})


@in_each_folder
def test_an_autoscaler_has_a_deployment_whose_number_of_pods_it_alone_sets(folder: Path) -> None:
    objects = manifests.rendered(folder)
    deployments = manifests.by_name(objects, "Deployment")
    scaled = manifests.scaled(objects)
    assert len(scaled) == len(set(scaled))
    assert set(scaled) <= set(deployments)
    fixed = {name for name, each in deployments.items() if "replicas" in each["spec"]}
    assert fixed == set(deployments) - set(scaled)


def test_the_other_autoscalers_by_lag_have_the_same_deployments() -> None:
    alternative = list(yaml.safe_load_all((manifests.AUTOSCALING / "hpa.yaml").read_text()))
    names = set(manifests.by_name(alternative, "HorizontalPodAutoscaler"))
    assert names <= set(manifests.scaled(manifests.rendered(manifests.AUTOSCALING)))


@in_each_folder
def test_several_pods_are_spread_over_nodes(folder: Path) -> None:
    objects = manifests.rendered(folder)
    templates = manifests.pods(objects)
    for name, (_, most) in manifests.replicas(objects).items():
        if most > 1:
            [spread] = templates[name]["spec"]["topologySpreadConstraints"]
            assert spread["topologyKey"] == "kubernetes.io/hostname"
            assert manifests.matches(spread["labelSelector"], templates[name]["metadata"]["labels"])
            assert "app.kubernetes.io/component" in spread["matchLabelKeys"], name


@in_each_folder
def test_a_drained_node_takes_one_pod_at_a_time_and_is_never_blocked(folder: Path) -> None:
    objects = manifests.rendered(folder)
    templates = manifests.pods(objects)
    kept = set()
    for each in manifests.by_name(objects, "PodDisruptionBudget").values():
        # Not minAvailable, which blocks a drain where one pod runs; nor pods that are not ready.
        assert each["spec"]["maxUnavailable"] == 1
        assert each["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        kept |= {
            name
            for name, pod in templates.items()
            if manifests.matches(each["spec"]["selector"], pod["metadata"]["labels"])
        }
    assert kept == {name for name, (least, _) in manifests.replicas(objects).items() if least > 1}


def test_a_service_has_pods() -> None:
    for each in manifests.by_name(_OBJECTS, "Service").values():
        selector = {"matchLabels": each["spec"]["selector"]}
        labels = [pod["metadata"]["labels"] for pod in _PODS.values()]
        assert any(manifests.matches(selector, each) for each in labels)


def test_a_policy_names_the_destinations_that_it_permits() -> None:
    policies = [*manifests.by_name(_OBJECTS, "NetworkPolicy").values(), *_examples()]
    for each in policies:
        for rule in each["spec"].get("egress", []):
            assert rule["to"], each["metadata"]["name"]
            assert rule["ports"], each["metadata"]["name"]
    examples = {
        port["port"]
        for each in _examples()
        for rule in each["spec"]["egress"]
        for port in rule["ports"]
    }
    assert {5432, 6432, 6379, 5672, 5671, 15672, 4318, 9000, 443} <= examples
