#!/usr/bin/python3
"""Runs commands in a pod and forwards a port with the Python client (Debian's python3-kubernetes).

usage: KUBECONFIG=FILE python_streams.py POD CONTAINER ECHO_PORT

Exits 1 and names each failed check; prints how many there were.
"""

import sys

from kubernetes import client, config
from kubernetes.client.rest import ApiException
from kubernetes.stream import portforward, stream

NAMESPACE = "default"
PATIENCE_SECONDS = 30
STDIN_LINES = 1000


class Checks:
    def __init__(self):
        self.done = self.failed = 0

    def check(self, condition, what, got=""):
        self.done += 1
        if not condition:
            self.failed += 1
            print("FAILED: python: %s\n  got: %r" % (what, got), flush=True)


def command(api, pod, container, words, **more):
    options = {"stdin": False, "stdout": True, "stderr": True, "tty": False, **more}
    return stream(api.connect_get_namespaced_pod_exec, pod, NAMESPACE, container=container, command=words, **options)


def commands(checks, api, pod, container):
    said = command(api, pod, container, ["printf", "%s\n", "a b&c=d"])
    checks.check(said == "a b&c=d\n", "exec: what a command prints", said)
    for code in (0, 1, 137):
        run = command(api, pod, container, ["sh", "-c", "echo out; echo err >&2; exit %d" % code], _preload_content=False)
        run.run_forever(timeout=PATIENCE_SECONDS)
        got = (run.read_stdout(), run.read_stderr(), run.returncode)
        checks.check(got == ("out\n", "err\n", code), "exec: outputs and exit code %d" % code, got)
    try:
        checks.check(False, "exec: a pod that does not exist", command(api, "missing", container, ["true"]))
    except ApiException as error:
        checks.check("404" in str(error.reason), "exec: a pod that does not exist is 404", str(error.reason))


def stdin(checks, api, pod, container):
    run = command(api, pod, container, ["head", "-n", str(STDIN_LINES)], stdin=True, _preload_content=False)
    text = "".join("line %d\n" % i for i in range(STDIN_LINES))
    for at in range(0, len(text), 1000):
        run.write_stdin(text[at : at + 1000])
    run.run_forever(timeout=PATIENCE_SECONDS)
    got = run.read_stdout()
    checks.check((got, run.returncode) == (text, 0), "exec: stdin", (len(got), run.returncode))


def terminal(checks, api, pod, container):
    wait = 'until [ "$(stty size)" = "33 77" ]; do sleep 0.1; done; stty size'
    run = command(api, pod, container, ["sh", "-c", wait], stdin=True, tty=True, _preload_content=False)
    run.write_channel(4, '{"Width":77,"Height":33}')
    run.run_forever(timeout=PATIENCE_SECONDS)
    got = run.read_stdout()
    checks.check(got.endswith("33 77\r\n") and run.returncode == 0, "exec: a terminal and its size", got)


def forwarded(checks, api, pod, port):
    ports = portforward(api.connect_get_namespaced_pod_portforward, pod, NAMESPACE, ports=str(port))
    one = ports.socket(port)
    one.settimeout(PATIENCE_SECONDS)
    one.sendall(b"ping")
    got = one.recv(4)
    one.close()
    checks.check(got == b"ping" and ports.error(port) is None, "port-forward: what an echo answers", (got, ports.error(port)))


def main():
    pod, container, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    config.load_kube_config()
    checks = Checks()
    # Each call replaces how its client sends requests, so that none is shared.
    for steps in (commands, stdin, terminal):
        steps(checks, client.CoreV1Api(client.ApiClient()), pod, container)
    forwarded(checks, client.CoreV1Api(client.ApiClient()), pod, port)
    print("python streams: %d checks, %d failed" % (checks.done, checks.failed))
    return 1 if checks.failed or not checks.done else 0


if __name__ == "__main__":
    sys.exit(main())
