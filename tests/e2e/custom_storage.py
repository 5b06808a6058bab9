#!/usr/bin/env python3
"""Drives examples/custom-storage: its polled threads, the log that is followed, the WebSocket.

usage: custom_storage.py --server BINARY [--kubectl KUBECTL]

curl and a WebSocket of our own; and kubectl, where there is one. Exits 1 and names each failed check.
"""

import argparse
import base64
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from checker import Checker
from examples import PATIENCE, Example

THREADS = "/apis/process.example.com/v1/threads"


def first_lines(command, count):
    """The first lines of a program that goes on for ever, as soon as they are there."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text, end = b"", time.monotonic() + PATIENCE
    while text.count(b"\n") < count:
        if not select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
            break
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            break
        text += piece
    lines = text.decode().splitlines(keepends=True)[:count]
    still_there = process.poll() is None
    process.kill()
    process.wait()
    return lines, still_there


class WebSocket:
    """Just enough of RFC 6455 to ask something."""

    def __init__(self, server, path):
        context = ssl.create_default_context(cafile=server.ca)
        self.stream = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), PATIENCE),
                                          server_hostname="127.0.0.1")
        self.stream.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\nAuthorization: Bearer %s\r\n\r\n"
                             % (path, base64.b64encode(os.urandom(16)).decode(), server.token)).encode())
        self.buffer, self.head = b"", ""
        while b"\r\n\r\n" not in self.buffer:
            self.receive()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        self.head = head.decode()

    def receive(self):
        piece = self.stream.recv(65536)
        if not piece:
            raise EOFError("closed")
        self.buffer += piece

    def send(self, first, payload):
        mask = os.urandom(4)
        self.stream.sendall(bytes([first, 0x80 | len(payload)]) + mask +
                            bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def read(self):
        """First byte and payload of a frame below 64 KiB."""
        self.need(2)
        begin, size = (4, None) if self.buffer[1] == 126 else (2, self.buffer[1])
        self.need(begin)
        if size is None:
            size = int.from_bytes(self.buffer[2:4], "big")
        self.need(begin + size)
        frame, self.buffer = self.buffer[: begin + size], self.buffer[begin + size :]
        return frame[0], frame[begin:]

    def need(self, size):
        while len(self.buffer) < size:
            self.receive()


def curl(t, server):
    got = server.get(THREADS)
    items = json.loads(got)["items"]
    t.check(any(item["status"]["command"] == "custom-storage" for item in items), "the threads are listed", got)
    main = str(server.process.pid)
    t.check(main in [item["metadata"]["name"] for item in items], "the main thread has the process' number", got)
    path = THREADS + "/" + main + "/log"
    lines, still_there = first_lines(server.curl(path, "--no-buffer"), 1)
    t.check(len(lines) == 1 and re.match(r"state=\w cpu=\d+ms\n$", lines[0]), "the log begins with the state", lines)
    t.check(still_there, "the log goes on", lines)
    lines, still_there = first_lines(server.curl(THREADS + "?watch=1", "--no-buffer"), len(items))
    t.check(len(lines) == len(items) and still_there, "the watch begins with the state", lines)
    return main


def websocket(t, server, main):
    socket_ = WebSocket(server, THREADS + "/" + main + "/connect")
    t.check(socket_.head.startswith("HTTP/1.1 101 "), "the WebSocket opens", socket_.head)
    socket_.send(0x81, b"command")
    t.check(socket_.read() == (0x81, b"custom-storage"), "the WebSocket answers")
    socket_.send(0x89, b"ping")
    t.check(socket_.read() == (0x8A, b"ping"), "the WebSocket answers pings")
    socket_.send(0x88, (1000).to_bytes(2, "big"))
    t.check(socket_.read() == (0x88, (1000).to_bytes(2, "big")), "the WebSocket closes")
    watch = WebSocket(server, THREADS + "?watch=1&fieldSelector=metadata.name%3D" + main)
    t.check(watch.head.startswith("HTTP/1.1 101 "), "the watch becomes a WebSocket", watch.head)
    return watch


def kubectl(t, server, main, binary):
    base = [binary, "--kubeconfig", server.kubeconfig]
    run = lambda *args: subprocess.run([*base, *args], capture_output=True, timeout=PATIENCE).stdout.decode()
    got = run("get", "threads")
    t.check(re.search(r"NAME +COMMAND +STATE +CPU MS\n", got) and main in got, "kubectl get threads", got)
    got = run("get", "thread", main, "-o", "jsonpath={.status.command}")
    t.check(got == "custom-storage", "kubectl get one thread", got)
    lines, still_there = first_lines([*base, "get", "--raw", THREADS + "/" + main + "/log"], 1)
    t.check(len(lines) == 1 and lines[0].startswith("state="), "kubectl get --raw follows the log", lines)
    t.check(still_there, "kubectl get --raw goes on following", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    arguments = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        server = Example(arguments.server, folder, "threads.kubeconfig")
        try:
            thread = curl(t, server)
            watch = websocket(t, server, thread)
            if arguments.kubectl:
                kubectl(t, server, thread, arguments.kubectl)
            else:
                print("no kubectl: its part is left out")
            server.process.send_signal(signal.SIGTERM)
            frame = watch.read()
            while frame[0] == 0x81:
                frame = watch.read()
            t.check(frame == (0x88, (1001).to_bytes(2, "big")), "the watch hears that the server stops", frame)
            watch.send(0x88, (1001).to_bytes(2, "big"))
            code = server.process.wait(PATIENCE)
            t.check(code == 0, "SIGTERM ends the server", code)
        finally:
            server.process.kill()
            server.process.wait()
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
