#!/usr/bin/env python3
"""Sends a server requests made from its own OpenAPI documents, and judges every answer.

usage: fuzz.py --build=dev|asan|tsan|FOLDER [--world=memory,rocks,etcd,accounts] [--seconds=15] [--count=N] [--seed=N]
       fuzz.py --build=dev --world=memory --replay=FILE

Exits 1 and prints seed and requests if an answer is wrong, the canary is refused anything, the server
does not end well, or a sanitizer says something. See README.md.
"""

import argparse
import collections
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
import traceback

import surface as surfaces
from formats import Malformed, strict_json
from generate import Generator
from judge import judge
from pool import Pool
from wire import Request, Wire
from world import CANARY, WORLDS, World

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TREES = {"dev": "build", "asan": "build/asan", "tsan": "build/tsan"}
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1:suppressions="
                    + os.path.join(ROOT, ".ci", "tsan.supp"),
}
SANITIZER_SAYS = re.compile(r"^.*(runtime error:|(ERROR|WARNING|SUMMARY): \w+Sanitizer).*$", re.MULTILINE)
FINDINGS_MAX = 10
TRAIL_MAX = 400
PATIENCE_SECONDS = 120


class Findings:
    """What was wrong, with what was sent before it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.found, self.trail = [], collections.deque(maxlen=TRAIL_MAX)

    def sent(self, request):
        with self.lock:
            self.trail.append(request)

    def add(self, what, request=None):
        with self.lock:
            before = [] if request is None else [each.to_json() for each in self.trail if each is not request]
            self.found.append((what, request, before))

    def enough(self):
        return len(self.found) >= FINDINGS_MAX


class Budget:
    def __init__(self, seconds, count):
        self.end = time.monotonic() + seconds if seconds else None
        self.left, self.lock = count, threading.Lock()

    def take(self):
        with self.lock:
            if self.end is not None and time.monotonic() >= self.end:
                return False
            if self.left is not None:
                self.left -= 1
            return self.left is None or self.left >= 0


class Session:
    """One thread: sends requests, judges answers, and learns from them."""

    def __init__(self, world, surface, pool, findings):
        self.world, self.surface, self.pool, self.findings = world, surface, pool, findings
        self.wire = Wire(world, PATIENCE_SECONDS)
        self.codes, self.shapes = collections.Counter(), collections.Counter()
        self.turns, self.slowest = 0, (0, 0, "", "")
        # Where an object by name can be read.
        self.readable = {each.path for each in surface.operations if each.action == "get"}

    def turn(self, request):
        self.findings.sent(request)
        about = request.about
        # A DELETE that names nothing, by whatever path, may be of a collection.
        sweeps = request.method == "DELETE" and (about.get("action") == "deletecollection" or not about.get("name"))
        if request.method == "DELETE":
            self.pool.deleted.add((about.get("collection"), about.get("name")))
        if sweeps:
            self.pool.sweep()
        before = self.pool.sweeps
        begun = time.monotonic()
        answer = self.wire.send(request)
        self.slowest = max(self.slowest, (time.monotonic() - begun, self.turns, request.method, request.target[:200]))
        self.turns += 1
        if sweeps:
            self.pool.sweep()
        self.codes[answer.code] += 1
        self.shapes[about.get("shape")] += 1
        if not self.world.alive():
            return
        wrong = judge(request, answer, self.world.identities[request.identity])
        wrong += self.read_back(request, answer, before)
        for each in wrong:
            self.findings.add(each, request)
        self.learn(request, answer)

    def read_back(self, request, answer, sweeps_before):
        """What is said to have been created can be read; what was a rehearsal cannot."""
        about = request.about
        if answer.code != 201 or not about.get("unique") or about.get("action") != "post":
            return []
        if not any(self.served_at(path, request.target.partition("?")[0] + "/x") for path in self.readable):
            return []
        code, text = self.world.call("GET", request.target.partition("?")[0] + "/" + about["name"])
        deleted = (about["collection"], about["name"]) in self.pool.deleted
        if about.get("dry_run"):
            return ["a rehearsal is there: %s" % text[:200]] if code != 404 else []
        if code == 200 or deleted or self.pool.sweeps != sweeps_before:
            return []
        return ["created, and then %d: %s" % (code, text[:200])]

    @staticmethod
    def served_at(template, path):
        return re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path) is not None

    def learn(self, request, answer):
        collection = request.about.get("collection")
        if not collection or answer.code is None or answer.code >= 300 or not answer.ended:
            return
        if answer.body.startswith(b"k8s\0") and request.about.get("action") in ("get", "post", "put", "patch"):
            self.pool.learn_bytes(collection, answer.body)
        elif answer.body.startswith(b"{"):
            try:
                self.pool.learn(collection, strict_json(answer.body))
            except Malformed:
                pass


class Worker(threading.Thread):
    def __init__(self, session, generator, budget):
        super().__init__(daemon=True)
        self.session, self.generator, self.budget = session, generator, budget

    def run(self):
        try:
            while self.session.world.alive() and not self.session.findings.enough() and self.budget.take():
                self.session.turn(self.generator.next())
        except Exception:  # A fuzzer that stops tests nothing: that is a finding too.
            self.session.findings.add("the fuzzer failed: " + traceback.format_exc())
        finally:
            self.session.wire.end()


class Canary(threading.Thread):
    """Whom nobody may disturb: reads and writes ten times a second, and counts what it is refused."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.wire, self.world, self.stopping = Wire(world, PATIENCE_SECONDS), world, threading.Event()
        self.sent, self.failures, self.turns, self.object = 0, [], 0, None

    def run(self):
        while True:
            self.read()
            if self.object:
                self.write()
            if self.stopping.wait(0.1) or not self.world.alive():
                return

    def send(self, method, body=None):
        headers = [("Content-Type", "application/json")] if body else []
        answer = self.wire.send(Request("canary", method, CANARY, headers, body))
        self.sent += 1
        if answer.code != 200 and self.world.alive():
            self.failures.append("%s: %s %s %s" % (method, answer.code, answer.error, answer.body[:300]))
        return answer

    def read(self):
        answer = self.send("GET")
        if answer.code == 200:
            self.object = strict_json(answer.body)
            if self.object["metadata"]["labels"]["turn"] != str(self.turns):
                self.failures.append("reads not what it wrote: %s" % answer.body[:300])

    def write(self):
        self.object["metadata"]["labels"]["turn"] = str(self.turns + 1)
        if self.send("PUT", json.dumps(self.object).encode()).code == 200:
            self.turns += 1

    def stop(self):
        self.stopping.set()
        self.join(PATIENCE_SECONDS)
        self.wire.end()


