#!/usr/bin/env python3
"""Clients that write and watch custom resources while the schemas of their CRDs change.

usage: crd_stress.py --server BINARY|KUBECONFIG [--clients 100] [--crds 20] [--changes 10] [--seconds 60]
                     [--pace 0.95] [--kill]

Each client writes objects of its own and knows what they must be; each also watches a kind from some
revision on, and resumes where its watch ended. What must hold: a write that was acknowledged is read
afterwards, by the client and in the end by everybody; a watcher that resumes sees every change of every
object, once and in order; no request fails for another reason than a conflict or a server that starts.
With --kill (BINARY only) the server is killed in the middle, and starts again with its data. Schemas
must have changed as often as was asked for. The clients of a kind are in one process, and what changes
schemas is in another: Python's threads take turns.
"""

import argparse
import collections
import http.client
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time

from crd_answers import Peer
from crd_objects import Choices
from servers import Failure, Server, free_port

GROUP = "stress.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LOST = (http.client.HTTPException, OSError)
OBJECTS = 5
PROCESSES, CHANGERS = 2, 4
FORKS = multiprocessing.get_context("fork")


def schema(generation):
    """The schema of a generation: what all have in common, and what differs."""
    return {"type": "object", "description": "generation %d" % generation, "properties": {
        "spec": {"type": "object", "required": ["count"], "properties": {
            "count": {"type": "integer", "minimum": 0, "maximum": 10**6 + generation},
            "owner": {"type": "string", "maxLength": 20 + generation % 7},
            "field%d" % (generation % 5): {"type": "string"},
            "generation": {"type": "integer", "default": generation}},
            "x-kubernetes-validations": [
                {"rule": "!has(oldSelf.owner) || self.owner == oldSelf.owner", "message": "%d" % generation}]}}}


def definition(index, generation=0):
    plural = "things%d" % index
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": plural + "." + GROUP}, "spec": {
                "group": GROUP, "scope": "Namespaced",
                "names": {"plural": plural, "kind": "Thing%d" % index},
                "versions": [{"name": "v1", "served": True, "storage": True,
                              "schema": {"openAPIV3Schema": schema(generation)},
                              "additionalPrinterColumns": [{"name": "G%d" % generation, "type": "integer",
                                                            "jsonPath": ".spec.generation"}]}]}}


def path_of(index):
    return "/apis/%s/v1/namespaces/default/things%d" % (GROUP, index)


class Signals:
    """What all processes are told: to be ready for a kill, to end writes, to end watches."""

    def __init__(self):
        self.killing, self.stopping = FORKS.Event(), FORKS.Event()


class Run:
    """What the threads of a process share: whether to go on, and what went wrong."""

    def __init__(self, kubeconfig, signals):
        self.kubeconfig, self.killing, self.stopping = kubeconfig, signals.killing, signals.stopping
        self.finished, self.lock = threading.Event(), threading.Lock()
        self.counts, self.failures = collections.Counter(), []

    def count(self, what, by=1):
        with self.lock:
            self.counts[what] += by

    def fail(self, text):
        with self.lock:
            self.failures.append(text)
            if len(self.failures) <= 10:
                print("FAILED: " + text, flush=True)


class Client:
    """Asks over a connection of its own, and waits while the server is away."""

    def __init__(self, run):
        self.run, self.peer = run, Peer(run.kubeconfig)

    def ask(self, method, path, body=None, kind="application/json"):
        """Code and body; (0, None) if the connection was lost, so that nobody knows what happened."""
        text = json.dumps(body) if body is not None else None
        while True:
            try:
                code, _, answer = self.peer.once(method, path, text, {"Content-Type": kind} if text else {})
            except LOST as lost:
                self.peer.connection.close()
                if not self.run.killing.is_set():
                    self.run.fail("%s %s: %r" % (method, path, lost))
                time.sleep(0.1)
                if method == "GET":
                    continue
                return 0, None
            if code in (429, 503):
                self.run.count("retried %d" % code)
                time.sleep(0.1)
                continue
            self.run.count(method)
            return code, json.loads(answer) if answer.startswith("{") else answer


