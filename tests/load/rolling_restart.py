#!/usr/bin/env python3
"""Two servers on one etcd under load, restarted in turn: no request may fail, and watches resume.

usage: rolling_restart.py --server BINARY --driver BINARY [--restarts 20] [--flag FLAG]...

Prints the driver's figures. Exits 1 if a request failed, a watch had to list again, or a server did
not end by itself with exit code 0.
"""

import argparse
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from servers import Etcd, Failure, free_port, wait_until  # noqa: E402


class Member:
    """One of several servers with the same certificates on the same etcd."""

    def __init__(self, binary, folder, name, etcd, flags):
        self.binary, self.folder, self.name, self.etcd, self.flags = binary, folder, name, etcd, flags
        self.port = free_port()
        self.log = os.path.join(folder, name + ".log")
        self.process = None

    def start(self):
        flags = ["--secure-port=%d" % self.port, "--data-dir=" + os.path.join(self.folder, self.name),
                 "--cert-dir=" + self.folder, "--storage=etcd", "--etcd-servers=" + self.etcd.url]
        self.process = subprocess.Popen([self.binary] + flags + self.flags, stdout=subprocess.DEVNULL,
                                        stderr=open(self.log, "a"))
        wait_until(self.ready, self.name + " is ready", 120)

    def ready(self):
        if self.process.poll() is not None:
            raise Failure("%s ended with %d" % (self.name, self.process.returncode))
        pki = os.path.join(self.folder, "pki")
        try:
            context = ssl.create_default_context(cafile=os.path.join(pki, "ca.crt"))
            context.load_cert_chain(os.path.join(pki, "admin.crt"), os.path.join(pki, "admin.key"))
            return urllib.request.urlopen("https://127.0.0.1:%d/readyz" % self.port, context=context,
                                          timeout=60).status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def stop(self):
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        if code != 0:
            raise Failure("%s ended with exit code %d" % (self.name, code))
        return time.monotonic() - begun


def start_driver(binary, folder, ports, trusted, *flags):
    """As the administrator, who trusts servers that `trusted` vouches for."""
    pki = os.path.join(folder, "pki")
    command = [binary, "--ca=" + trusted, "--cert=" + os.path.join(pki, "admin.crt"),
               "--key=" + os.path.join(pki, "admin.key")] + ["--port=%d" % port for port in ports]
    driver = subprocess.Popen(command + list(flags), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if driver.stdout.readline() != b"under way\n":
        raise Failure("the driver does not start")
    return driver


def finish_driver(driver):
    """Its figures; prints them."""
    figures = json.loads(driver.communicate(timeout=240)[0])
    print(json.dumps(figures), flush=True)
    return figures


def run(args, folder):
    etcd = Etcd(folder)
    members, driver = [], None
    try:
        members = [Member(args.server, folder, name, etcd, args.flag) for name in ("one", "two")]
        for member in members:
            member.start()
        driver = start_driver(args.driver, folder, [member.port for member in members],
                              os.path.join(folder, "pki", "ca.crt"))
        longest = 0
        for turn in range(args.restarts):
            time.sleep(args.pause)  # Load on both.
            member = members[turn % 2]
            longest = max(longest, member.stop())
            member.start()
        time.sleep(args.pause)
        figures = finish_driver(driver)
        print("%d restarts, a stop took %.1f s at the most" % (args.restarts, longest), flush=True)
        if driver.returncode != 0 or figures["failed"] or figures["relists"]:
            raise Failure("requests failed")
        if figures["moves"] < args.restarts or figures["created"] < 10 * args.restarts:
            raise Failure("there was too little load to tell")
    finally:
        if driver and driver.poll() is None:
            driver.kill()
        for member in members:
            if member.process and member.process.poll() is None:
                member.process.kill()
        etcd.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--restarts", type=int, default=20, help="of both servers together")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between them")
    parser.add_argument("--flag", action="append", default=[], help="for the servers")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(args, folder)
        except Failure as failure:
            print("FAILED: %s" % failure, flush=True)
            for name in ("one.log", "two.log"):
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    print(open(path).read()[-3000:], file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
