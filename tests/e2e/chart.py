#!/usr/bin/env python3
"""The chart of the sample-apiserver: judged, rendered and installed by helm, and the server run as it says.

usage: chart.py --helm HELM --kubectl KUBECTL --cluster KUBE_APISERVER --server SAMPLE_APISERVER

The cluster is a kube-apiserver of ours, which runs no pods and does not serve every kind of the chart:
those in NOT_SERVED are rendered and looked at, all others are installed. The server is then a process of
this script, with the flags of the rendered Deployment and the certificate and account of the chart.
Exits 1 and names each failed check.
"""

import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import yaml

import checker
from servers import Server, free_port, wait_until

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/sample-apiserver/chart")
NOT_SERVED = {"Deployment": "deployment.yaml", "PersistentVolumeClaim": "volume.yaml"}
NAME = "sample-apiserver"
ETCD = ["--set=storage.type=etcd", "--set=storage.etcd.servers={https://etcd:2379,https://more:2379}",
        "--set=storage.etcd.secret=etcd-client", "--set=replicas=3"]
OWN = ["--set=certificate.source=secret", "--set=certificate.secret.name=mine",
       "--set=certificate.secret.ca=-----BEGIN CERTIFICATE-----"]
# What helm must refuse, and what it says.
REFUSED = [
    (["--set=replicas=2"], "type"),
    (["--set=storage.type=etcd"], "servers"),
    (["--set=storage.type=paper"], "type"),
    (["--set=certificate.source=secret"], "name"),
    (["--set=replica=1"], "replica"),
    (["--set=api.versions[0].name=one"], "name"),
]


class Helm:
    def __init__(self, binary, kubectl, kubeconfig, folder):
        self.binary, self.kubectl_binary, self.kubeconfig, self.folder = binary, kubectl, kubeconfig, folder
        self.environment = {**os.environ, "KUBECONFIG": kubeconfig, "HOME": folder}
        for kind in ("CACHE", "CONFIG", "DATA"):
            self.environment["HELM_%s_HOME" % kind] = os.path.join(folder, "helm-" + kind.lower())

    def run(self, *args):
        got = subprocess.run([self.binary, *args], env=self.environment, capture_output=True, text=True, timeout=120)
        return got.returncode, got.stdout, got.stderr

    def kubectl(self, *args, given=None):
        got = subprocess.run([self.kubectl_binary, *args], env=self.environment, input=given, capture_output=True,
                             text=True, timeout=120)
        return got.returncode, got.stdout, got.stderr

    def objects(self, *flags):
        """What the chart makes with these flags: kind/name -> object."""
        code, out, err = self.run("template", NAME, CHART, "--namespace=wardle", *flags)
        if code:
            raise RuntimeError(err)
        return {one["kind"] + "/" + one["metadata"]["name"]: one for one in yaml.safe_load_all(out) if one}


def judged(t, helm):
    code, out, err = helm.run("lint", "--strict", CHART)
    t.check(code == 0 and "0 chart(s) failed" in out, "lint", out + err)
    for flags, word in REFUSED:
        code, out, err = helm.run("template", NAME, CHART, *flags)
        t.check(code != 0 and "meet the specifications of the schema" in err and word in err,
                "refused: " + " ".join(flags), out[:200] + err)


def pod_of(objects):
    return objects["Deployment/" + NAME]["spec"]["template"]["spec"]


