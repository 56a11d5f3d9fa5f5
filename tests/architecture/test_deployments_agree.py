"""Compose and the manifests of Kubernetes run the same processes with the same promises."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from notifications.core.rules.lane import PACE
from notifyproj import environment
from tests.architecture import compose, manifests
from tests.clock import ROOT

_SERVICES: Final = {
    name: each for name, each in compose.services().items() if name not in compose.SERVERS
}
_OBJECTS: Final = manifests.rendered(manifests.FOLDER)
_PODS: Final = manifests.pods(_OBJECTS)
_CONFIG: Final = manifests.by_name(_OBJECTS, "ConfigMap")
_STOP_SECONDS: Final = 10
"""Compose's own time to stop."""
_CALLS_NOBODY: Final = {"beat", "worker-expand"}
"""Compose gives them a way out for traces; on Kubernetes an example in network.yaml does."""
_EXAMPLES: Final = {"NOTIFY_LIVE_URL"}
"""A setting that the manifests show, and that .env.example has in a comment."""
_COMPOSE: Final = {"COMPOSE_PROFILES", "TLS_FOLDER"}
"""Of .env.example, for Compose itself."""
_BUCKET: Final = {"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
"""boto3's own, for the archive."""
in_each = pytest.mark.parametrize("name", sorted(_SERVICES))


def _secrets() -> dict[str, set[str]]:
    """Return the secrets that deploy.md makes, with their keys."""
    text = (ROOT / "docs" / "deploy.md").read_text().replace("\\\n", " ")
    made = re.findall(r"create secret generic ([\w-]+)((?: +--from-literal=\S+)+)", text)
    return {name: set(re.findall(r"=([A-Z_]+)=", rest)) for name, rest in made}


def _container(name: str) -> dict[str, Any]:
    [container] = _PODS[name]["spec"]["containers"]
    return dict(container)


def _environ(name: str) -> dict[str, str]:
    """Return what the container of a pod has in its environment; secrets as their names."""
    found: dict[str, str] = {}
    for each in _container(name).get("envFrom", []):
        if "configMapRef" in each:
            found |= _CONFIG[each["configMapRef"]["name"]]["data"]
        else:
            found |= {key: f"<{key}>" for key in _secrets()[each["secretRef"]["name"]]}
    for each in _container(name).get("env", []):
        found[each["name"]] = each.get("value") or _referred(each["valueFrom"])
    return found


def _referred(source: dict[str, Any]) -> str:
    if "secretKeyRef" in source:
        reference = source["secretKeyRef"]
        assert reference["key"] in _secrets()[reference["name"]]
        return f"<{reference['name']} {reference['key']}>"
    reference = source["configMapKeyRef"]
    return str(_CONFIG[reference["name"]]["data"][reference["key"]])


def test_both_run_the_same_processes() -> None:
    assert set(_PODS) == set(_SERVICES)


@in_each
def test_a_process_has_the_same_command(name: str) -> None:
    container, service = _container(name), _SERVICES[name]
    arguments = [*container.get("command", []), *container.get("args", [])]
    assert arguments == [*service.get("entrypoint", []), *service["command"]]
    # `command` of a container replaces the entrypoint of its image, which the proxy needs.
    assert ("command" in container) is (name != "proxy")


@in_each
def test_a_process_has_the_same_settings(name: str) -> None:
    theirs = set(compose.environ(_SERVICES[name], compose.example())) - _COMPOSE
    ours = set(_environ(name)) - _EXAMPLES - _BUCKET
    assert ours == theirs


@in_each
def test_a_process_listens_and_writes_at_the_same_places(name: str) -> None:
    theirs = compose.environ(_SERVICES[name], compose.example())
    ours = _environ(name)
    same = {"NOTIFY_METRICS_LISTEN", "NOTIFY_PROXY_HTTP_PORT", "NOTIFY_PROXY_HTTPS_PORT"}
    same |= {each for each in theirs if each.startswith("NGINX_")}
    same |= {"NOTIFY_PROXY_CONNECTIONS", "NOTIFY_PROXY_TLS", "NOTIFY_PROXY_FILES"}
    shared = same & set(theirs)
    assert {each: ours[each] for each in shared} == {each: theirs[each] for each in shared}


def test_the_settings_of_the_manifests_start_a_process() -> None:
    filled = {
        "NOTIFY_SECRET_KEY": "s" * 40,
        "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
        "NOTIFY_SMTP_URL": "smtp://mail.example.com",
        "NOTIFY_SMTP_FROM": "notify@example.com",
    }
    for name in ("web", "migrate", "worker-ops"):
        environment.load({**_environ(name), **filled})


def test_the_archive_lies_where_a_pod_can_write_it() -> None:
    assert _environ("web")["NOTIFY_ARCHIVE_URL"].startswith("s3://")
    for name, (spec, folder) in {
        "worker-ops": (_PODS["worker-ops"]["spec"], _environ("worker-ops")["TMPDIR"])
    }.items():
        [mount] = [each for each in _container(name)["volumeMounts"] if each["mountPath"] == folder]
        [volume] = [each for each in spec["volumes"] if each["name"] == mount["name"]]
        assert volume["emptyDir"].get("medium") != manifests.MEMORY
    writes = compose.environ(_SERVICES["worker-ops"], {})
    assert f"archive:{writes['TMPDIR']}" in _SERVICES["worker-ops"]["volumes"]
    assert writes["NOTIFY_ARCHIVE_URL"] == f"file://{writes['TMPDIR']}"


def _reached(name: str) -> set[str]:
    """Return the networks of Compose that the policies of a pod amount to."""
    labels = _PODS[name]["metadata"]["labels"]
    found = set()
    for policy in manifests.by_name(_OBJECTS, "NetworkPolicy").values():
        if not manifests.matches(policy["spec"]["podSelector"], labels):
            continue
        for rule in policy["spec"].get("egress", []):
            found |= {_network(peer) for peer in rule["to"]}
    return found - {"names"}


def _network(peer: dict[str, Any]) -> str:
    if "ipBlock" in peer:
        return "out"
    if "namespaceSelector" in peer:
        return "names"
    labels = peer["podSelector"]["matchLabels"]
    servers = {"postgres": "data", "state": "data", "broker": "queue"}
    server = labels.get("app.kubernetes.io/name")
    return servers[server] if server else "front"


@in_each
def test_a_process_reaches_the_same_servers(name: str) -> None:
    theirs = set(_SERVICES[name]["networks"]) - ({"out"} if name in _CALLS_NOBODY else set())
    if name != "proxy":  # the others are only asked on this network
        theirs -= {"front"}
    assert _reached(name) == theirs - {"edge"}


def test_clients_reach_the_proxy_alone() -> None:
    kinds = {each["kind"] for each in _OBJECTS}
    assert not kinds & {"Ingress", "Gateway", "HTTPRoute"}
    published = {
        name
        for name, each in manifests.by_name(_OBJECTS, "Service").items()
        if each["spec"].get("type", "ClusterIP") != "ClusterIP"
    }
    assert published == {"proxy"}
    open_to_all = set()
    for policy in manifests.by_name(_OBJECTS, "NetworkPolicy").values():
        if any("from" not in rule for rule in policy["spec"].get("ingress", [])):
            open_to_all |= {
                name
                for name, pod in _PODS.items()
                if manifests.matches(policy["spec"]["podSelector"], pod["metadata"]["labels"])
            }
    assert open_to_all == {name for name, each in _SERVICES.items() if "edge" in each["networks"]}


def test_the_proxy_has_the_same_configuration_and_image() -> None:
    [mounted] = [each for each in _SERVICES["proxy"]["volumes"] if ".template" in each]
    source, _, rest = mounted.partition(":")
    folder, _, name = rest.removesuffix(":ro").rpartition("/")
    assert _CONFIG["notify-proxy-template"]["data"] == {name: (ROOT / source).read_text()}
    volumes = {each["name"]: each for each in _PODS["proxy"]["spec"]["volumes"]}
    mounts = {
        each["mountPath"]: volumes[each["name"]] for each in _container("proxy")["volumeMounts"]
    }
    assert mounts[folder]["configMap"]["name"] == "notify-proxy-template"
    files = {each["path"] for each in mounts["/etc/nginx/tls"]["secret"]["items"]}
    assert files == {"fullchain.pem", "privkey.pem"}
    assert _container("proxy")["image"] == _SERVICES["proxy"]["image"]


@in_each
def test_a_process_is_healthy_by_the_same_question(name: str) -> None:
    health = _SERVICES[name].get("healthcheck")
    container = _container(name)
    if health is None:
        assert name == "migrate"
        return
    asked = str(health["test"][-1])
    probe = container["readinessProbe"]
    if "exec" in probe:
        assert probe["exec"]["command"][-1] == asked
        assert probe["timeoutSeconds"] == compose.seconds(health["timeout"])
        assert "livenessProbe" not in container  # an outage of the broker would restart each worker
        return
    path = re.search(r"https?://127\.0\.0\.1:\d+(/\w+)", asked)
    assert path
    if name == "proxy":  # Kubernetes asks nginx alone: else no pod would answer while web is away
        assert "tcpSocket" in probe
        return
    assert probe["httpGet"]["path"] == path[1]
    # A question about the database would restart each process during an outage of the database.
    assert container["livenessProbe"]["httpGet"]["path"] in {"/healthz", "/healthcheck"}


@in_each
def test_a_process_has_the_time_to_stop_that_compose_gives(name: str) -> None:
    spec = _PODS[name]["spec"]
    given = spec.get("terminationGracePeriodSeconds", 30)
    hook = _container(name).get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
    waits = int(hook[1]) if hook else 0
    theirs = compose.seconds(_SERVICES[name].get("stop_grace_period", f"{_STOP_SECONDS}s"))
    assert given - waits >= theirs


def test_a_worker_settles_its_calls_before_it_is_killed_and_before_others_take_its_rows() -> None:
    longest = max(pace.deadline for pace in PACE.values()).total_seconds()
    lease = max(pace.lease for pace in PACE.values()).total_seconds()
    for name in _SERVICES:
        if name.startswith("worker-"):
            given = _PODS[name]["spec"]["terminationGracePeriodSeconds"]
            assert given == compose.seconds(_SERVICES[name]["stop_grace_period"])
            assert 2 * longest < given < lease


@in_each
def test_a_process_runs_as_the_same_user_and_writes_nowhere_else(name: str) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    user = re.search(r"useradd .*--uid (\d+)", dockerfile)
    assert user
    own = _PODS[name]["spec"]["securityContext"]["runAsUser"]
    assert own == (101 if name == "proxy" else int(user[1]))
    service, container = _SERVICES[name], _container(name)
    assert service["read_only"] is container["securityContext"]["readOnlyRootFilesystem"] is True
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["cap_drop"] == container["securityContext"]["capabilities"]["drop"]
    memory = {
        each["name"]
        for each in _PODS[name]["spec"]["volumes"]
        if each.get("emptyDir", {}).get("medium") == manifests.MEMORY
    }
    mounts = {each["mountPath"] for each in container["volumeMounts"] if each["name"] in memory}
    assert "/tmp" in mounts  # noqa: S108 - of a container
    assert mounts == compose.memory_mounts(service)
