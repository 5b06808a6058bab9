"""A server of examples/kube-apiserver, and kubelets: kwok and the program of kubelet/."""

import hashlib
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time

from kubectl_checks import Kubectl
from servers import Server, free_port, wait_until

STAGES = ["node/fast/node-initialize", "node/heartbeat-with-lease/node-heartbeat-with-lease", "pod/fast/pod-ready"]
LINES = ["2026-01-01T00:00:0%d.000000000Z stdout F line %d" % (i, i) for i in (1, 2, 3)]
ECHO_PORT = 7
REFUSED_PORT = 9
# Kubelets run commands for whoever asks: none may be reached from elsewhere.
KUBELET_ADDRESS = "127.0.0.1"
# Those of pod `q` whose requests the program of kubelet/ answers wrongly.
FAULTY_CONTAINERS = ["answers-500", "answers-200", "half-a-head", "nothing"]


def own_address():
    """An address of this machine that proxies may reach; None: it has only the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = one.getsockname()[0]
    return None if address.startswith("127.") else address


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = ("asked for " + self.path).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    """What listens in a pod: tells the path that it was asked for."""

    request_queue_size = 1024

    def __init__(self, address):
        super().__init__((address, 0), Answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class StreamingKubectl(Kubectl):
    """A kubectl that may be told, from 1.30 on, whether its streams are WebSockets or SPDY; those before
    know only SPDY."""

    websockets = None

    def environment(self, extra=None):
        chosen = {}
        if self.websockets is not None:
            wanted = "true" if self.websockets else "false"
            chosen = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": wanted, "KUBECTL_PORT_FORWARD_WEBSOCKETS": wanted}
        return super().environment({**chosen, **(extra or {})})

    def transports(self):
        return (None,) if self.before(30) else (True, False)

    def transport(self):
        return "WebSocket" if self.websockets else "SPDY"


class World:
    """A server, the kubelets of its nodes, and a web server in its pods' place.

    Pod `p` is on node `fake`, whose kubelet is kwok, if there is one; pod `q` on node `scripted`. Pod `r`
    and node `elsewhere` stand for the web server, at an address that proxies may reach."""

    def __init__(self, args, folder):
        self.folder, self.go_streams = folder, args.go_streams
        self.address = own_address()
        self.web = Web(self.address or "127.0.0.1")
        self.server = Server(args.server, "memory", folder)
        self.server.start()
        self.kubectl = StreamingKubectl(args.kubectl, self.server.kubeconfig, folder)
        self.log, self.previous = self.path("log"), self.path("previous")
        self.write(self.log, "\n".join(LINES) + "\n")
        self.write(self.previous, LINES[0].replace("line", "earlier line") + "\n")
        self.pod, self.port = None, free_port()
        self.kubelets = [self.started("scripted", [args.kubelet] + self.scripted_options())]
        if args.kwok:
            self.write(self.path("kwok.yaml"), self.kwok_configuration(args.stages))
            self.kubelets.append(self.started("kwok", [args.kwok] + self.kwok_options()))

    def started(self, name, command):
        with open(self.path(name + ".log"), "w") as log:
            environment = {**os.environ, "HOME": self.folder}
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log, env=environment)

    def scripted_options(self):
        listen = "%s:%d" % (KUBELET_ADDRESS, self.port)
        return ["-listen", listen, "-folder", self.folder, "-web", "%s:%d" % self.web.server_address]

    def kwok_options(self):
        port = free_port()
        return (
            ["--kubeconfig", self.server.kubeconfig, "--config", self.path("kwok.yaml")]
            + ["--manage-single-node=fake", "--cidr=10.244.0.0/16", "--node-ip=" + KUBELET_ADDRESS]
            + ["--node-port=%d" % port, "--server-address=%s:%d" % (KUBELET_ADDRESS, port)]
        )

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, path, text):
        with open(path, "w") as file:
            file.write(text)

    def append_line(self, number):
        with open(self.log, "a") as file:
            file.write("2026-01-01T00:00:%02d.000000000Z stdout F line %d\n" % (number, number))

    def kwok_configuration(self, stages):
        parts = []
        for stage in STAGES:
            with open(os.path.join(stages, stage + ".yaml")) as file:
                parts.append(file.read())
        host, port = self.web.server_address
        kinds = {
            "ClusterLogs": "logs: [{logsFile: %s, previousLogsFile: %s, follow: true}]" % (self.log, self.previous),
            "ClusterAttach": "attaches: [{logsFile: %s}]" % self.log,
            "ClusterPortForward": "forwards: [{ports: [%d], command: [cat]}, {target: {address: %s, port: %d}}]"
            % (ECHO_PORT, host, port),
            "ClusterExec": "execs: [{local: {workDir: %s}}]" % self.folder,
        }
        for kind, spec in kinds.items():
            parts.append("kind: %s\napiVersion: kwok.x-k8s.io/v1alpha1\nmetadata: {name: all}\nspec: {%s}\n" % (kind, spec))
        return "---\n".join(parts)

    def descriptors(self):
        """How many files, sockets among them, the server has open."""
        return len(os.listdir("/proc/%d/fd" % self.server.process.pid))

    def counted(self, metric):
        """The sum of a counter's samples in the server's metrics."""
        text = self.kubectl.run("get", "--raw", "/metrics").stdout
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith((metric + "{", metric + " ")))

    def resident(self):
        """Bytes of memory that the server has."""
        with open("/proc/%d/statm" % self.server.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        for kubelet in self.kubelets:
            kubelet.send_signal(signal.SIGTERM)
        for kubelet in self.kubelets:
            kubelet.wait(timeout=60)
        self.web.shutdown()


def start_kwok_pod(t, world):
    """Makes the node `fake` and the pod `p`, and waits until kwok runs it."""
    node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: fake\n"
    t.says(["create", "-f", "-"], "node/fake created", stdin=node)
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {app: web}\nspec:\n  nodeName: fake\n"
        "  hostNetwork: true\n  containers:\n  - name: c\n    image: none\n    ports: [{containerPort: %d}]\n"
        % world.web.server_address[1]
    )
    t.says(["create", "-f", "-"], "pod/p created", stdin=pod)
    status = ["get", "pod", "p", "-o", "jsonpath={.status.phase} {.status.podIP}"]
    wait_until(lambda: world.kubectl.run(*status).stdout.startswith("Running "), "the pod runs", 60)


def start_node(t, name, status):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    t.says(["create", "-f", "-"], "node/%s created" % name, stdin=json.dumps(node))
    node["status"] = status
    t.says(["replace", "--raw", "/api/v1/nodes/%s/status" % name, "-f", "-"], stdin=json.dumps(node))


def start_pod(t, name, spec, status):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    t.says(["create", "-f", "-"], "pod/%s created" % name, stdin=json.dumps(pod))
    pod["status"] = status
    t.says(["replace", "--raw", "/api/v1/namespaces/default/pods/%s/status" % name, "-f", "-"], stdin=json.dumps(pod))


def start_scripted_pod(t, world):
    """Makes the node `scripted` and the pod `q`, whose containers but the first stand for faults, and tells
    their status, as the program is no kubelet otherwise."""
    start_node(t, "scripted", {"addresses": [{"type": "InternalIP", "address": KUBELET_ADDRESS}],
                               "daemonEndpoints": {"kubeletEndpoint": {"Port": world.port}}})
    containers = [{"name": name, "image": "none"} for name in ("c", *FAULTY_CONTAINERS)]
    start_pod(t, "q", {"nodeName": "scripted", "containers": containers}, {"phase": "Running"})


def start_web_pod(t, world):
    """Makes the node `elsewhere` and the pod `r` where the web server listens."""
    start_node(t, "elsewhere", {"addresses": [{"type": "InternalIP", "address": world.address}]})
    port = {"containerPort": world.web.server_address[1]}
    start_pod(t, "r", {"nodeName": "elsewhere", "containers": [{"name": "c", "image": "none", "ports": [port]}]},
              {"phase": "Running", "podIP": world.address, "podIPs": [{"ip": world.address}]})


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def printed_by(process, text, seconds=30):
    """What `process` prints until that has `text`, it ends, or the time is over."""
    seen, end = "", time.monotonic() + seconds
    out = process.stdout.fileno()
    os.set_blocking(out, False)
    while text not in seen and time.monotonic() < end:
        try:
            piece = os.read(out, 65536).decode()
        except BlockingIOError:
            time.sleep(0.02)
            continue
        if not piece:
            break
        seen += piece
    return seen


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()