class Writer(Client):
    """Writes objects of its own, and knows what they are: {name: count}."""

    def __init__(self, run, number, index):
        super().__init__(run)
        self.number, self.path, self.kind = number, path_of(index), "Thing%d" % index
        self.choices, self.known, self.next = Choices("writer", number), {}, 0

    def object(self, name, count, revision=None):
        head = {"name": name, **({"resourceVersion": revision} if revision else {})}
        return {"apiVersion": GROUP + "/v1", "kind": self.kind, "metadata": head,
                "spec": {"count": count, "owner": "writer%d" % self.number}}

    def loop(self):
        try:
            while not self.run.stopping.is_set():
                self.step()
                time.sleep(0.02)
        except Exception as failure:
            self.run.fail("writer %d: %r" % (self.number, failure))

    def step(self):
        if len(self.known) < OBJECTS:
            self.create()
            return
        name = sorted(self.known)[self.choices.below(len(self.known))]
        [self.put, self.patch, self.patch, self.read, self.delete][self.choices.below(5)](name)

    def settle(self, name, *possible):
        """Reads what became of a write of which nothing was heard; None stands for no object."""
        code, got = self.ask("GET", self.path + "/" + name)
        count = got["spec"]["count"] if code == 200 else None
        if count not in possible:
            self.run.fail("%s is %s after a lost write, want one of %s" % (name, count, possible))
        self.known.pop(name, None)
        if count is not None:
            self.known[name] = count

    def create(self):
        self.next += 1
        name = "w%d-%d" % (self.number, self.next)
        code, got = self.ask("POST", self.path, self.object(name, 0))
        if code == 201:
            self.known[name] = 0
        elif code == 0:
            self.settle(name, None, 0)
        else:
            self.run.fail("create %s: %d %s" % (name, code, got))

    def wrote(self, name, code, got):
        if code == 200:
            self.known[name] += 1
            if got["spec"]["count"] != self.known[name]:
                self.run.fail("%s: a write answers %s, want %d" % (name, got["spec"], self.known[name]))
        elif code == 0:
            self.settle(name, self.known[name], self.known[name] + 1)
        else:
            self.run.fail("write %s: %d %s" % (name, code, got))

    def put(self, name):
        got = self.read(name)
        if got:
            changed = self.object(name, self.known[name] + 1, got["metadata"]["resourceVersion"])
            self.wrote(name, *self.ask("PUT", self.path + "/" + name, changed))

    def patch(self, name):
        patch = {"spec": {"count": self.known[name] + 1}}
        self.wrote(name, *self.ask("PATCH", self.path + "/" + name, patch, "application/merge-patch+json"))

    def read(self, name):
        code, got = self.ask("GET", self.path + "/" + name)
        if code != 200:
            self.run.fail("%s is lost: %d %s" % (name, code, got))
            return None
        if got["spec"]["count"] != self.known[name] or got["spec"]["owner"] != "writer%d" % self.number:
            self.run.fail("%s is %s, want count %d" % (name, got["spec"], self.known[name]))
        return got

    def delete(self, name):
        code, got = self.ask("DELETE", self.path + "/" + name)
        if code == 200:
            del self.known[name]
        elif code == 0:
            self.settle(name, None, self.known[name])
        else:
            self.run.fail("delete %s: %d %s" % (name, code, got))


