#!/usr/bin/env python3
"""Runs a command with $KUBECONFIG against a server of its own, which ends with it.

usage: with_server.py --server BINARY [--storage rocks|memory|etcd] COMMAND [ARGUMENT...]

Exits as the command does; 1 if the server did not end well. What the server logged is shown then.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile

from servers import Server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--storage", default="memory")
    parser.add_argument("--seconds", type=int, default=120, help="the command is killed then")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args.server, args.storage, folder)
        code = 1
        try:
            server.start()
            environment = {**os.environ, "KUBECONFIG": server.kubeconfig}
            code = subprocess.run(args.command, env=environment, timeout=args.seconds).returncode
            if server.stop() != 0:
                print("FAILED: SIGTERM ends the server with exit code 0", flush=True)
                code = code or 1
        except subprocess.TimeoutExpired:
            print("FAILED: more than %d seconds" % args.seconds, flush=True)
        finally:
            if server.process and server.process.poll() is None:
                server.stop(signal.SIGKILL)
            if server.etcd:
                server.etcd.stop()
            if code:
                print(open(os.path.join(folder, "server.log")).read()[-4000:], file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
