#!/usr/bin/env python3
"""A server tells systemd's socket when it is ready, that it lives, and that it stops.

usage: service_manager.py --server BINARY
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from servers import Failure


def expect(true, what):
    if not true:
        raise Failure(str(what))


class Manager:
    """A socket as systemd has one, and a server that is started with its name."""

    def __init__(self, program, folder, address, variables):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0"))
        self.socket.settimeout(60)
        self.log = open(os.path.join(folder, "log"), "a+")
        self.process = subprocess.Popen(
            [program, "--storage=memory", "--secure-port=0", "--data-dir=" + os.path.join(folder, "data")],
            env=dict(os.environ, NOTIFY_SOCKET=address, **variables), stdout=self.log, stderr=self.log)

    def next(self):
        return self.socket.recv(4096).decode()

    def hears_nothing(self, seconds):
        self.socket.settimeout(seconds)
        try:
            return expect(False, "it said " + self.next())
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(60)

    def stop(self):
        """Returns what was said since the signal, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        return self.drain(), code

    def drain(self):
        """Returns what has been said and not been read."""
        said = []
        self.socket.setblocking(False)
        try:
            while True:
                said.append(self.next())
        except BlockingIOError:
            self.socket.settimeout(60)
            return said

    def close(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.log.close()


def check_watched(program, folder):
    """The watchdog's limit is 400 ms, so that the server speaks up every 200."""
    manager = Manager(program, folder, os.path.join(folder, "socket"), {"WATCHDOG_USEC": "400000"})
    try:
        expect(manager.next() == "READY=1", "it is not ready first")
        # The clock is read first: what came before it does not count, however late this process runs.
        begun = time.monotonic()
        manager.drain()
        for _ in range(5):
            expect(manager.next() == "WATCHDOG=1", "it does not say that it lives")
        expect(time.monotonic() - begun >= 0.75, "it says so too often")
        said, code = manager.stop()
        expect(said[-1] == "STOPPING=1" and set(said[:-1]) <= {"WATCHDOG=1"} and code == 0, (said, code))
    finally:
        manager.close()


def check_unwatched(program, folder):
    """Another process is watched, and the socket has a name in no folder."""
    name = "@apiserver-test-%d" % os.getpid()
    manager = Manager(program, folder, name, {"WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1"})
    try:
        expect(manager.next() == "READY=1", "it is not ready first")
        manager.hears_nothing(0.5)
        said, code = manager.stop()
        expect(said == ["STOPPING=1"] and code == 0, (said, code))
    finally:
        manager.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    options = parser.parse_args()
    for check in (check_watched, check_unwatched):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.server, folder)
            except Failure as failure:
                sys.exit("failed: %s: %s" % (check.__name__, failure))
    print("service manager: ok")


if __name__ == "__main__":
    main()
