#!/usr/bin/env python3
"""Bodies that take memory: one user must not stop the others.

usage: bodies.py --server BINARY [ROW...]

Users are impersonated by the administrator, so flow control and memory see each as its own tenant.
"""

import concurrent.futures
import http.client
import json
import socket
import ssl
import sys
import threading
import time

from victim import CONFIGMAPS, MEBIBYTE, main, row

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
BODY_BYTES = 3_000_000
UNFINISHED = 90
# A worker that is kept waiting does not go on for ever.
WORK_SECONDS_MAX = 60


def named(user):
    """The headers of a user whom no schema of flow control prefers."""
    return {"Impersonate-User": user, "Impersonate-Group": "system:authenticated"}


def grant(victim):
    """Everyone may create ConfigMaps, which is all that these users need."""
    name = {"metadata": {"name": "creates-config-maps"}}
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "creates-config-maps"}
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}
    for resource, body in (("clusterroles", {**name, "rules": rules}),
                           ("clusterrolebindings", {**name, "roleRef": role, "subjects": [group]})):
        victim.call("POST", "/apis/rbac.authorization.k8s.io/v1/" + resource,
                    json.dumps(body).encode(), {"Content-Type": "application/json"})
    for _ in range(100):
        if Worker(victim, "anyone", 1).share() == 1:
            return
        time.sleep(0.1)
    raise RuntimeError("nobody may create ConfigMaps")


def head(user, length=BODY_BYTES, path=CONFIGMAPS):
    fields = dict(named(user), Host="localhost")
    fields.update({"Content-Type": "application/json", "Content-Length": str(length)})
    lines = ["POST %s HTTP/1.1" % path] + ["%s: %s" % each for each in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def config_map(name, padding=0):
    return json.dumps({"metadata": {"name": name}, "data": {"padding": "p" * padding}}).encode()


class Unfinished:
    """Connections that have sent all of a body but its last byte, and again once they are refused."""

    def __init__(self, victim, users):
        self.victim, self.users = victim, users
        self.stopping, self.begun = threading.Event(), threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.hold, args=(user,), daemon=True) for user in users]
        for thread in self.threads:
            thread.start()

    def hold(self, user):
        first = True
        while not self.stopping.is_set():
            try:
                with self.victim.tls(("http/1.1",), timeout=2) as connection:
                    try:
                        connection.sendall(head(user) + b'{"data":"' + b"x" * (BODY_BYTES - 10))
                    except (OSError, ssl.SSLError):
                        pass  # The server does not read a body for which it has no room.
                    if first:
                        self.begun.release()
                    first = False
                    while not self.stopping.is_set():
                        try:
                            connection.recv(4096)
                            break
                        except socket.timeout:
                            pass
            except (OSError, ssl.SSLError):
                pass

    def wait_until_all_have_begun(self):
        for _ in self.threads:
            self.begun.acquire(timeout=60)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


class Worker(threading.Thread):
    """Creates ConfigMaps one after the other, as a user, or as the administrator if there is none."""

    def __init__(self, victim, user, count, padding=0, seconds_max=WORK_SECONDS_MAX):
        super().__init__(daemon=True)
        self.seconds_max = seconds_max
        self.victim, self.user, self.count, self.padding = victim, user, count, padding
        self.codes, self.seconds = [], []
        self.start()

    def run(self):
        headers = {"Content-Type": "application/json", **(named(self.user) if self.user else {})}
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.victim.port, timeout=60, context=self.victim.context())
        give_up = time.monotonic() + self.seconds_max
        for i in range(self.count):
            begun = time.monotonic()
            if begun > give_up:
                break
            name = "%s-%d-%d" % (self.user or "admin", id(self), i)
            try:
                connection.request("POST", CONFIGMAPS + "?dryRun=All",
                                   config_map(name.replace(":", "-"), self.padding), headers)
                answer = connection.getresponse()
                answer.read()
                self.codes.append(answer.status)
            except (OSError, http.client.HTTPException) as error:
                self.codes.append(repr(error))
                connection.close()
            self.seconds.append(time.monotonic() - begun)
        connection.close()

    def share(self):
        """The part of the creates that succeeded."""
        self.join()
        return self.codes.count(201) / self.count

    def p99(self):
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]


def hold_and_work(victim, check, users, share, seconds_max=WORK_SECONDS_MAX):
    """What the administrator and other tenants can do beside the unfinished bodies of `users`: of the
    tenants' creates at least `share` succeed in time, and none is refused."""
    grant(victim)
    victim.forget_peak()
    before = victim.status("VmRSS")
    attack = Unfinished(victim, users)
    attack.wait_until_all_have_begun()
    admin = Worker(victim, None, 200)
    tenants = [Worker(victim, "tenant-%d" % i, 50, seconds_max=seconds_max) for i in range(3)]
    check(admin.share() == 1, "every create of the administrator succeeds", admin.codes[-5:])
    for tenant in tenants:
        check(tenant.share() >= share and set(tenant.codes) == {201},
              "creates of %s succeed" % tenant.user, (tenant.share(), set(tenant.codes)))
    attack.stop()
    grown = victim.status("VmHWM") - before
    check(grown < 400 * MEBIBYTE, "the memory for bodies has an end", grown)
    print("  %d unfinished bodies: administrator p99 %.3f s, tenants %s, %d MiB more" % (
        len(users), admin.p99(), ["%.0f %%" % (100 * each.share()) for each in tenants],
        grown / MEBIBYTE))


@row(74, "unfinished bodies of one user")
def unfinished_bodies(victim, check):
    hold_and_work(victim, check, ["mallory"] * UNFINISHED, 0.95)


@row(75, "unfinished bodies of twelve users")
def unfinished_bodies_of_many(victim, check):
    # They fill all that a priority level may have, so its other tenants wait until the attackers, who
    # stand still, are refused. How many creates that leaves time for is not judged here.
    users = ["mallory-%d" % (i % 12) for i in range(UNFINISHED)]
    hold_and_work(victim, check, users, 0.02, seconds_max=15)


def review_beside_others(victim, user, together):
    """The code of a review of 3 MB that takes long to decode, and is complete when all are."""
    numbers = b",".join([b"0"] * (BODY_BYTES // 2 - 100))
    body = b'{"spec":{"resourceAttributes":{"name":"x"},"unknown":[' + numbers + b"]}}"
    with victim.tls(("http/1.1",)) as connection:
        connection.sendall(head(user, len(body), REVIEWS + "?fieldValidation=Ignore") + body[:-1])
        together.wait(timeout=60)
        connection.sendall(body[-1:])
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
        return answer.status


@row(76, "many complete large bodies at a time")
def complete_bodies(victim, check):
    grant(victim)
    workers = [Worker(victim, "large", 10, padding=900_000) for _ in range(12)]
    for worker in workers:
        check(worker.share() == 1, "large bodies of one user are all taken", set(worker.codes))
    together = threading.Barrier(12)
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        users = ["large-%d" % i for i in range(12)]
        codes = list(pool.map(lambda user: review_beside_others(victim, user, together), users))
    # They are decoded in turns, and a turn may come too late on a machine that is busy otherwise.
    late = [user for user, code in zip(users, codes) if code == 429]
    check(set(codes) <= {201, 429} and len(late) < 6, "bodies of 3 MB at once are taken", codes)
    again = [review_beside_others(victim, user, threading.Barrier(1)) for user in late]
    check(set(again) <= {201}, "those that were told to come again are taken", again)


if __name__ == "__main__":
    sys.exit(main())
