"""The chart: Helm renders it, Kubernetes takes it, and kustomize has the same objects."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Final

import kubernetes_validate
import pytest
import yaml

from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL
from tests.architecture import helm, kubernetes_base, manifests
from tests.architecture.helm import Object
from tests.architecture.test_kubernetes import VERSIONS, check_keda
from tests.clock import ROOT

pytestmark = pytest.mark.skipif(
    not helm.INSTALLED, reason="helm-python-sdk is installed on Linux on x86-64 alone"
)

_NOTHING_SCALED: Final = {"autoscaling": {"kind": "none"}}
_SMALL: Final = {
    "autoscaling": {"kind": "hpa", "hpa": {"web": None, "worker-p0": {"min": 1, "max": 3}}},
    "web": {"replicas": 1},
    "live": {"replicas": 1},
    "proxy": {"replicas": 1, "service": {"type": "ClusterIP"}},
    "flower": {"enabled": False},
    "networkPolicy": {"enabled": False},
}
_EVERYTHING: Final = {
    "autoscaling": {"kind": "keda", "keda": {"workers": {"worker-p1": None}}},
    "image": {"repository": "r.example.com:5000/a/notify", "tag": "2.0", "pullPolicy": "Always"},
    "extraEnv": [
        {"name": "DATABASE_URL", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
        {"name": "NOTIFY_ROUTES", "value": "email=ses"},
    ],
    "extraVolumes": [{"name": "authority", "configMap": {"name": "authority"}}],
    "extraVolumeMounts": [{"name": "authority", "mountPath": "/authority", "readOnly": True}],
    "secrets": {"app": "123", "migrate": "true", "flower": "null", "tls": "1e3"},
    "imagePullSecrets": [{"name": "registry"}],
    "nodeSelector": {"pool": "123"},
    "tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {}},
    "podAnnotations": {"sidecar.istio.io/inject": "false"},
    "podLabels": {"team": "yes"},
    "priorityClassName": "high",
    "serviceAccount": {"create": True, "annotations": {"eks.amazonaws.com/role-arn": "arn:x"}},
    "workers": {
        "groups": {
            "p0": {"resources": {"requests": {"cpu": 1}, "limits": {"memory": "1Gi", "cpu": 2}}}
        }
    },
    "proxy": {
        "service": {
            "annotations": {"a.example.com/b": "c: 'd'"},
            "loadBalancerClass": "internal",
            "loadBalancerSourceRanges": ["192.0.2.0/24"],
        }
    },
    "ingress": {
        "enabled": True,
        "className": "haproxy",
        "annotations": {"ssl-passthrough": "true"},
    },
    "networkPolicy": {
        "postgres": [{"ipBlock": {"cidr": "10.20.0.0/24"}}],
        "servers": [
            {"to": [{"ipBlock": {"cidr": "10.30.0.0/24"}}], "ports": [{"port": 4318}]},
        ],
        "services": [{"to": [{"namespaceSelector": {}}], "ports": [{"port": 25}]}],
    },
}
_VALUES: Final[dict[str, Object]] = {
    "default": {},
    "keda": kubernetes_base.BY_LAG,
    "none": _NOTHING_SCALED,
    "small": _SMALL,
    "everything": _EVERYTHING,
}
with_each_values = pytest.mark.parametrize("values", _VALUES.values(), ids=_VALUES)


def _without_helm(each: Object) -> Object:
    """Return an object without the annotations that Helm alone has."""
    found = copy.deepcopy(each)
    for metadata in (found["metadata"], found.get("spec", {}).get("template", {}).get("metadata")):
        if metadata:
            metadata.pop("annotations", None)
    return found


def _by_key(objects: list[Object]) -> dict[tuple[str, str], Object]:
    found = {(each["kind"], each["metadata"]["name"]): _without_helm(each) for each in objects}
    assert len(found) == len(objects)
    return found


def test_the_files_of_kustomize_are_those_of_the_chart() -> None:
    stale = [
        str(path.name)
        for path, text in kubernetes_base.contents().items()
        if not path.is_file() or path.read_text() != text
    ]
    assert stale == [], "run python -m tests.architecture.kubernetes_base"


@pytest.mark.parametrize(
    ("values", "folder"),
    [({}, manifests.FOLDER), (kubernetes_base.BY_LAG, manifests.AUTOSCALING)],
    ids=["processor", "lag"],
)
def test_both_have_the_same_objects(values: Object, folder: Path) -> None:
    """Except for what Helm's Job has of its own, because it runs before the others are there."""
    ours, theirs = _by_key(helm.objects(values)), _by_key(manifests.rendered(folder))
    del ours["NetworkPolicy", "migrate"]
    settings = theirs["ConfigMap", "notify"]["data"]
    owner = theirs.pop(("ConfigMap", "notify-migrate"))["data"]
    assert ours.pop(("ConfigMap", "notify-migrate"))["data"] == settings | owner
    [container] = ours["Job", "migrate"]["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"][0] == {"configMapRef": {"name": "notify-migrate"}}
    container["envFrom"][0]["configMapRef"]["name"] = "notify"
    assert ours == theirs


