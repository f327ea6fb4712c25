"""Holds built manifests against themselves: what schemas cannot see.

usage: manifests.py FILE [FOLDER]    FOLDER: binaries whose --help must know every option that the manifests give
       manifests.py --spoil FILE     breaks each thing that is checked, and fails if a check does not notice
"""

import copy
import re
import subprocess
import sys

import yaml

SECONDS = {"s": 1, "m": 60, "h": 3600}
BYTES = {"Mi": 1 << 20, "MiB": 1 << 20, "Gi": 1 << 30, "GiB": 1 << 30}


def amount(text, units):
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]+)", text).groups()
    return int(number) * units[unit]


def of(objects, *kinds):
    return [o for o in objects if o["kind"] in kinds]


def name(o):
    return f'{o["kind"]}/{o["metadata"]["name"]}'


def workloads(objects):
    """Name, pod, and its one container."""
    pods = [(name(o), o["spec"]["template"]) for o in of(objects, "Deployment", "StatefulSet")]
    return [(who, pod, pod["spec"]["containers"][0]) for who, pod in pods]


def environment(objects, container):
    """What the container's variables hold; fields of the pod are not known here."""
    known = {}
    maps = {o["metadata"]["name"]: o for o in of(objects, "ConfigMap", "Secret")}
    for source in container["envFrom"]:
        for kind in ("configMapRef", "secretRef"):
            if kind in source and source[kind]["name"] in maps:
                known.update(maps[source[kind]["name"]]["data"])
    known.update({e["name"]: e.get("value", "x") for e in container.get("env", [])})
    return known


def option(container, flag):
    args = container["args"]
    return args[args.index(flag) + 1] if flag in args else None


def references(objects):
    have = {(o["kind"], o["metadata"]["name"]) for o in objects}
    have |= {("Secret", o["spec"]["secretName"]) for o in of(objects, "Certificate")}
    for who, pod, container in workloads(objects):
        wanted = [("ServiceAccount", pod["spec"]["serviceAccountName"])]
        wanted += [("Secret", v["secret"]["secretName"]) for v in pod["spec"]["volumes"] if "secret" in v]
        for source in container["envFrom"]:
            wanted += [("ConfigMap", source[k]["name"]) for k in source if k == "configMapRef"]
            wanted += [("Secret", source[k]["name"]) for k in source if k == "secretRef"]
        for kind, missing in wanted:
            if (kind, missing) not in have:
                yield f"{who} needs {kind} {missing}, which nobody makes"
    for o in of(objects, "StatefulSet"):
        if ("Service", o["spec"]["serviceName"]) not in have:
            yield f'{name(o)} is of Service {o["spec"]["serviceName"]}, which nobody makes'


def variables(objects):
    for who, _, container in workloads(objects):
        known = environment(objects, container)
        for variable in re.findall(r"\$\((\w+)\)", " ".join(container["args"])):
            if variable not in known:
                yield f"{who} has no variable {variable}"


def selectors(objects):
    pods = [(pod["metadata"]["labels"], [p["name"] for p in c["ports"]]) for _, pod, c in workloads(objects)]
    for o in of(objects, "Service", "PodDisruptionBudget", "NetworkPolicy"):
        spec = o["spec"]
        wanted = spec.get("selector", spec.get("podSelector"))
        wanted = wanted.get("matchLabels", wanted)
        chosen = [ports for labels, ports in pods if wanted.items() <= labels.items()]
        if not chosen:
            yield f"{name(o)} selects nothing"
        ports = [p["targetPort"] for p in spec.get("ports", [])] if o["kind"] == "Service" else []
        ports += [p["port"] for rule in spec.get("ingress", []) for p in rule["ports"]]
        for port in ports:
            if any(port not in own for own in chosen):
                yield f"{name(o)} names a port {port} that the pods do not have"


def mounts(objects):
    claims = {name(o): o["spec"].get("volumeClaimTemplates", []) for o in of(objects, "StatefulSet")}
    for who, pod, container in workloads(objects):
        volumes = [v["name"] for v in pod["spec"]["volumes"]] + [c["metadata"]["name"] for c in claims.get(who, [])]
        for mount in container["volumeMounts"]:
            if mount["name"] not in volumes:
                yield f'{who} mounts {mount["name"]}, which is no volume'
        paths = [m["mountPath"] for m in container["volumeMounts"]]
        for arg in container["args"]:
            if arg.startswith("/") and not any(arg == p or arg.startswith(p + "/") for p in paths):
                yield f"{who} reads {arg}, where nothing is mounted"


def confined(objects):
    for who, pod, container in workloads(objects):
        spec, own = pod["spec"], container["securityContext"]
        held = [
            spec["automountServiceAccountToken"] is False,
            spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["runAsUser"] > 0,
            spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault",
            own["readOnlyRootFilesystem"] is True,
            own["allowPrivilegeEscalation"] is False,
            own["capabilities"] == {"drop": ["ALL"]},
            "memory" in container["resources"]["limits"],
            ":" in container["image"] and not container["image"].endswith(":latest"),
        ]
        if not all(held):
            yield f"{who} may do more than it needs: {held}"