class Watcher:
    """Follows one kind, and holds its objects: {name: count}."""

    def __init__(self, run, index):
        self.run, self.index, self.path, self.held, self.revision = run, index, path_of(index), {}, None
        self.at_end = threading.Event()

    def loop(self):
        client = Client(self.run)
        try:
            while not self.run.finished.is_set():
                if self.revision is None:
                    self.list(client)
                try:
                    self.watch()
                except LOST:
                    time.sleep(0.1)
        except Exception as failure:
            self.run.fail("watcher of %s: %r" % (self.path, failure))

    def list(self, client):
        code, got = client.ask("GET", self.path)
        if code != 200:
            self.run.fail("list %s: %d %s" % (self.path, code, got))
            time.sleep(0.1)
            return
        self.run.count("lists by watchers")
        self.held = {one["metadata"]["name"]: one["spec"]["count"] for one in got["items"]}
        self.revision = got["metadata"]["resourceVersion"]

    def watch(self):
        peer = Peer(self.run.kubeconfig)
        peer.connection.timeout = 5
        more = {"Authorization": "Bearer " + peer.token} if peer.token else {}
        peer.connection.request("GET", "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion=%s" % (
            self.path, self.revision), headers={"Accept": "application/json", **more})
        response = peer.connection.getresponse()
        try:
            if response.status != 200:
                self.refused(response.status, response.read().decode())
                return
            self.run.count("watches")
            while not self.run.finished.is_set():
                line = response.readline()
                if not line:
                    return
                if not self.event(json.loads(line)):
                    return
        finally:
            peer.connection.close()

    def refused(self, code, text):
        if code == 410:
            self.run.count("watches expired")
            self.revision = None
        elif code not in (429, 503):
            self.run.fail("watch %s: %d %s" % (self.path, code, text))
        time.sleep(0.1)

    def event(self, event):
        """Takes one event; False ends the watch."""
        if event["type"] == "ERROR":
            if event["object"].get("code") != 410:
                self.run.fail("watch %s: %s" % (self.path, event["object"]))
            self.run.count("watches expired")
            self.revision = None
            return False
        one = event["object"]
        revision = one["metadata"]["resourceVersion"]
        if int(revision) < int(self.revision):
            self.run.fail("%s: revision %s after %s" % (self.path, revision, self.revision))
        self.revision = revision
        if event["type"] != "BOOKMARK":
            self.run.count("events")
            self.change(event["type"], one["metadata"]["name"], one["spec"]["count"])
        return True

    def change(self, kind, name, count):
        before = self.held.get(name)
        right = {"ADDED": before is None and count == 0, "DELETED": before == count,
                 "MODIFIED": before is not None and count == before + 1}[kind]
        if not right:
            self.run.fail("%s/%s: %s with count %d after %s" % (self.path, name, kind, count, before))
        if kind == "DELETED":
            self.held.pop(name, None)
        else:
            self.held[name] = count


class Changer(Client):
    """Changes the CRDs' schemas, one of `CHANGERS` that share a number of changes each second."""

    def loop(self, number, crds, rate):
        began, turn = time.monotonic(), number
        try:
            while not self.run.stopping.wait(max(0.0, began + turn / rate - time.monotonic())):
                self.change(turn % crds, turn + 1)
                turn += CHANGERS
        except Exception as failure:
            self.run.fail("changer: %r" % failure)

    def change(self, index, generation):
        path = DEFINITIONS + "/things%d.%s" % (index, GROUP)
        code, got = self.ask("GET", path)
        if code != 200:
            self.run.fail("%s is lost: %d %s" % (path, code, got))
            return
        got["spec"] = definition(index, generation)["spec"]
        code, answer = self.ask("PUT", path, got)
        if code not in (0, 200, 409):
            self.run.fail("change %s: %d %s" % (path, code, answer))
        self.run.count("schema changes", code == 200)


def install(run, crds):
    client = Client(run)
    for index in range(crds):
        code, got = client.ask("POST", DEFINITIONS, definition(index))
        if code not in (201, 409):
            raise Failure("install: %d %s" % (code, got))
    for index in range(crds):
        deadline = time.monotonic() + 60
        while client.ask("GET", path_of(index))[0] != 200:
            if time.monotonic() > deadline:
                raise Failure("things%d are not served" % index)
            time.sleep(0.05)


