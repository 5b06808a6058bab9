"""Kubernetes' own kube-apiserver, alone, with one user of system:masters."""

import contextlib
import os
import ssl
import subprocess

from interop_servers import Api, Etcd, free_port, started, wait_until

TOKEN = "turns"
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: go
contexts: [{name: go, context: {cluster: go, user: admin}}]
users: [{name: admin, user: {token: %s}}]
clusters:
- name: go
  cluster:
    server: https://127.0.0.1:%d
    certificate-authority: %s
"""


def keys(folder):
    """Files with a key for service accounts and with the token of the user."""
    key, tokens = os.path.join(folder, "sa.key"), os.path.join(folder, "tokens")
    if not os.path.exists(key):
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
    with open(tokens, "w", encoding="utf-8") as file:
        file.write(TOKEN + ",admin,1,system:masters\n")
    return key, tokens


@contextlib.contextmanager
def go_kube_apiserver(binary, etcd, folder):
    """A client of it while it runs; what it writes goes to `folder`/go, a kubeconfig too."""
    folder = os.path.join(folder, "go")
    os.makedirs(folder, exist_ok=True)
    key, tokens = keys(folder)
    port = free_port()
    command = [binary, "--etcd-servers=" + etcd.url, "--secure-port=%d" % port, "--bind-address=127.0.0.1",
               "--cert-dir=" + folder, "--token-auth-file=" + tokens, "--authorization-mode=RBAC",
               "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key,
               "--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.96.0.0/24"]
    with started(command, os.path.join(folder, "log")) as process:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        api = Api("go", "https://127.0.0.1:%d" % port, context, {"Authorization": "Bearer " + TOKEN}, process)
        wait_until(api.ready, process, "the Go server")
        with open(os.path.join(folder, "kubeconfig"), "w", encoding="utf-8") as file:
            file.write(KUBECONFIG % (TOKEN, port, os.path.join(folder, "apiserver.crt")))
        with contextlib.closing(api):
            yield api


@contextlib.contextmanager
def kubeconfig_of(binary, etcd, folder):
    """The kubeconfig of one on an etcd of its own."""
    with Etcd(etcd) as own, go_kube_apiserver(binary, own, folder):
        yield os.path.join(folder, "go", "kubeconfig")