def rendered(t, helm):
    objects = helm.objects()
    pod = pod_of(objects)
    container = pod["containers"][0]
    t.check(pod["securityContext"]["runAsNonRoot"] is True and pod["securityContext"]["runAsUser"] == 65532 and
            container["securityContext"]["readOnlyRootFilesystem"] is True and
            container["securityContext"]["allowPrivilegeEscalation"] is False, "nobody's server", pod)
    t.check(all(container[probe]["httpGet"]["scheme"] == "HTTPS" for probe in
                ("startupProbe", "readinessProbe", "livenessProbe")), "probes", container)
    t.check(objects["Deployment/" + NAME]["spec"]["strategy"]["type"] == "Recreate", "one at a time", objects)
    t.check(objects["PersistentVolumeClaim/" + NAME]["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep",
            "objects outlive the release", objects)

    etcd = helm.objects(*ETCD)
    args = pod_of(etcd)["containers"][0]["args"]
    t.check("--etcd-servers=https://etcd:2379,https://more:2379" in args and "--etcd-cafile=/etcd/ca.crt" in args,
            "etcd's flags", args)
    t.check("PersistentVolumeClaim/" + NAME not in etcd and "strategy" not in etcd["Deployment/" + NAME]["spec"] and
            etcd["Deployment/" + NAME]["spec"]["replicas"] == 3, "three servers on etcd", etcd)

    memory = helm.objects("--set=storage.type=memory")
    t.check({"name": "data", "emptyDir": {}} in pod_of(memory)["volumes"], "a folder that goes", memory)

    own = helm.objects(*OWN)
    t.check(pod_of(own)["volumes"][1]["secret"]["secretName"] == "mine" and not [k for k in own if k.startswith("Secret/")] and
            own["APIService/v1beta1.wardle.example.com"]["spec"]["caBundle"] ==
            base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(), "a certificate of one's own", own)

    managed = helm.objects("--set=certificate.source=certManager")
    t.check(managed["Certificate/" + NAME]["spec"]["dnsNames"][0] == NAME + ".wardle.svc" and
            managed["APIService/v1beta1.wardle.example.com"]["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] ==
            "wardle/" + NAME and "Issuer/" + NAME in managed, "cert-manager's certificate", managed)
    issued = helm.objects("--set=certificate.source=certManager", "--set=certificate.certManager.issuer=corp")
    t.check(issued["Certificate/" + NAME]["spec"]["issuerRef"] == {"kind": "ClusterIssuer", "name": "corp"} and
            not [k for k in issued if k.startswith("Issuer/")], "an issuer that exists", issued)


def served_part(t, helm):
    """The chart without the kinds that the cluster does not serve."""
    served = {line.split()[-1] for line in helm.kubectl("api-resources", "--no-headers")[1].splitlines()}
    kinds = {key.split("/")[0] for key in helm.objects()}
    t.check(kinds - served == set(NOT_SERVED), "the kinds that are not served here", sorted(kinds - served))
    chart = os.path.join(helm.folder, "served")
    shutil.copytree(CHART, chart)
    for name in NOT_SERVED.values():
        os.remove(os.path.join(chart, "templates", name))
    return chart


def installed(t, helm, chart, port):
    flags = ["--namespace=wardle", "--set=service.port=%d" % port]
    t.check(helm.kubectl("create", "namespace", "wardle")[0] == 0, "a namespace")
    code, out, err = helm.run("install", NAME, chart, *flags, "--dry-run=server")
    t.check(code == 0 and "kind: APIService" in out, "helm install --dry-run=server", out[-300:] + err)
    for key, one in helm.objects(*flags[1:]).items():
        if key.split("/")[0] not in NOT_SERVED:
            code, out, err = helm.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", given=json.dumps(one))
            t.check(code == 0 and "server dry run" in out, "kubectl create --dry-run=server: " + key, out + err)
    t.check(helm.kubectl("get", "apiservice", "v1beta1.wardle.example.com")[0] != 0, "nothing was made by dry runs")

    code, out, err = helm.run("install", NAME, chart, *flags)
    t.check(code == 0 and "STATUS: deployed" in out and "kubectl wait --for=condition=Available" in out, "helm install", out + err)
    secret = ["-n", "wardle", "get", "secret", NAME + "-serving", "-o", "json"]
    before = json.loads(helm.kubectl(*secret)[1])["data"]
    code, out, err = helm.run("upgrade", NAME, chart, *flags, "--set=podLabels.a=b")
    t.check(code == 0, "helm upgrade", out + err)
    t.check(json.loads(helm.kubectl(*secret)[1])["data"] == before, "an upgrade keeps the certificate")
    return before


def account_kubeconfig(helm):
    """Of the chart's ServiceAccount, which is all that the server is in the cluster."""
    token = helm.kubectl("-n", "wardle", "create", "token", NAME)[1].strip()
    cluster = json.loads(helm.kubectl("config", "view", "--raw", "-o", "json")[1])["clusters"][0]
    path = os.path.join(helm.folder, "account.kubeconfig")
    with open(path, "w") as file:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [cluster],
                   "users": [{"name": "u", "user": {"token": token}}],
                   "contexts": [{"name": "c", "context": {"cluster": cluster["name"], "user": "u"}}]}, file)
    return path