def probes(objects):
    for who, _, container in workloads(objects):
        ports = [p["name"] for p in container["ports"]]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if container[probe]["httpGet"]["port"] not in ports:
                yield f"{who}: its {probe} asks a port that it does not have"


def budgets(objects):
    """A drain fits into the time that Kubernetes waits; what parts may take fits into the limit."""
    for who, pod, container in workloads(objects):
        known = environment(objects, container)
        if option(container, "--drain") is None:
            continue
        drain, grace = amount(known["CANJU_DRAIN"], SECONDS), pod["spec"]["terminationGracePeriodSeconds"]
        checkpoint = int(known["CANJU_CHECKPOINT"])
        if grace < drain + checkpoint:
            yield f"{who} drains for {drain} s after a checkpoint of up to {checkpoint} s, and is killed after {grace} s"
        memory, limit = amount(known["CANJU_MEMORY"], BYTES), amount(container["resources"]["limits"]["memory"], BYTES)
        if memory * 10 > limit * 9:
            yield f"{who} may take {memory} bytes for its parts and has {limit} in all"


def encrypted(objects):
    for who, _, container in workloads(objects):
        url = environment(objects, container)["CANJU_COORDINATOR"]
        if url.startswith("https://") != ("--tls-cert" in container["args"]):
            yield f"{who} is told {url}, which does not fit its certificate options"
        if option(container, "--token-file") is None and "--tls-ca" not in container["args"]:
            yield f"{who} would let anybody in"
    good_for = [n for o in of(objects, "Certificate") for n in o["spec"].get("dnsNames", [])]
    for _, pod, container in workloads(objects) if good_for else []:
        host = re.sub(r"^https://|:\d+$", "", environment(objects, container)["CANJU_COORDINATOR"])
        advertised = option(container, "--advertise").replace("$(CANJU_COORDINATOR)", host).rsplit(":", 1)[0]
        space = of(objects, "Namespace")[0]["metadata"]["name"]
        advertised = advertised.replace("$(POD_NAME)", "*").replace("$(POD_NAMESPACE)", space)
        for wanted in filter(None, (host, advertised)):
            if wanted not in good_for:
                yield f"no certificate is good for {wanted}"


def options(objects, folder):
    for who, _, container in workloads(objects):
        [command] = container["command"]
        asked = [f"{folder}/{command}", "start", "--help"]
        told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        for arg in container["args"]:
            if arg.startswith("--") and not re.search(rf"{arg}\b", told):
                yield f"{who}: `{command} start` has no option {arg}"


CHECKS = [references, variables, selectors, mounts, confined, probes, budgets, encrypted]


def spoilt(objects):
    """One thing broken for each check, as (what, objects)."""
    plain = {"name": "CANJU_COORDINATOR", "value": "http://coordinator:7420"}

    def change(what, act):
        broken = copy.deepcopy(objects)
        worker = next(o for o in of(broken, "StatefulSet"))
        act(broken, worker, worker["spec"]["template"]["spec"], worker["spec"]["template"]["spec"]["containers"][0])
        return what, broken

    yield change("references", lambda o, w, p, c: w["spec"].update(serviceName="nobody"))
    yield change("references", lambda o, w, p, c: c["envFrom"][0]["configMapRef"].update(name="settings"))
    yield change("variables", lambda o, w, p, c: c["args"].append("$(NOBODY)"))
    yield change("selectors", lambda o, w, p, c: w["spec"]["template"]["metadata"]["labels"].clear())
    yield change("selectors", lambda o, w, p, c: of(o, "Service")[0]["spec"]["ports"][0].update(targetPort="nobody"))
    yield change("mounts", lambda o, w, p, c: c["volumeMounts"].pop())
    yield change("confined", lambda o, w, p, c: c["securityContext"].update(readOnlyRootFilesystem=False))
    yield change("probes", lambda o, w, p, c: c["readinessProbe"]["httpGet"].update(port="nobody"))
    yield change("budgets", lambda o, w, p, c: p.update(terminationGracePeriodSeconds=30))
    yield change("budgets", lambda o, w, p, c: c["resources"]["limits"].update(memory="1Gi"))
    yield change("encrypted", lambda o, w, p, c: c["args"].extend(["--tls-cert", "/x"]) or c["env"].append(plain))
    if of(objects, "Certificate"):
        yield change("encrypted", lambda o, w, p, c: of(o, "Certificate")[-1]["spec"].update(dnsNames=["x"]))


def main():
    spoil = sys.argv[1] == "--spoil"
    file, *folder = sys.argv[2:] if spoil else sys.argv[1:]
    with open(file, encoding="utf-8") as stream:
        objects = [o for o in yaml.safe_load_all(stream) if o]
    if spoil:
        unseen = []
        for what, broken in spoilt(objects):
            if not any(list(check(broken)) for check in CHECKS if check.__name__ == what):
                unseen.append(f"broken, and not noticed: {what}")
        print("\n".join(unseen))
        return len(unseen)
    wrong = [w for check in CHECKS for w in check(objects)]
    wrong += [w for f in folder for w in options(objects, f)]
    print("\n".join(wrong))
    return len(wrong)


sys.exit(min(main(), 1))
