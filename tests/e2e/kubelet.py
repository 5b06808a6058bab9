#!/usr/bin/env python3
"""Runs commands in pods, copies, attaches, forwards ports, reads logs and asks proxies with one kubectl.
There are two kubelets, which run commands as processes of this machine: the program of kubelet/, and kwok.

usage: kubelet.py --server BINARY --kubectl BINARY --kubelet BINARY [--kwok BINARY --stages FOLDER]
                  [--go-streams BINARY] [--execs 1000]

The server is examples/kube-apiserver. Exits 1 and names each failed check. A kubectl from 1.30 on does
all streams over WebSockets, then over SPDY.
"""

import argparse
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request

import kubelet_scripted
from kubectl_checks import Checker
from kubelets import ECHO_PORT, World, digest, end, printed_by, start_kwok_pod, start_scripted_pod, start_web_pod
from servers import free_port, wait_until

COPIED_BYTES = 64 << 20
FORWARDED_CONNECTIONS = 100
TRANSLATED = "apiserver_stream_translator_requests_total"
TUNNELLED = "apiserver_stream_tunnel_requests_total"
# A size comes in a message of its own, after the command may have begun. At the end kwok drops what it
# has not read of the terminal yet.
SIZES = (
    "for size in '33 77' '44 88'; do until [ \"$(stty size)\" = \"$size\" ]; do sleep 0.1; done; stty size; done; sleep 1"
)


def commands(t, world):
    """What a command by either kubelet does."""
    pod, before = world.pod, world.counted(TRANSLATED)
    t.prints(["exec", pod, "-c", "c", "--", "echo", "hello"], "hello\n")
    translated = world.counted(TRANSLATED) - before
    t.check(translated == bool(world.kubectl.websockets), "exec: the transport is " + world.kubectl.transport(), translated)
    t.prints(["exec", pod, "-c", "c", "--", "printf", "%s", "a b&c=d"], "a b&c=d")
    result = world.kubectl.run("exec", pod, "-c", "c", "--", "sh", "-c", "echo out; echo err >&2")
    t.check((result.stdout, result.stderr) == ("out\n", "err\n"), "exec: two outputs", result)
    result = world.kubectl.run("exec", "-i", pod, "-c", "c", "--", "head", "-n", "2", stdin="one\ntwo\n")
    t.check((result.returncode, result.stdout) == (0, "one\ntwo\n"), "exec: stdin", result)
    t.says(["exec", pod, "-c", "other", "--", "ls"], "container other is not valid for pod " + pod, code=1)
    t.says(["exec", "missing", "--", "ls"], 'pods "missing" not found', code=1)
    sizes = terminal(world)
    t.check(sizes == ("33 77\n44 88\n", 0), "exec: a terminal with a size that changes", sizes)


def kwok_outcomes(t, world):
    """kwok wraps the error of a command, which makes it an internal one without an exit code."""
    for script, text in (("exit 3", "exit status 3"), ("kill -9 $$", "signal: killed")):
        t.says(["exec", "p", "--", "sh", "-c", script], text, code=1)


def terminal(world):
    """What `SIZES` prints in a terminal whose size changes after the first line, and its exit code."""
    here, there = pty.openpty()
    resize(there, 33, 77)
    process = subprocess.Popen(
        world.kubectl.command(["exec", "-it", world.pod, "-c", "c", "--", "timeout", "30", "sh", "-c", SIZES]),
        stdin=there, stdout=there, stderr=there, start_new_session=True, env=world.kubectl.environment(),
    )
    os.close(there)
    text, resized, deadline = b"", False, time.monotonic() + 60
    while select.select([here], [], [], max(0, deadline - time.monotonic()))[0]:
        try:
            text += os.read(here, 4096)
        except OSError:
            break
        if not resized and b"33 77" in text:
            resized = True
            resize(here, 44, 88)
            process.send_signal(signal.SIGWINCH)
    os.close(here)
    return text.decode().replace("\r\n", "\n"), process.wait(timeout=60)


