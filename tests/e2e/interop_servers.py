"""What interop.py drives: an etcd, the two servers on it, and a client of each."""

import base64
import contextlib
import http.client
import json
import os
import queue
import random
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request


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


def wait_until(ready, process, what):
    end = time.monotonic() + 180
    while not ready():
        if time.monotonic() > end or process.poll() is not None:
            raise RuntimeError(what + " does not come up")
        time.sleep(0.05)


def stop(process):
    process.terminate()
    try:
        process.wait(timeout=180)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Etcd:
    """One member in a directory of its own, spoken to in JSON."""

    def __init__(self, binary):
        self.binary = binary

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.url = "http://127.0.0.1:%d" % free_port()
        peer = "http://127.0.0.1:%d" % free_port()
        self.process = subprocess.Popen(
            [self.binary, "--data-dir=" + self.folder.name, "--listen-client-urls=" + self.url,
             "--advertise-client-urls=" + self.url, "--listen-peer-urls=" + peer,
             "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
             "--log-level=error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.answers, self.process, "etcd")
        return self

    def __exit__(self, *_):
        stop(self.process)
        self.folder.cleanup()

    def answers(self):
        try:
            return self.revision() > 0
        except OSError:
            return False

    def call(self, path, **body):
        for key in ("key", "value", "range_end"):
            if key in body:
                body[key] = base64.b64encode(body[key]).decode()
        request = urllib.request.Request(self.url + "/v3/" + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def range(self, begin, end=None):
        more = {"range_end": end} if end else {}
        return self.call("kv/range", key=begin, **more).get("kvs", [])

    def revision(self):
        return int(self.call("kv/range", key=b"none")["header"]["revision"])

    def get(self, key):
        for one in self.range(key.encode()):
            return base64.b64decode(one["value"])
        return b""

    def lease(self, key):
        return int(self.range(key.encode())[0].get("lease", 0))

    def values(self, prefix):
        begin = prefix.encode()
        end = begin[:-1] + bytes([begin[-1] + 1])
        return [base64.b64decode(one["value"]) for one in self.range(begin, end)]

    def put(self, key, value, ttl):
        lease = self.call("lease/grant", TTL=ttl)["ID"]
        self.call("kv/put", key=key.encode(), value=value, lease=lease)
        return int(lease)

    def compacted(self):
        """The revision that the servers say they compacted last."""
        return int(self.get("compact_rev_key") or 0)


class Api:
    """A client of one server over one connection, and its watches; `process` is the server's."""

    def __init__(self, name, url, context, headers, process):
        self.name, self.context, self.headers, self.process = name, context, headers, process
        self.port = urllib.parse.urlparse(url).port
        self.connection = self.connect(timeout=60)
        self.watches, self.used = [], 0

    def connect(self, timeout):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout,
                                           context=self.context)

    def call(self, method, path, body=None, raw=None, content_type="application/json"):
        """Code and body."""
        headers = dict(self.headers, **{"User-Agent": "interop/1"})
        data = raw if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = content_type
        # Go's server closes connections that were idle for 90 seconds.
        if time.monotonic() > self.used + 30:
            self.connection.close()
        self.used = time.monotonic()
        try:
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise

    def watch(self, path):
        self.watches.append(Watch(self, path))
        return self.watches[-1]

    def close(self):
        """Go's server waits a minute for watches before it stops."""
        for watch in self.watches:
            watch.close()
        self.connection.close()

    def ready(self):
        try:
            return self.call("GET", "/readyz")[0] == 200
        except (http.client.HTTPException, OSError):
            return False


class Watch:
    """The lines of one watch, from when its answer has begun."""

    def __init__(self, server, path):
        self.lines = queue.Queue()
        self.connection = server.connect(timeout=120)
        self.connection.request("GET", path, headers=server.headers)
        self.socket = self.connection.sock
        self.answer = self.connection.getresponse()
        threading.Thread(target=self.read, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def read(self):
        with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
            for line in self.answer:
                self.lines.put(line)

    def take(self, count, seconds):
        """The next `count` lines, fewer if they do not come."""
        end, lines = time.monotonic() + seconds, []
        while len(lines) < count:
            try:
                lines.append(self.lines.get(timeout=max(0, end - time.monotonic())))
            except queue.Empty:
                break
        return lines


@contextlib.contextmanager
def started(command, log):
    with open(log, "ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        yield process
    finally:
        stop(process)


@contextlib.contextmanager
def go_server(binary, folder, flags):
    port = free_port()
    command = [binary, "--secure-port=%d" % port, "--bind-address=127.0.0.1",
               "--cert-dir=" + os.path.join(folder, "go"), *flags]
    with started(command, os.path.join(folder, "go.log")) as process:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        api = Api("go", "https://127.0.0.1:%d" % port, context, {}, process)
        wait_until(api.ready, process, "the Go server")
        with contextlib.closing(api):
            yield api


@contextlib.contextmanager
def our_server(binary, folder, flags):
    data = os.path.join(folder, "ours")
    os.makedirs(data, mode=0o700)
    kubeconfig = os.path.join(data, "kubeconfig")
    command = [binary, "--secure-port=0", "--data-dir=" + data, "--storage=etcd", *flags]
    with started(command, os.path.join(folder, "ours.log")) as process:
        wait_until(lambda: os.path.exists(kubeconfig), process, "our server")
        with open(kubeconfig) as file:
            text = file.read()
        found = {key: re.search(key + r': "?([^"\n]+)', text).group(1)
                 for key in ("server", "token", "certificate-authority-data")}
        authority = base64.b64decode(found["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        api = Api("ours", found["server"], context, {"Authorization": "Bearer " + found["token"]},
                  process)
        wait_until(api.ready, process, "our server")
        with contextlib.closing(api):
            yield api
