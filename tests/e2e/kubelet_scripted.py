"""What kubectl does with a kubelet that tells exit codes, ends stdin, and misbehaves when it is told to."""

import os
import subprocess
import time

from kubelets import ECHO_PORT, FAULTY_CONTAINERS, REFUSED_PORT, digest, end, printed_by
from servers import free_port, wait_until

COPIED_BYTES = 64 << 20
# What a client that does not read may cost the server.
UNREAD_BYTES_MAX = 16 << 20


def outcomes(t, world):
    for script, code in (("exit 0", 0), ("exit 1", 1), ("exit 3", 3), ("kill -9 $$", 137)):
        for options in ([], ["-i"]):
            result = world.kubectl.run("exec", *options, "q", "-c", "c", "--", "sh", "-c", "echo out; " + script)
            what = "exec %s: %s is exit code %d" % (options, script, code)
            t.check((result.returncode, result.stdout) == (code, "out\n"), what, result)
    t.says(["exec", "q", "-c", "c", "--", "no-such-program"], "executable file not found", code=1)
    text = "".join("line %d\n" % i for i in range(100_000))
    result = world.kubectl.run("exec", "-i", "q", "-c", "c", "--", "sh", "-c", "cat; exit 4", stdin=text)
    t.check((result.returncode, result.stdout) == (4, text), "exec: stdin ends", result.returncode)


def copies(t, world):
    source, there, back = (world.path(name) for name in ("source", "there", "back"))
    with open(source, "wb") as file:
        file.write(os.urandom(COPIED_BYTES))
    for start, target, made in ((source, "q:" + there, there), ("q:there", back, back)):
        begun = time.monotonic()
        result = world.kubectl.run("cp", "-c", "c", start, target)
        seconds = time.monotonic() - begun
        same = os.path.exists(made) and digest(made) == digest(source)
        way = "to a pod" if made == there else "from a pod"
        t.check(result.returncode == 0 and same, "cp of 64 MiB " + way, result)
        print("cp of 64 MiB %s over %s: %.1f s" % (way, world.kubectl.transport(), seconds))
    for path in (source, there, back):
        if os.path.exists(path):
            os.remove(path)


def attach(t, world):
    result = world.kubectl.run("attach", "-i", "q", "-c", "c", stdin="one\ntwo\n")
    t.check(result.returncode == 0 and result.stdout == "attached\none\ntwo\n", "attach: both ways", result)


def faults(t, world):
    # Over SPDY the server passes bytes on, and kubectl takes the end of a connection for success.
    for name, code in (("reset", int(bool(world.kubectl.websockets))), ("reset-after-status", 7)):
        result = world.kubectl.run("exec", "q", "-c", "c", "--", "fault", name)
        t.check((result.returncode, result.stdout) == (code, "before\n"), "exec: fault " + name, result)
    for name in FAULTY_CONTAINERS:
        result = world.kubectl.run("exec", "q", "-c", name, "--", "true")
        t.check(result.returncode == 1 and "rror" in result.stderr, "exec: a kubelet that " + name, result)
        if name == "answers-500":
            t.check("the runtime is not ready" in result.stderr, "exec: why a kubelet refuses", result)


def refused_port(t, world):
    port = free_port()
    process = world.kubectl.start("port-forward", "q", "%d:%d" % (port, REFUSED_PORT))
    printed_by(process, "127.0.0.1:%d" % port)
    begun = time.monotonic()
    asked = os.system("curl -s -m 20 -o %s http://127.0.0.1:%d/" % (os.devnull, port))
    seen = printed_by(process, "nothing listens here")
    t.check(asked != 0 and time.monotonic() - begun < 15, "port-forward: a port that refuses", asked)
    t.check("nothing listens here" in seen, "port-forward: why a port refuses", seen)
    end(process)


def python_client(t, world):
    """The Python client of the system, which streams over WebSockets only."""
    if world.kubectl.websockets is False:
        return
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_streams.py")
    result = subprocess.run(["/usr/bin/python3", program, "q", "c", str(ECHO_PORT)], capture_output=True, text=True,
                            env={**os.environ, "KUBECONFIG": world.server.kubeconfig}, timeout=300)
    t.check(result.returncode == 0, "the Python client's streams", result.stdout + result.stderr)
    print(result.stdout, end="")


def go_client(t, world):
    """client-go's executors, which stream over WebSockets and over SPDY."""
    if world.kubectl.websockets is False or not world.go_streams:
        return
    result = subprocess.run([world.go_streams, "q", "c", str(ECHO_PORT)], capture_output=True, text=True,
                            env={**os.environ, "KUBECONFIG": world.server.kubeconfig}, timeout=300)
    t.check(result.returncode == 0, "client-go's streams", result.stdout + result.stderr)
    print(result.stdout, end="")


def clients_that_do_not_read(t, world):
    """The server holds little for a client that does not read, and nothing for one that is gone."""
    world.kubectl.run("exec", "q", "-c", "c", "--", "true")
    descriptors, resident = world.descriptors(), world.resident()
    processes = [world.kubectl.start("exec", "q", "-c", "c", "--", "cat", "/dev/zero") for _ in range(4)]
    for process in processes:
        os.read(process.stdout.fileno(), 1)
    time.sleep(2)
    grown = world.resident() - resident
    t.check(grown < UNREAD_BYTES_MAX, "exec: a client that does not read costs little", grown)
    t.check(world.descriptors() >= descriptors + 2 * len(processes), "exec: the streams are open", world.descriptors())
    for process in processes:
        end(process)
    try:
        wait_until(lambda: world.descriptors() <= descriptors, "descriptors", 15)
    except Exception:
        pass
    t.check(world.descriptors() <= descriptors, "exec: clients that went leave nothing", (descriptors, world.descriptors()))


STEPS = (outcomes, copies, attach, faults, refused_port, python_client, go_client, clients_that_do_not_read)