class Run:
    """A server in one of the worlds, from its start to its end."""

    def __init__(self, args, name):
        self.args, self.name = args, name
        self.findings, self.pool = Findings(), Pool()
        self.sessions, self.canary = [], None

    def session(self, world, surface):
        self.sessions.append(Session(world, surface, self.pool, self.findings))
        return self.sessions[-1]

    def go(self, feed):
        """`feed` sends what is to be sent, once all is there."""
        with tempfile.TemporaryDirectory() as folder:
            world = World(self.args.tree, self.name, folder)
            try:
                world.start()
                surface = surfaces.load(world)
                self.canary = Canary(world)
                self.canary.start()
                feed(world, surface)
                self.canary.stop()
                self.end(world)
            except Exception:
                self.findings.add(traceback.format_exc())
            finally:
                world.kill()
                if self.findings.found:
                    print("the server said last:\n" + world.log()[-6000:], file=sys.stderr)

    def end(self, world):
        for each in self.canary.failures[:3]:
            self.findings.add("the canary: " + each)
        if not world.alive():
            self.blame("the server ended by itself: exit code %s" % world.server.process.returncode)
        elif (code := world.stop()) != 0:
            self.blame("SIGTERM ends the server with exit code %s" % code)
        for each in SANITIZER_SAYS.finditer(world.log()):
            self.blame("a sanitizer: " + each.group(0))
            break

    def blame(self, what):
        """On whatever was sent last."""
        last = self.findings.trail[-1] if self.findings.trail else None
        self.findings.add(what, last)

    def fuzz(self, world, surface):
        budget = Budget(self.args.seconds, self.args.count)
        workers = [Worker(self.session(world, surface),
                          Generator(self.args.seed, each, surface, self.pool, world.identities, self.args.without),
                          budget)
                   for each in range(self.args.threads)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        self.check_reach()

    def check_reach(self):
        """Requests that are all refused test nothing."""
        codes = self.codes()
        answered = sum(count for code, count in codes.items() if code)
        taken = sum(count for code, count in codes.items() if code and code < 300)
        if answered < 100 or taken < answered / 10 or codes[201] < answered / 200:
            self.findings.add("the requests reach little: %s" % dict(codes))

    def replay(self, world, surface):
        session = self.session(world, surface)
        with open(self.args.replay) as file:
            for line in file:
                if line.strip():
                    session.turn(Request.from_json(json.loads(line)))
        session.wire.end()

    def codes(self):
        return sum((each.codes for each in self.sessions), collections.Counter())

    def report(self):
        for what, request, before in self.findings.found[:FINDINGS_MAX]:
            # On one line of text, whatever bytes of an answer it quotes.
            print("FOUND in %s with --seed=%s: %s" % (self.name, self.args.seed,
                                                      what.encode("unicode_escape").decode("ascii")))
            if request is not None:
                print("  " + json.dumps(request.to_json())[:4000])
                print("  to send it again after the %d before it: --replay %s" % (len(before),
                                                                                  self.save(request, before)))
        codes, shapes = self.codes(), sum((each.shapes for each in self.sessions), collections.Counter())
        print("answers: " + ", ".join("%s %d" % each for each in sorted(codes.items(), key=lambda one: str(one[0]))))
        print("shapes: " + ", ".join("%s %d" % each for each in shapes.most_common()))
        print("slowest: %.1f s: %s" % (max((each.slowest for each in self.sessions), default=(0,))[0],
                                       " ".join(max((each.slowest for each in self.sessions),
                                                    default=("", "", ""))[2:])))
        canary = self.canary
        print("requests: %s: %d requests, %d findings, canary %d of %d, seed %s" % (
            self.name, sum(codes.values()), len(self.findings.found),
            canary.sent - len(canary.failures) if canary else 0,
            canary.sent if canary else 0, self.args.seed), flush=True)

    def save(self, request, before):
        file = tempfile.NamedTemporaryFile("w", prefix="requests-", suffix=".jsonl", dir=self.args.findings,
                                           delete=False)
        with file:
            for each in [*before, request.to_json()]:
                file.write(json.dumps(each) + "\n")
        return file.name


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="dev", help="dev, asan, tsan or a build tree's folder")
    parser.add_argument("--world", default=",".join(WORLDS),
                        help="where objects live, or `accounts`; several with commas")
    parser.add_argument("--seconds", type=float, default=0, help="for each world; 0: until --count")
    parser.add_argument("--count", type=int, help="requests for each world")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--without", action="append", default=[], help="a shape of attacks.py that is left out")
    parser.add_argument("--findings", default=tempfile.gettempdir(),
                        help="where requests that found something are kept")
    parser.add_argument("--replay", help="a file of requests, a line each")
    args = parser.parse_args()
    args.tree = os.path.join(ROOT, TREES[args.build]) if args.build in TREES else args.build
    if not args.seconds and args.count is None:
        args.seconds = 15
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1 << 32)
    return args


def main():
    args = arguments()
    for name, value in SANITIZERS.items():
        os.environ.setdefault(name, value)
    failed = 0
    print("requests: seed %s" % args.seed, flush=True)
    for name in args.world.split(","):
        run = Run(args, name)
        run.go(run.replay if args.replay else run.fuzz)
        run.report()
        failed += bool(run.findings.found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