def test_helm_has_nothing_to_say_about_the_chart() -> None:
    assert helm.findings() == []


@with_each_values
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_each_object(values: Object, version: str) -> None:
    for each in helm.objects(values):
        if each["kind"] == "ScaledObject":
            check_keda(each)
        else:
            kubernetes_validate.validate(each, version, strict=True)


@with_each_values
def test_each_queue_is_served_once(values: Object) -> None:
    served = [
        part.removeprefix("--queues=")
        for pod in manifests.pods(helm.objects(values)).values()
        for container in pod["spec"]["containers"]
        for part in container.get("args", [])
        if part.startswith("--queues=")
    ]
    found = sorted(queue for option in served for queue in option.split(","))
    assert found == sorted([EXPAND, OPS, TELL, *(lane.name for lane in LANES)])


@with_each_values
def test_one_place_sets_the_number_of_pods(values: Object) -> None:
    objects = helm.objects(values)
    scaled = manifests.scaled(objects)
    deployments = manifests.by_name(objects, "Deployment")
    assert len(scaled) == len(set(scaled))
    assert set(scaled) <= set(deployments)
    fixed = {name for name, each in deployments.items() if "replicas" in each["spec"]}
    assert fixed == set(deployments) - set(scaled)


@with_each_values
def test_a_node_can_be_drained(values: Object) -> None:
    objects = helm.objects(values)
    budgets = manifests.by_name(objects, "PodDisruptionBudget")
    several = {name for name, (least, _) in manifests.replicas(objects).items() if least > 1}
    assert set(budgets) == several
    for name, each in budgets.items():
        assert each["spec"]["maxUnavailable"] == 1
        labels = manifests.pods(objects)[name]["metadata"]["labels"]
        assert manifests.matches(each["spec"]["selector"], labels)


@with_each_values
def test_an_upgrade_changes_no_field_that_cannot_change(values: Object) -> None:
    before = manifests.by_name(helm.objects(kubernetes_base.BY_LAG), "Deployment")
    before |= manifests.by_name(helm.objects(), "Deployment")
    for name, each in manifests.by_name(helm.objects(values), "Deployment").items():
        assert each["spec"]["selector"] == before[name]["spec"]["selector"]
        labels = each["spec"]["template"]["metadata"]["labels"]
        assert manifests.matches(each["spec"]["selector"], labels)
    # A Job cannot change at all: Helm deletes the one of the release before.
    hooks = _job(values)["metadata"]["annotations"]
    assert hooks["helm.sh/hook-delete-policy"] == "before-hook-creation"


def _job(values: Object) -> Object:
    return manifests.by_name(helm.objects(values), "Job")["migrate"]


