"""A kubelet that keeps each stream open for as long as it may, and clients that hold such streams through a server."""

import os
import socket
import ssl
import struct
import threading
import zlib

from certificates import Authority

UPGRADE = {"Connection": "Upgrade"}
SPDY = {**UPGRADE, "Upgrade": "SPDY/3.1"}
WEBSOCKET = {**UPGRADE, "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
COMMANDS, PORTS = "v5.channel.k8s.io", "portforward.k8s.io"
# The kubelet sends without an end to whoever asks for this command.
FLOOD = "flood"
PIECE = bytes(64 << 10)


def streams(pod):
    """Path and headers of each way to have a stream of `pod`."""
    exec_ = pod + "/exec?container=c&stdout=true&stdin=true&command=sh"
    attach = pod + "/attach?container=c&stdout=true&stdin=true"
    over_spdy = {**SPDY, "X-Stream-Protocol-Version": COMMANDS}
    over_websocket = {**WEBSOCKET, "Sec-WebSocket-Protocol": COMMANDS}
    return (
        (exec_, over_spdy),
        (exec_, over_websocket),
        (attach, over_spdy),
        (attach, over_websocket),
        (pod + "/portforward", {**SPDY, "X-Stream-Protocol-Version": PORTS}),
        (pod + "/portforward", {**WEBSOCKET, "Sec-WebSocket-Protocol": "SPDY/3.1+" + PORTS}),
        (pod + "/log?container=c&follow=true", {}),
    )


def flood(pod):
    """The same of a stream in which the kubelet sends without an end."""
    path = pod + "/exec?container=c&stdout=true&command=" + FLOOD
    return path, {**SPDY, "X-Stream-Protocol-Version": COMMANDS}


def read_head(link):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = link.recv(1)
        if not piece:
            return ""
        head += piece
    return head.decode()


def read_exactly(link, size):
    got = b""
    while len(got) < size:
        piece = link.recv(size - len(got))
        if not piece:
            raise EOFError
        got += piece
    return got


class Kubelet:
    """Listens on the loopback only; counts the streams that are open."""

    def __init__(self, folder):
        certificate, key = Authority(folder, "kubelets").sign("kubelet", names=("IP:127.0.0.1",))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0), backlog=256),
                                            server_side=True, do_handshake_on_connect=False)
        self.port, self.open, self.lock = self.listener.getsockname()[1], 0, threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            link, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        counted = False
        try:
            head = read_head(link)
            counted = bool(head)
            self.count(int(counted))
            self.hold(link, head)
        except (OSError, EOFError):
            pass
        finally:
            self.count(-int(counted))
            link.close()

    def count(self, change):
        with self.lock:
            self.open += change

    def hold(self, link, head):
        if "upgrade: spdy/3.1" not in head.lower():
            link.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nline\n\r\n")
            return link.recv(1)
        protocol = PORTS if "/portForward/" in head else COMMANDS
        link.sendall(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
                      "X-Stream-Protocol-Version: %s\r\n\r\n" % protocol).encode())
        while "command=" + FLOOD in head:
            link.sendall(PIECE)
        self.accept_streams(link)

    def accept_streams(self, link):
        """Answers each SYN_STREAM of SPDY/3.1 with a SYN_REPLY without headers, and takes what else comes."""
        headers = zlib.compressobj()
        while True:
            kind, size = struct.unpack(">II", read_exactly(link, 8))
            body = read_exactly(link, size & 0xFFFFFF)
            if kind == 0x80030001:
                block = headers.compress(bytes(4)) + headers.flush(zlib.Z_SYNC_FLUSH)
                link.sendall(struct.pack(">II", 0x80030002, 4 + len(block)) + body[:4] + block)


class Client:
    """A stream through `api`'s server, which is not read before follow()."""

    def __init__(self, api, path, headers):
        link = socket.create_connection(("127.0.0.1", api.port), timeout=60)
        self.link, self.path = api.context.wrap_socket(link, server_hostname="127.0.0.1"), path
        lines = ["GET %s HTTP/1.1" % path, "Host: 127.0.0.1", "Authorization: Bearer " + api.token]
        lines += ["%s: %s" % each for each in headers.items()]
        self.link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.head = read_head(self.link)

    def began(self):
        return self.head.startswith("HTTP/1.1 101 " if "/log" not in self.path else "HTTP/1.1 200 ")

    def follow(self):
        """Reads, and closes the connection when the server ends the stream."""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while True:
                piece = self.link.recv(len(PIECE))
                # The kubelet writes nothing to WebSockets: what looks like a Close is one.
                if not piece or ("websocket" in self.head.lower() and b"\x88" in piece):
                    break
        except OSError:
            pass
        self.link.close()

    def ended(self):
        """Whether the server has ended the stream, perhaps after what it had sent."""
        self.reader.join(60)
        return not self.reader.is_alive()


def start_pod(t, api, port):
    """A pod on a node whose kubelet listens on `port`; returns the pod's path."""
    nodes, pods = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
    node = {"metadata": {"name": "holding"}}
    pod = {"metadata": {"name": "held"}, "spec": {"nodeName": "holding", "containers": [{"name": "c", "image": "i"}]}}
    answers = [api.call("POST", nodes, node), api.call("POST", pods, pod)]
    node["status"] = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                      "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}
    answers.append(api.call("PUT", nodes + "/holding/status", {"apiVersion": "v1", "kind": "Node", **node}))
    pod["status"] = {"phase": "Running"}
    answers.append(api.call("PUT", pods + "/held/status", {"apiVersion": "v1", "kind": "Pod", **pod}))
    t.check([code for code, _ in answers] == [201, 201, 200, 200], "a pod and its node", answers)
    return pods + "/held"


def descriptors(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))
