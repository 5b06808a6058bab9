#!/usr/bin/env python3
"""A server takes its listening socket from systemd, and clients that connect during its restart wait.

usage: socket_activation.py --server SAMPLE_APISERVER

This script is systemd: it opens the socket, keeps it, and passes it on as sd_listen_fds(3) says.
"""

import argparse
import os
import signal
import socket
import ssl
import sys
import tempfile
import threading

from servers import Failure, wait_until


def expect(true, what):
    if not true:
        raise Failure(str(what))


def listener(family=socket.AF_INET, address=("127.0.0.1", 0), listening=True, kind=socket.SOCK_STREAM):
    one = socket.socket(family, kind)
    one.bind(address)
    if listening:
        one.listen()
    return one


class Activated:
    """A server program with descriptors from 3 on."""

    def __init__(self, program, folder, descriptors, count=None, pid=None, names=None, flags=()):
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        if os.path.exists(self.kubeconfig):
            os.remove(self.kubeconfig)
        self.log = os.path.join(folder, "log")
        arguments = [program, "--storage=memory", "--secure-port=0", "--data-dir=" + folder, *flags]
        # Copies above those that are passed, so that none is overwritten before it is used.
        above = [os.dup2(each, 100 + i, inheritable=True) for i, each in enumerate(descriptors)]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for i, each in enumerate(above):
                    os.dup2(each, 3 + i, inheritable=True)
                os.closerange(3 + len(above), 200)
                out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.dup2(out, 1)
                os.dup2(out, 2)
                variables = dict(os.environ, LISTEN_PID=str(pid or os.getpid()),
                                 LISTEN_FDS=str(len(descriptors) if count is None else count))
                if names:
                    variables["LISTEN_FDNAMES"] = names
                os.execve(program, arguments, variables)
            finally:
                os._exit(127)
        for each in above:
            os.close(each)

    def ready(self):
        wait_until(lambda: os.path.exists(self.kubeconfig) or self.ended(), "the server is ready", 60)
        return open(self.kubeconfig).read()

    def ended(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        return self.wait()


def get(port, connected=None):
    """The first line of the answer to a GET of /livez."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        if connected:
            connected.set()
        with context.wrap_socket(plain) as tls:
            tls.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return tls.recv(4096).split(b"\r\n")[0].decode()


def check_restart(program, folder):
    with listener() as mine:
        port = mine.getsockname()[1]
        first = Activated(program, folder, [mine.fileno()], names="sample-apiserver.socket")
        expect("https://127.0.0.1:%d" % port in first.ready(), "the kubeconfig is for another port than %d" % port)
        expect(get(port).startswith("HTTP/1.1 "), "it does not answer")
        expect(first.stop() == 0, "it does not stop")
        answers, connected = [], threading.Event()
        client = threading.Thread(target=lambda: answers.append(get(port, connected)))
        client.start()
        expect(connected.wait(60) and not answers, "a client is refused while there is no server")
        second = Activated(program, folder, [mine.fileno()])
        try:
            client.join(60)
            expect(answers and answers[0].startswith("HTTP/1.1 "), answers)
        finally:
            code = second.stop()
        expect(code == 0, "it does not stop again")


def check_other_process(program, folder):
    """Variables that a parent has left are not for this process."""
    with listener() as mine:
        port = mine.getsockname()[1]
        server = Activated(program, folder, [mine.fileno()], pid=1)
        text = server.ready()
        expect(server.stop() == 0 and "https://127.0.0.1:" in text and ":%d" % port not in text, text)


def check_refused(program, folder):
    with listener() as one, listener() as two, listener(listening=False) as deaf, \
            listener(kind=socket.SOCK_DGRAM, listening=False) as datagrams, \
            listener(socket.AF_UNIX, os.path.join(folder, "unix")) as unix, open(os.devnull) as file:
        rows = [
            ([one, two], {"names": "a:b"}, "2 sockets were passed (a:b), and the server listens on one"),
            ([], {}, "no socket was passed"),
            ([one], {"count": "many"}, "LISTEN_FDS is many"),
            ([deaf], {"names": "deaf"}, "descriptor 3 (deaf) does not listen"),
            ([datagrams], {}, "descriptor 3 is no stream socket"),
            ([file], {}, "descriptor 3 is no socket"),
            ([], {"count": 1}, "descriptor 3 is no socket"),
            ([unix], {}, "which is no IP address"),
        ]
        for sockets, more, words in rows:
            server = Activated(program, folder, [each.fileno() for each in sockets], **more)
            code = server.wait()
            said = open(server.log).read().splitlines()[-1]
            expect(code == 1 and said.startswith("error: socket activation: ") and words in said, (words, code, said))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    options = parser.parse_args()
    for check in (check_restart, check_other_process, check_refused):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.server, folder)
            except Failure as failure:
                sys.exit("failed: %s: %s" % (check.__name__, failure))
    print("socket activation: ok")


if __name__ == "__main__":
    main()