@with_each_values
def test_the_migrations_need_no_other_object_of_the_chart(values: Object) -> None:
    job = _job(values)
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade,post-rollback"
    spec = job["spec"]["template"]["spec"]
    assert "serviceAccountName" not in spec
    [container] = spec["containers"]
    first = {
        each["metadata"]["name"]
        for each in helm.objects(values)
        if each["metadata"].get("annotations", {}).get("helm.sh/hook-weight") == "-1"
    }
    references = [each["configMapRef"] for each in container["envFrom"] if "configMapRef" in each]
    sources = [each["valueFrom"] for each in container["env"] if "valueFrom" in each]
    references += [each["configMapKeyRef"] for each in sources if "configMapKeyRef" in each]
    assert {each["name"] for each in references} == {"notify-migrate"} <= first
    names = [each["name"] for each in container["env"]]
    assert len(names) == len(set(names)), "server-side apply refuses a name twice"
    data = manifests.by_name(helm.objects(values), "ConfigMap")["notify-migrate"]["data"]
    assert data["DATABASE_URL"] == "postgresql://notify_owner@postgres:5432/notify"


@pytest.mark.parametrize(
    ("account", "without"),
    [
        ({"name": "own"}, {"proxy", "flower"}),
        ({"create": True}, {"proxy", "flower", "migrate"}),
        ({"create": True, "name": "own"}, {"proxy", "flower", "migrate"}),
    ],
)
def test_the_pods_of_the_service_alone_have_its_account(account: Object, without: set[str]) -> None:
    objects = helm.objects({"serviceAccount": account})
    name = account.get("name", "notify")
    created = set(manifests.by_name(objects, "ServiceAccount"))
    assert created == ({name} if "create" in account else set())
    found = {
        pod: each["spec"].get("serviceAccountName") for pod, each in manifests.pods(objects).items()
    }
    assert {pod for pod, given in found.items() if given is None} == without
    assert {given for given in found.values() if given} == {name}


def test_a_private_authority_is_where_a_server_is_verified() -> None:
    for name, pod in manifests.pods(helm.objects(_EVERYTHING)).items():
        spec = pod["spec"]
        volumes = [each["name"] for each in spec["volumes"]]
        assert ("authority" in volumes) is (name != "proxy")
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            mounts = [each["name"] for each in container["volumeMounts"]]
            assert ("authority" in mounts) is (name != "proxy")


def test_a_large_number_stays_a_number() -> None:
    config = manifests.by_name(helm.objects({"proxy": {"connections": 1000000}}), "ConfigMap")
    assert config["notify-proxy"]["data"]["NOTIFY_PROXY_CONNECTIONS"] == "1000000"


def test_the_values_of_the_page_are_taken() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text().partition("### Helm\n")[2]
    lines = itertools.dropwhile(lambda line: not line.startswith("    "), page.splitlines())
    shown = "\n".join(itertools.takewhile(lambda line: line.startswith("    "), lines))
    objects = helm.objects(yaml.safe_load(shown))
    config = manifests.by_name(objects, "ConfigMap")["notify"]["data"]
    assert config["NOTIFY_PUBLIC_URL"] == "https://notify.example.org"
    queue = manifests.by_name(objects, "NetworkPolicy")["queue"]["spec"]["egress"]
    assert [each["port"] for each in queue[0]["ports"]] == [5672, 15672]


_ODD: Final = ("", "yes", "1e3", "a: b", "'", '"', "\\", "#x", "$(HOME)", "{{ .x }}", "é\n", "<&>")


def test_any_text_is_a_setting() -> None:
    odd = {f"ODD_{number}": text for number, text in enumerate(_ODD)}
    maps = manifests.by_name(helm.objects({"config": odd}), "ConfigMap")
    for name in ("notify", "notify-migrate"):
        assert maps[name]["data"].items() >= odd.items()


