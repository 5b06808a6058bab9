#!/usr/bin/env python3
"""A server whose etcd is an attacker: what the transport to it must survive.

usage: etcd_answers.py --server BINARY
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

import h2
from h2 import frame, number


def bomb():
    """Ten megabytes of headers in a few thousand bytes, in frames without end."""
    block = b"\x88" + h2.indexed_field("a", "b" * 4000)
    pieces = frame(h2.HEADERS, 0, 1, block)
    return pieces + frame(h2.CONTINUATION, 0, 1, b"\xbe" * 2500) * 40


ANSWERS = {
    "CVE-2023-33953, a header bomb": bomb(),
    "CVE-2023-33953, continuations without end": frame(h2.HEADERS, 0, 1, b"\x88")
    + frame(h2.CONTINUATION, 0, 1, b"\0") * 50_000,
    "CVE-2023-1428, te in an answer": frame(h2.HEADERS, 4, 1, b"\x88" + h2.field("te", "x")),
    "CVE-2024-7246, a table entry that is none": frame(h2.HEADERS, 4, 1, b"\x88\xff\xff\xff\x7f"),
    "table updates": frame(h2.HEADERS, 4, 1, b"\x3f\xe1\xff\xff\x7f" * 100 + b"\x88"),
    "a message of four gigabytes": frame(h2.HEADERS, 4, 1, b"\x88" + h2.field(
        "content-type", "application/grpc")) + frame(h2.DATA, 0, 1, b"\0\xff\xff\xff\xff" + b"x" * 1000),
    "a message that is no protobuf": frame(h2.HEADERS, 4, 1, b"\x88" + h2.field(
        "content-type", "application/grpc")) + frame(h2.DATA, 0, 1, b"\0\0\0\0\x08" + b"\xff" * 8)
    + frame(h2.HEADERS, 5, 1, h2.field("grpc-status", "0")),
    "an error of its own": frame(h2.HEADERS, 5, 1, b"\x88" + h2.field(
        "content-type", "application/grpc") + h2.field("grpc-status", "99") + h2.field(
            "grpc-message", "%00%ff" * 1000)),
    "resets": b"".join(frame(h2.RST_STREAM, 0, stream, number(11)) for stream in range(1, 2000, 2)),
    "the end of it": frame(h2.GOAWAY, 0, 0, number(0x7FFFFFFF) + number(11) + b"x" * 10_000),
    "no HTTP/2": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
}


class FalseEtcd(threading.Thread):
    """Waits for a request on each connection, and answers it with `answer`."""

    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.asked = answer, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        try:
            peer.sendall(frame(h2.SETTINGS, 0, 0))
            said = b""
            # More than the preface and settings: a request.
            while len(said) < 100:
                piece = peer.recv(65536)
                if not piece:
                    return
                said += piece
            self.asked += 1
            peer.sendall(frame(h2.SETTINGS, h2.ACK, 0) + self.answer)
            while peer.recv(65536):
                pass
        except OSError:
            pass
        finally:
            peer.close()


def attack(server, what, answer, failures):
    """Starts a server on a false etcd. It may give up with an error; it must not crash or grow."""
    etcd = FalseEtcd(answer)
    etcd.start()
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen(
            [server, "--secure-port=0", "--storage=etcd", "--data-dir=" + folder,
             "--etcd-servers=http://127.0.0.1:%d" % etcd.port], stdout=subprocess.DEVNULL, stderr=log)
        end = time.monotonic() + 60
        while not etcd.asked and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1)
        code, peak = process.poll(), 0
        if code is None:
            with open("/proc/%d/status" % process.pid) as status:
                lines = dict(line.split(":", 1) for line in status)
            peak = int(lines.get("VmHWM", "0 kB").split()[0]) * 1024
        process.terminate()
        try:
            ended = process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            ended = "killed"
    etcd.listener.close()
    if code not in (None, 1) or ended not in (0, 1, -15) or not etcd.asked or peak > 256 << 20:
        failures.append("%s: exit %s, then %s, asked %d, peak %d" % (what, code, ended, etcd.asked, peak))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    args = parser.parse_args()
    failures = []
    # At once: each waits for an etcd that never answers well.
    threads = [threading.Thread(target=attack, args=(args.server, what, answer, failures))
               for what, answer in ANSWERS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        print("  FAILED: " + failure)
    print("row 58: CVE-2023-33953, CVE-2023-1428, CVE-2023-4785, CVE-2024-7246: gRPC: %s"
          % ("failed" if failures else "passed"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