def flags_of_pod(helm, port, kubeconfig):
    """The flags of the Deployment, with this machine's folders, and what a pod knows of its cluster."""
    places = {"/serving": helm.folder, "/data": os.path.join(helm.folder, "data")}
    flags = []
    for flag in pod_of(helm.objects())["containers"][0]["args"]:
        for inside, here in places.items():
            flag = flag.replace("=" + inside, "=" + here)
        flags.append(flag.replace("=0.0.0.0", "=127.0.0.1").replace("--secure-port=6443", "--secure-port=%d" % port))
    return flags + ["--%skubeconfig=%s" % (of, kubeconfig) for of in ("authentication-", "authorization-", "")]


def used(t, helm, server, port, pair):
    for name in ("tls.crt", "tls.key"):
        with open(os.path.join(helm.folder, name), "wb") as file:
            file.write(base64.b64decode(pair[name]))
    # The cluster has no network of pods: the Service is another name for this machine.
    helm.kubectl("-n", "wardle", "delete", "service", NAME)
    helm.kubectl("create", "-f", "-", given=json.dumps(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME, "namespace": "wardle"},
         "spec": {"type": "ExternalName", "externalName": "localhost"}}))
    log = os.path.join(helm.folder, "sample.log")
    with open(log, "w") as file:
        process = subprocess.Popen([server, *flags_of_pod(helm, port, account_kubeconfig(helm))],
                                   stdout=subprocess.DEVNULL, stderr=file)
    try:
        condition = ["wait", "--for=condition=Available", "--timeout=60s", "apiservice/v1beta1.wardle.example.com"]
        code, out, err = helm.kubectl(*condition)
        t.check(code == 0, "the aggregator trusts the chart's certificate", out + err + open(log).read()[-2000:])
        flunder = os.path.join(CHART, "../flunder.yaml")
        code, out, err = helm.kubectl("apply", "-f", flunder)
        t.check(code == 0, "kubectl apply through the aggregator", out + err)
        code, out, err = helm.kubectl("get", "flunders", "-A")
        t.check(code == 0 and out, "kubectl get through the aggregator", out + err)
        said = open(log).read()
        t.check("starting over" not in said, "the account may follow all that admission obeys", said[-2000:])
    finally:
        process.send_signal(signal.SIGTERM)
        t.check(process.wait(timeout=120) == 0, "the server ends with 0")


def main():
    parser = argparse.ArgumentParser()
    for name in ("helm", "kubectl", "cluster", "server"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    t = checker.Checker()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "cluster"))
        cluster = Server(args.cluster, "memory", os.path.join(folder, "cluster"))
        cluster.start()
        try:
            helm = Helm(args.helm, args.kubectl, cluster.kubeconfig, folder)
            version = helm.run("version", "--short")[1].strip()
            wait_until(lambda: helm.kubectl("get", "--raw", "/readyz")[1] == "ok", "the cluster is ready")
            judged(t, helm)
            rendered(t, helm)
            chart, port = served_part(t, helm), free_port()
            used(t, helm, args.server, port, installed(t, helm, chart, port))
            code, out, err = helm.run("uninstall", NAME, "--namespace=wardle")
            t.check(code == 0, "helm uninstall", out + err)
            t.check(helm.kubectl("get", "apiservice", "v1beta1.wardle.example.com")[0] != 0, "the APIServices are gone")
        finally:
            cluster.stop()
    print("helm %s: %d checks, %d failed" % (version, t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