_WRONG: Final[dict[str, tuple[Object, str]]] = {
    "a misspelt name": ({"web": {"replica": 3}}, "at '/web': additional properties 'replica'"),
    "another autoscaler": ({"autoscaling": {"kind": "cpu"}}, "'none', 'hpa', 'keda'"),
    "bounds": ({"autoscaling": {"hpa": {"web": {"min": 5, "max": 2}}}}, "min 5 is above max 2"),
    "a number": ({"config": {"NOTIFY_WEB_SLOTS": 8}}, "got number, want string"),
    "no Secret": ({"secrets": {"app": ""}}, "at '/secrets/app'"),
    "no Deployment for a group": ({"workers": {"groups": {"p0": None}}}, "property 'p0'"),
    "a destination everywhere": ({"networkPolicy": {"broker": []}}, "at '/networkPolicy/broker'"),
    "no pod": ({"live": {"replicas": 0}}, "at '/live/replicas'"),
    "another broker": ({"config": {"CELERY_BROKER_URL": "sqs://x"}}, "at '/config/CELERY_BROKER"),
    "a label of a selector": (
        {"podLabels": {"app.kubernetes.io/component": "x"}},
        "invalid propertyName 'app.kubernetes.io/component'",
    ),
    "another port for metrics": (
        {"config": {"NOTIFY_METRICS_LISTEN": "0.0.0.0:9000"}},
        "at '/config/NOTIFY_METRICS_LISTEN'",
    ),
    "no section": ({"proxy": None}, "missing property 'proxy'"),
}


@pytest.mark.parametrize(("values", "message"), _WRONG.values(), ids=_WRONG)
def test_a_wrong_value_is_refused(values: Object, message: str) -> None:
    with pytest.raises(helm.RefusedError) as refused:
        helm.objects(values)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("policy", "settings", "ports"),
    [
        ("data", {"DATABASE_URL": "postgresql://a@/n?host=db1,db2&port=6432"}, [6432, 5432, 6379]),
        ("data", {"DATABASE_URL": "postgresql://a@db1:5433,db2:5434/n"}, [5433, 5434, 5432, 6379]),
        ("data", {"REDIS_URL": "rediss://[::1]:6380/0?ssl_cert_reqs=none"}, [5432, 6380]),
        ("queue", {"CELERY_BROKER_URL": "amqp://notify:1@rabbit/notify"}, [5672, 15672]),
        ("queue", {"CELERY_BROKER_URL": "amqps://notify@rabbit:5679//"}, [5679, 15671]),
        ("queue", {"CELERY_BROKER_URL": "redis://broker"}, [6379]),
    ],
)
def test_a_policy_permits_the_ports_of_the_addresses(
    policy: str, settings: dict[str, str], ports: list[int]
) -> None:
    found = manifests.by_name(helm.objects({"config": settings}), "NetworkPolicy")[policy]
    rules = found["spec"]["egress"]
    assert [port["port"] for rule in rules for port in rule["ports"]] == ports


def test_a_changed_setting_replaces_the_pods_that_read_it() -> None:
    def digests(values: Object) -> dict[str, str]:
        templates = manifests.pods(helm.objects(values))
        del templates["migrate"]
        return {
            name: each["metadata"]["annotations"]["checksum/config"]
            for name, each in templates.items()
        }

    before = digests({})
    changed = digests({"config": {"NOTIFY_ROUTES": "email=ses"}})
    assert {name for name in before if before[name] == changed[name]} == {"proxy"}
    changed = digests({"proxy": {"connections": 50}})
    assert {name for name in before if before[name] != changed[name]} == {"proxy"}


def test_another_namespace_has_names_of_its_own() -> None:
    data = manifests.by_name(helm.objects(namespace="other"), "ConfigMap")["notify-proxy"]["data"]
    assert data["NOTIFY_PROXY_WEB"] == "web.other.svc.cluster.local:80"
    assert "kubectl -n other " in helm.files(namespace="other")["NOTES.txt"]
