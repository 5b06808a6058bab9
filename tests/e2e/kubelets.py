"""A server of examples/kube-apiserver, and kwok as the kubelet of its node."""

import http.server
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
    """A server, kwok as the kubelet of its node `fake`, and a web server in its pods' place."""

    def __init__(self, args, folder):
        self.folder = folder
        self.address = own_address()
        self.web = Web(self.address or "127.0.0.1")
        self.server = Server(args.server, "memory", folder)
        self.server.start()
        self.kubectl = StreamingKubectl(args.kubectl, self.server.kubeconfig, folder)
        self.log, self.previous = self.path("log"), self.path("previous")
        self.write(self.log, "\n".join(LINES) + "\n")
        self.write(self.previous, LINES[0].replace("line", "earlier line") + "\n")
        self.write(self.path("kwok.yaml"), self.kwok_configuration(args.stages))
        node, port = self.address or "127.0.0.1", free_port()
        self.kwok = subprocess.Popen(
            [args.kwok, "--kubeconfig", self.server.kubeconfig, "--config", self.path("kwok.yaml")]
            + ["--manage-single-node=fake", "--cidr=10.244.0.0/16", "--node-ip=" + node]
            + ["--node-port=%d" % port, "--server-address=%s:%d" % (node, port)],
            stdout=subprocess.DEVNULL,
            stderr=open(self.path("kwok.log"), "w"),
            env={**os.environ, "HOME": folder},
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

    def stop(self):
        self.kwok.send_signal(signal.SIGTERM)
        self.kwok.wait(timeout=60)
        self.web.shutdown()


def start_pod(t, world):
    """Makes the node `fake` and the pod `p`, and waits until it runs."""
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