def judge(run, writers, watchers, indexes):
    """In the end everybody has seen the same: what the writers know, lists, and watchers."""
    client = Client(run)
    for index in indexes:
        want = {}
        for writer in writers:
            if writer.path == path_of(index):
                want.update(writer.known)
        _, got = client.ask("GET", path_of(index))
        have = {one["metadata"]["name"]: one["spec"]["count"] for one in got["items"]}
        if have != want:
            run.fail("%s: the list differs from what was written: %s" % (
                path_of(index), sorted(set(have.items()) ^ set(want.items()))[:5]))
        for watcher in (one for one in watchers if one.index == index):
            deadline = time.monotonic() + 30
            while watcher.held != have and time.monotonic() < deadline:
                time.sleep(0.05)
            if watcher.held != have:
                run.fail("a watcher of %s holds something else: %s" % (
                    path_of(index), sorted(set(have.items()) ^ set(watcher.held.items()))[:5]))


def clients(run, args, indexes):
    """Writes and watches the kinds of some CRDs until told to stop, and looks at what is there then."""
    numbers = [number for number in range(args.clients) if number % args.crds in indexes]
    writers = [Writer(run, number, number % args.crds) for number in numbers]
    watchers = [Watcher(run, number % args.crds) for number in numbers]
    watching = [threading.Thread(target=one.loop, daemon=True) for one in watchers]
    writing = [threading.Thread(target=one.loop, daemon=True) for one in writers]
    for thread in watching + writing:
        thread.start()
    for thread in writing:
        thread.join()
    judge(run, writers, watchers, indexes)
    run.finished.set()


def changers(run, args):
    threads = [threading.Thread(target=Changer(run).loop, args=(number, args.crds, args.changes), daemon=True)
               for number in range(CHANGERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def processes(kubeconfig, signals, args):
    """Starts the processes, and returns each with the end of a pipe that tells what it saw."""
    jobs = [(clients, args, range(first, args.crds, PROCESSES)) for first in range(PROCESSES)] + [(changers, args)]
    found = []
    for job, *parameters in jobs:
        near, far = FORKS.Pipe(duplex=False)

        def body(job=job, parameters=parameters, far=far):
            run = Run(kubeconfig, signals)
            try:
                job(run, *parameters)
            except Exception as failure:
                run.fail("%s: %r" % (job.__name__, failure))
            far.send((run.counts, run.failures))
        found.append((FORKS.Process(target=body, daemon=True), near))
        found[-1][0].start()
    return found


def killed(server, signals):
    """Kills the server and starts it again; returns for how long it was away."""
    began = time.monotonic()
    signals.killing.set()
    server.stop(signal.SIGKILL)
    server.start()
    away = time.monotonic() - began
    time.sleep(5)
    signals.killing.clear()
    return away


def stress(args, kubeconfig, server):
    signals, away = Signals(), 0
    install(Run(kubeconfig, signals), args.crds)
    started = processes(kubeconfig, signals, args)
    time.sleep(args.seconds / 2)
    if args.kill:
        away = killed(server, signals)
    time.sleep(args.seconds / 2)
    signals.stopping.set()
    counts, failures = collections.Counter(), []
    for process, pipe in started:
        found = pipe.recv() if pipe.poll(180) else ({}, ["a process does not end"])
        counts.update(found[0])
        failures += found[1]
    wanted = args.changes * (args.seconds - away)
    if counts["schema changes"] < args.pace * wanted:
        failures.append("%d schema changes, want %d" % (counts["schema changes"], wanted))
        print("FAILED: " + failures[-1])
    print("crd_stress: %d clients, %d CRDs, %d s: %s; %d failed" % (
        args.clients, args.crds, args.seconds,
        ", ".join("%d %s" % (count, what) for what, count in sorted(counts.items())), len(failures)), flush=True)
    return not failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--crds", type=int, default=20)
    parser.add_argument("--changes", type=float, default=10, help="changes of schemas each second")
    parser.add_argument("--pace", type=float, default=0.95, help="the share of them that must be made")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kill", action="store_true")
    args = parser.parse_args()
    if not os.access(args.server, os.X_OK):
        return 0 if stress(args, args.server, None) else 1
    with tempfile.TemporaryDirectory() as folder:
        port = "--secure-port=%d" % free_port()
        server = Server(args.server, "rocks", folder, flags=(port,))
        server.start()
        try:
            passed = stress(args, server.kubeconfig, server)
            stopped = server.stop()
        finally:
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
        return 0 if passed and stopped == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
