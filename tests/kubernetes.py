"""Whether the manifests of deploy/kubernetes fit each other: what no schema can say. Prints what does not, and ends with 1."""

import pathlib
import sys

import yaml

FOLDER = pathlib.Path(__file__).parent.parent / "deploy" / "kubernetes"
# Seconds from SIGTERM to the end of the program at most; DESIGN.md says why.
LONGEST_END = 30
problems = []


def check(holds, problem):
    if not holds:
        problems.append(problem)


def load(name):
    documents = [document for document in yaml.safe_load_all((FOLDER / name).read_text()) if document]
    check(len(documents) == 1, f"{name}: one document a file")
    return documents[0]


files = sorted(path.name for path in FOLDER.glob("*.yaml"))
manifests = {name: load(name) for name in files}
listed = manifests.pop("kustomization.yaml")["resources"]
apart = {"secret.example.yaml", "service-monitor.yaml"}
check(sorted(listed) == sorted(set(manifests) - apart), f"kustomization.yaml lists {listed}, the folder holds {files}")
by_kind = {manifest["kind"]: manifest for manifest in manifests.values()}
check(len(by_kind) == len(manifests), "one manifest of each kind")

deployment = by_kind["Deployment"]
template = deployment["spec"]["template"]
pod = template["spec"]
container = pod["containers"][0]
labels = template["metadata"]["labels"].items()
name = deployment["metadata"]["name"]
ports = {port["name"]: port["containerPort"] for port in container["ports"]}

# Whatever selects pods selects these.
selectors = {
    "Deployment": deployment["spec"]["selector"]["matchLabels"],
    "Service": by_kind["Service"]["spec"]["selector"],
    "PodDisruptionBudget": by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    "NetworkPolicy": by_kind["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    "topologySpreadConstraints": pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
}
for kind, selector in selectors.items():
    check(selector and selector.items() <= labels, f"{kind} selects {selector}, the pods have {dict(labels)}")
service = by_kind["Service"]
monitored = by_kind["ServiceMonitor"]["spec"]
check(monitored["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items(), "ServiceMonitor selects the Service")

# Whatever names a port or an object names one that there is.
service_ports = {port["name"] for port in service["spec"]["ports"]}
check({port["targetPort"] for port in service["spec"]["ports"]} <= set(ports), "Service: targetPort")
check({endpoint["port"] for endpoint in monitored["endpoints"]} <= service_ports, "ServiceMonitor: port")
for rule in by_kind["Ingress"]["spec"]["rules"]:
    for path in rule["http"]["paths"]:
        backend = path["backend"]["service"]
        check(backend["name"] == service["metadata"]["name"], "Ingress: the Service's name")
        check(backend["port"]["name"] in service_ports, "Ingress: the Service's port")
allowed = {port["port"] for rule in by_kind["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]}
check(allowed == set(ports), f"NetworkPolicy lets {allowed} in, the pods have {set(ports)}")
target = by_kind["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
check((target["kind"], target["name"]) == ("Deployment", name), "HorizontalPodAutoscaler: scaleTargetRef")
check("replicas" not in deployment["spec"], "Deployment: the autoscaler sets the replicas")
for source in container["envFrom"]:
    check(source["secretRef"]["name"] == by_kind["Secret"]["metadata"]["name"], "Deployment: the name of the Secret")
config = by_kind["ConfigMap"]
volumes = {volume["name"]: volume for volume in pod["volumes"]}
mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
check(mounts["/etc/langya"]["configMap"]["name"] == config["metadata"]["name"], "Deployment: the name of the ConfigMap")
check("/etc/langya/langya.toml" in container["args"] and "langya.toml" in config["data"], "the settings are read")

# Probes, end and rights.
for probe in ["startupProbe", "readinessProbe", "livenessProbe"]:
    check(container[probe]["httpGet"]["port"] in ports, f"{probe}: port")
stop = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
grace = pod["terminationGracePeriodSeconds"]
check(grace > stop + LONGEST_END, f"grace of {grace} s is too short for preStop ({stop} s) and the end ({LONGEST_END} s)")
rights = container["securityContext"]
check(pod["securityContext"]["runAsNonRoot"] and rights["readOnlyRootFilesystem"], "no root, no writing")
check(not rights["allowPrivilegeEscalation"] and rights["capabilities"]["drop"] == ["ALL"], "no privileges")
check(pod["automountServiceAccountToken"] is False, "no token of the cluster")
budget = by_kind["PodDisruptionBudget"]["spec"]["maxUnavailable"]
check(budget < by_kind["HorizontalPodAutoscaler"]["spec"]["minReplicas"], "an instance is left while another drains")

for problem in problems:
    print(problem)
sys.exit(bool(problems))
