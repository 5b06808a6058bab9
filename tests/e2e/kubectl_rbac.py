#!/usr/bin/env python3
"""Two users of the sample-apiserver, who may do what roles and bindings say.

usage: kubectl_rbac.py --server BINARY [--kubectl BINARY]

The administrator has the kubeconfig that the server writes; jane has a client certificate by the
same authority, and no rights but those that she is given. Exits 1 and names each failed check.
"""

import argparse
import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from kubectl_checks import Checker, Kubectl
from servers import Failure, Server, wait_until

FLUNDER = """apiVersion: wardle.example.com/v1alpha1
kind: Flunder
metadata:
  name: %s
spec:
  reference: other
"""

# What `kubectl auth reconcile` is given: it creates, completes, and takes nothing away. In a
# namespace it would first create that, and this server has no namespaces.
RECONCILED = """apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: watcher
rules:
- apiGroups: ["wardle.example.com"]
  resources: ["flunders"]
  verbs: [%s]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: watchers
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: watcher
subjects:
- kind: User
  name: %s
"""


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificate(folder, user, group):
    """The files of a key and a certificate that the server's authority has signed."""
    key, request, cert = (os.path.join(folder, user + end) for end in (".key", ".csr", ".crt"))
    pki = os.path.join(folder, "pki")
    usage = os.path.join(folder, "usage.cnf")
    with open(usage, "w") as file:
        file.write("extendedKeyUsage=clientAuth\n")
    openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request,
            "-subj", "/O=%s/CN=%s" % (group, user))
    openssl("x509", "-req", "-in", request, "-CA", os.path.join(pki, "ca.crt"), "-CAkey",
            os.path.join(pki, "ca.key"), "-set_serial", "4711", "-days", "2", "-extfile", usage,
            "-out", cert)
    return key, cert


def kubeconfig_of(admin, folder, user, group):
    """A kubeconfig of somebody else: the administrator's, with another certificate."""
    path = os.path.join(folder, "kubeconfig-" + user)
    with open(admin) as file:
        text = file.read()
    for field, name in zip(("client-key-data", "client-certificate-data"), certificate(folder, user, group)):
        with open(name, "rb") as file:
            text, found = re.subn(field + ": .*", field + ": " + base64.b64encode(file.read()).decode(), text)
        if found != 1:
            raise Failure("the kubeconfig has no %s of its own" % field)
    with open(path, "w") as file:
        file.write(re.sub("\n *token: .*", "", text))
    return path


def eventually(t, kubectl, args, text):
    """A change of a binding is known a moment later."""
    def done():
        result = kubectl.run(*args)
        return text in result.stdout + result.stderr
    try:
        wait_until(done, "kubectl %s prints %r" % (" ".join(args), text))
        t.check(True, "")
    except Failure as failure:
        t.check(False, str(failure), kubectl.run(*args).stderr)


def nobody_yet(jane):
    jane.says(["get", "flunders"], 'flunders.wardle.example.com is forbidden: User "jane" cannot list '
              'resource "flunders" in API group "wardle.example.com" in the namespace "default"', code=1)
    jane.prints(["get", "--raw", "/readyz"], "ok")
    jane.says(["auth", "can-i", "get", "flunders"], "no", code=1)
    jane.says(["api-resources", "--api-group=rbac.authorization.k8s.io"], "clusterrolebindings",
              "rolebindings")
    jane.says(["auth", "can-i", "--list"], "selfsubjectrulesreviews.authorization.k8s.io", "/openapi/*")


