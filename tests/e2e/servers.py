"""A server program under test, on a free port with its data in a folder of its own, and what several
scripts need to drive it."""

import base64
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time


class Failure(Exception):
    pass


class Etcd:
    """A real etcd of one member on free ports with its data in a temporary folder: in memory where
    there is such a place, as a disk with much else to do keeps it from answering in time. More
    arguments may give it certificates: its `scheme` is https then."""

    def __init__(self, folder, arguments=(), scheme="http"):
        binary = os.environ.get("APISERVER_ETCD") or shutil.which("etcd")
        if not binary:
            raise Failure("no etcd in $PATH or $APISERVER_ETCD")
        port, peer = free_port(), free_port()
        self.url = "%s://127.0.0.1:%d" % (scheme, port)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else folder
        self.data = tempfile.mkdtemp(prefix="apiserver-etcd-", dir=memory)
        self.process = subprocess.Popen(
            [binary, "--data-dir=" + self.data, "--log-level=warn", "--logger=zap"]
            + ["--listen-client-urls=" + self.url, "--advertise-client-urls=" + self.url]
            + ["--listen-peer-urls=http://127.0.0.1:%d" % peer, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(folder, "etcd.log"), "a"),
        )

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)


def free_port():
    """Outside of what the system gives to clients: one of them might have it by the time it is used."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Server:
    """A server program on a free port with its data in a temporary folder."""

    def __init__(self, binary, storage, folder, encrypt=False, flags=()):
        self.binary, self.storage, self.folder, self.flags = binary, storage, folder, flags
        self.encryption = os.path.join(folder, "encryption.json") if encrypt else None
        self.etcd = Etcd(folder) if storage == "etcd" else None
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.process = None

    def start(self, *more):
        if os.path.exists(self.kubeconfig):
            os.remove(self.kubeconfig)
        flags = ["--secure-port=0", "--storage=" + self.storage, "--data-dir=" + self.folder, *self.flags, *more]
        if self.etcd:
            flags.append("--etcd-servers=" + self.etcd.url)
        if self.encryption:
            flags.append("--encryption-provider-config=" + self.encryption)
        self.process = subprocess.Popen(
            [self.binary] + flags,
            stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(self.folder, "server.log"), "a"),
        )
        wait_until(lambda: os.path.exists(self.kubeconfig), "the server writes its kubeconfig")

    def encrypt_with(self, *kinds):
        """From the next start on: writes with the first provider, reads with all."""
        if not self.encryption:
            return
        secret = base64.b64encode(bytes(range(1, 33))).decode()
        providers = [{kind: {"keys": [{"name": "key", "secret": secret}]}} for kind in kinds]
        with open(self.encryption, "w") as file:
            json.dump({"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1",
                       "resources": [{"resources": ["*.*"], "providers": providers}]}, file)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=120)


def wait_until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure("timed out: " + what)
        time.sleep(0.02)


@contextlib.contextmanager
def running(server, storage="memory", folder=None, flags=()):
    """The kubeconfig of `server`: a program, which then runs for as long as the context, or the kubeconfig
    of one that runs already."""
    if not os.access(server, os.X_OK):
        yield server
        return
    with tempfile.TemporaryDirectory() as own:
        one = Server(server, storage, folder or own, flags=flags)
        try:
            one.start()
            yield one.kubeconfig
            if one.stop() != 0:
                raise Failure("SIGTERM does not end the server with exit code 0")
        finally:
            if one.process and one.process.poll() is None:
                one.stop(signal.SIGKILL)
            if one.etcd:
                one.etcd.stop()