def resize(terminal_end, rows, columns):
    fcntl.ioctl(terminal_end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def kwok_copies(t, world):
    """From the pod only: to it, tar waits for the end of its stdin, which kwok never closes."""
    source, made = world.path("source"), world.path("made")
    with open(source, "wb") as file:
        file.write(os.urandom(COPIED_BYTES))
    begun = time.monotonic()
    result = world.kubectl.run("cp", "p:source", made)
    seconds = time.monotonic() - begun
    same = os.path.exists(made) and digest(made) == digest(source)
    t.check(result.returncode == 0 and same, "cp of 64 MiB from a pod", result)
    print("cp of 64 MiB from a pod over %s: %.1f s" % (world.kubectl.transport(), seconds))
    for path in (source, made):
        if os.path.exists(path):
            os.remove(path)


def kwok_attach(t, world):
    """kwok's attach tells what is logged from then on."""
    process = world.kubectl.start("attach", "p")
    seen, number = "", 10
    while "line 1" not in seen and number < 60 and process.poll() is None:
        world.append_line(number)
        number += 1
        seen += printed_by(process, "line 1", 0.5)
    t.check("line 1" in seen, "attach prints what the container prints", seen)
    end(process)


def forwarded_ports(t, world):
    before = world.counted(TUNNELLED)
    port, echo = free_port(), free_port()
    process = world.kubectl.start("port-forward", world.pod, "%d:80" % port, "%d:%d" % (echo, ECHO_PORT))
    printed_by(process, "127.0.0.1:%d" % echo)
    right = []

    def ask(number):
        with urllib.request.urlopen("http://127.0.0.1:%d/%d" % (port, number), timeout=60) as answer:
            right.append(answer.read().decode() == "asked for /%d" % number)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(FORWARDED_CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    t.check(right.count(True) == FORWARDED_CONNECTIONS, "port-forward: every connection is answered", right.count(True))
    with socket.create_connection(("127.0.0.1", echo), timeout=30) as one:
        one.sendall(b"back")
        t.check(one.recv(4) == b"back", "port-forward: a command's port echoes")
    end(process)
    tunnelled = world.counted(TUNNELLED) - before
    t.check(tunnelled == bool(world.kubectl.websockets), "port-forward: the transport is " + world.kubectl.transport(), tunnelled)


def logs(t, world):
    lines = ["line 1", "line 2", "line 3"]
    t.prints(["logs", "p"], "".join(line + "\n" for line in lines))
    t.prints(["logs", "p", "-c", "c", "--tail=1"], "line 3\n")
    t.prints(["logs", "p", "--limit-bytes=3"], "lin")
    t.prints(["logs", "p", "--since=1s"], "")
    t.prints(["logs", "p", "--since=999999h"], "".join(line + "\n" for line in lines))
    t.prints(["logs", "p", "--since-time=2026-01-01T00:00:02Z"], "line 2\nline 3\n")
    t.prints(["logs", "p", "--tail=1", "--timestamps"], "2026-01-01T00:00:03.000000000Z line 3\n")
    t.prints(["logs", "p", "--previous"], "earlier line 1\n")
    t.prints(["logs", "p", "--all-containers", "--prefix", "--tail=1"], "[pod/p/c] line 3\n")
    t.prints(["logs", "-l", "app=web", "--tail=1"], "line 3\n")
    t.prints(["logs", "p", "--insecure-skip-tls-verify-backend", "--tail=1"], "line 3\n")
    t.says(["logs", "p", "--tail=1", "--since=1s", "--since-time=2026-01-01T00:00:02Z"], "at most one of", code=1)
    t.says(["get", "--raw", "/api/v1/namespaces/default/pods/p/log?limitBytes=0"], "limitBytes: Invalid value: 0", code=1)
    followed_log(t, world, [], ["line 1", "line 2", "line 3", "line 4"])
    followed_log(t, world, ["--tail=1", "--timestamps"], ["2026-01-01T00:00:04.000000000Z line 4", "2026-01-01T00:00:05.000000000Z line 5"])


def followed_log(t, world, options, expected):
    """`logs -f` prints all but the last of `expected`, and that once it is written."""
    process = world.kubectl.start("logs", "-f", "p", *options)
    seen = printed_by(process, expected[-2] + "\n")
    world.append_line(int(expected[-1].split()[-1]))
    seen += printed_by(process, expected[-1] + "\n")
    end(process)
    t.check(seen == "".join(line + "\n" for line in expected), "logs -f %s goes on" % " ".join(options), seen)


def proxies(t, world):
    pod, node = "/api/v1/namespaces/default/pods/%s/proxy/%s", "/api/v1/nodes/%s/proxy/%s"
    t.says(["get", "--raw", node % ("scripted", "healthz")], "address not allowed", code=1)
    if world.address is None:
        print("skipped: proxies that reach something: this machine has no address but the loopback's")
        return
    start_web_pod(t, world)
    port = world.web.server_address[1]
    t.prints(["get", "--raw", pod % ("r", "a/b?x=y")], "asked for /a/b?x=y")
    t.prints(["get", "--raw", pod % ("http:r:%d" % port, "c")], "asked for /c")
    t.prints(["get", "--raw", node % ("elsewhere:%d" % port, "d")], "asked for /d")


def many_commands(t, world, count):
    """`count` commands, two at a time: each succeeds, and the server keeps no descriptor of any."""
    world.kubectl.run("exec", world.pod, "-c", "c", "--", "true")
    before, seconds, left = world.descriptors(), [], list(range(count))

    def run():
        while left:
            left.pop()
            begun = time.monotonic()
            if world.kubectl.run("exec", world.pod, "-c", "c", "--", "true").returncode == 0:
                seconds.append(time.monotonic() - begun)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    t.check(len(seconds) == count, "exec: each of %d commands succeeds" % count, len(seconds))
    try:
        wait_until(lambda: world.descriptors() <= before, "descriptors", 15)
    except Exception:
        pass
    t.check(world.descriptors() <= before, "exec: no descriptor is left", "%d, then %d" % (before, world.descriptors()))
    seconds.sort()
    if seconds:
        print("%d exec true over %s: median %.0f ms, p99 %.0f ms, kubectl's start among it"
              % (count, world.kubectl.transport(), seconds[len(seconds) // 2] * 1e3, seconds[len(seconds) * 99 // 100] * 1e3))


def run_all(t, world, args):
    start_scripted_pod(t, world)
    proxies(t, world)
    if args.kwok:
        start_kwok_pod(t, world)
        logs(t, world)
    for websockets in world.kubectl.transports():
        world.kubectl.websockets = websockets
        pods = {"q": (commands, forwarded_ports, *kubelet_scripted.STEPS)}
        if args.kwok:
            pods["p"] = (commands, forwarded_ports, kwok_outcomes, kwok_copies, kwok_attach)
        for world.pod, all_steps in pods.items():
            for steps in all_steps:
                steps(t, world)
        world.pod = "q"
        many_commands(t, world, args.execs)
    t.check(world.server.stop() == 0, "SIGTERM ends the server with exit code 0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--kubelet", required=True, help="the program of kubelet/")
    parser.add_argument("--kwok", help="logs are tried with it only")
    parser.add_argument("--stages", help="kustomize/stage of kwok's module")
    parser.add_argument("--go-streams", help="the program of go_client/streams, to be run too")
    parser.add_argument("--execs", type=int, default=20, help="how many commands that do nothing")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = World(args, folder)
        t = Checker(world.kubectl)
        try:
            run_all(t, world, args)
        finally:
            world.stop()
            if world.server.process.poll() is None:
                world.server.stop(signal.SIGKILL)
        print("kubectl %d.%d and a kubelet: %d checks, %d failed" % (*world.kubectl.version, t.checks, len(t.failures)))
        return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