def roles(admin, jane):
    admin.says(["create", "role", "reader", "--verb=get,list,watch",
                "--resource=flunders.wardle.example.com"], "role.rbac.authorization.k8s.io/reader created")
    admin.says(["create", "rolebinding", "readers", "--role=reader", "--group=devs"],
               "rolebinding.rbac.authorization.k8s.io/readers created")
    admin.says(["create", "-f", "-"], "created", stdin=FLUNDER % "one")
    eventually(jane, jane.kubectl, ["get", "flunders"], "one")
    jane.says(["create", "-f", "-"], 'cannot create resource "flunders"', stdin=FLUNDER % "two", code=1)
    jane.says(["delete", "flunder", "one"], 'cannot delete resource "flunders"', code=1)
    jane.says(["get", "flunders", "-A"], "at the cluster scope", code=1)
    jane.says(["get", "flunders", "-n", "other"], 'in the namespace "other"', code=1)
    jane.prints(["auth", "can-i", "list", "flunders.wardle.example.com"], "yes\n")
    jane.says(["auth", "can-i", "--list"], "flunders.wardle.example.com", "[get list watch]")
    admin.rows(["get", "rolebindings"], "NAME ROLE AGE", "readers Role/reader *")
    admin.says(["get", "rolebindings", "-o", "wide"], "GROUPS", "devs")
    admin.says(["describe", "rolebinding", "readers"], "Kind:  Role", "Group  devs")
    admin.says(["delete", "rolebinding", "readers"], '"readers" deleted')
    eventually(jane, jane.kubectl, ["get", "flunders"], "is forbidden")


def reconcile(admin, jane):
    admin.says(["auth", "reconcile", "-f", "-"], "clusterrole.rbac.authorization.k8s.io/watcher",
               "clusterrolebinding.rbac.authorization.k8s.io/watchers", stdin=RECONCILED % ('"list"', "jane"))
    eventually(jane, jane.kubectl, ["get", "flunders"], "one")
    jane.says(["get", "flunder", "one"], "cannot get resource", code=1)
    jane.says(["get", "flunders", "-n", "other"], "No resources found")
    admin.says(["auth", "reconcile", "-f", "-"], "watcher", stdin=RECONCILED % ('"get"', "joe"))
    eventually(jane, jane.kubectl, ["get", "flunder", "one"], "one")
    stored = json.loads(admin.kubectl.run("get", "clusterrolebinding", "watchers", "-o", "json").stdout)
    names = sorted(subject["name"] for subject in stored["subjects"])
    admin.check(names == ["jane", "joe"], "reconcile adds a subject and keeps the other", names)


def escalation(admin, jane):
    admin.says(["create", "clusterrolebinding", "janes", "--clusterrole=admin", "--user=jane"], "created")
    eventually(jane, jane.kubectl, ["auth", "can-i", "create", "rolebindings"], "yes")
    jane.says(["create", "rolebinding", "mine", "--clusterrole=cluster-admin", "--user=jane"],
              "is attempting to grant RBAC permissions not currently held", code=1)
    jane.says(["create", "rolebinding", "fine", "--clusterrole=view", "--user=joe"], "created")
    jane.says(["create", "clusterrole", "x", "--verb=get", "--non-resource-url=/x"],
              "cannot create resource \"clusterroles\"", code=1)
    admin.says(["delete", "clusterrolebinding", "janes"], "deleted")


def after_restart(server, admin, jane):
    server.stop()
    server.start()
    # Port and authority may be new: the kubeconfig is written anew, hers is not.
    admin.says(["get", "clusterrolebinding", "cluster-admin"], "ClusterRole/cluster-admin")
    admin.says(["get", "clusterrole", "watcher"], "watcher")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, "rocks", folder)
        server.start()
        try:
            admin = Checker(Kubectl(args.kubectl, server.kubeconfig, folder))
            path = kubeconfig_of(server.kubeconfig, folder, "jane", "devs")
            jane = Checker(Kubectl(args.kubectl, path, folder))
            nobody_yet(jane)
            roles(admin, jane)
            reconcile(admin, jane)
            escalation(admin, jane)
            after_restart(server, admin, jane)
            admin.check(server.stop() == 0, "SIGTERM ends the server with exit code 0")
        finally:
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
        failures = admin.failures + jane.failures
        print("kubectl %d.%d and RBAC: %d checks, %d failed"
              % (*admin.kubectl.version, admin.checks + jane.checks, len(failures)))
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
