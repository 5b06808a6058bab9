#!/usr/bin/env python3
"""Types the commands of docs/tutorial.md and compares what they print with the page.

usage: tutorial.py --build DIR [--root DIR] [--kubectl KUBECTL]

The commands stand behind "$ " in blocks called console, with what they print below them. All are run by
one bash in a folder of its own, in which `build` and `examples` are those of the checkout; the next
command waits until a server that was started before answers. Ages, times and the width of columns may differ.
The page's port 6444 is a free one. Ends with "N commands print what the page says".
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import pages

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from servers import free_port  # noqa: E402

PAGE = os.path.join("docs", "tutorial.md")
PORT = "6444"
SECONDS_MAX = 240


def commands(text):
    """[(line, command, what it prints)] of a page."""
    found, console = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            console = line == "```console"
        elif console and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif console:
            found[-1][2].append(line)
    return found


def plain(lines):
    """Lines without what differs from run to run."""
    return [re.sub(r"\b\d+(m\d+)?s\b|\b\d{4}-\d\d-\d\dT[\d:]+Z", "AGE", re.sub(r"\s+", " ", line)).strip()
            for line in lines]


def started(command, output):
    """The lines of bash that start a server and wait for it."""
    config = re.search(r"--kubeconfig-out=(\S+)", command)
    config = config[1] if config else "zoo.kubeconfig"
    port = re.search(r"--no-standalone.* --secure-port=(\d+)", command)
    ready = "(: </dev/tcp/127.0.0.1/%s) 2>/dev/null" % port[1] if port else \
        "[[ -s {0} ]] && kubectl --kubeconfig {0} get --raw /readyz >/dev/null 2>&1".format(config)
    lines = [] if port else ["rm -f " + config]
    return lines + ["%s >%s 2>&1 &" % (command[:-1].strip(), output),
                    "until %s; do kill -0 $! || exit 1; sleep 0.05; done" % ready]


def script(found, folder):
    """All commands for bash, each with its output in a file."""
    lines = []
    for i, (_, command, _) in enumerate(found):
        output = shlex.quote(os.path.join(folder, "%d.out" % i))
        if command.endswith("&"):
            lines += started(command, output)
        elif command.startswith("kill "):
            lines += [command, "wait 2>/dev/null"]
        else:
            lines.append("{ %s\n} >%s 2>&1" % (command, output))
    return "\n".join(lines) + "\n"


def prepare(root, build, folder, port):
    """A checkout to type in."""
    os.symlink(build, os.path.join(folder, "build"))
    shutil.copytree(os.path.join(root, "examples", "tutorial"), os.path.join(folder, "examples", "tutorial"))
    manifest = os.path.join("examples", "tutorial", "step6", "aggregated.yaml")
    pages.write(manifest, pages.read(manifest, root).replace(PORT, port), folder)


def run(text, folder, kubectl):
    """Runs a script; everything that it started has ended then."""
    path = os.path.dirname(os.path.abspath(kubectl)) + ":" + os.environ["PATH"]
    bash = subprocess.Popen(["bash", "-c", text], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, start_new_session=True,
                            env={"PATH": path, "HOME": folder})
    try:
        return bash.communicate(timeout=SECONDS_MAX)[1]
    except subprocess.TimeoutExpired:
        return "not done after %d seconds" % SECONDS_MAX
    finally:
        try:
            os.killpg(bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        bash.wait()


def differences(found, folder):
    """What each command that prints something else prints."""
    wrong = []
    for i, (number, command, expected) in enumerate(found):
        path = os.path.join(folder, "%d.out" % i)
        said = pages.read(path, folder).splitlines() if os.path.exists(path) else ["(it was not run)"]
        if command.startswith("kill ") or (command.endswith("&") and os.path.exists(path)):
            continue
        if plain(said) != plain(expected):
            wrong.append("%s:%d: `%s` prints:\n%s" % (PAGE, number, command, "\n".join(said)))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the build tree")
    parser.add_argument("--root", default=pages.ROOT, help="the checkout")
    parser.add_argument("--kubectl", default=shutil.which("kubectl"))
    options = parser.parse_args()
    if not options.kubectl:
        print("FAILED: no kubectl in $PATH")
        return 1
    port = str(free_port())
    found = commands(pages.read(PAGE, options.root))
    found = [(number, command.replace(PORT, port), expected) for number, command, expected in found]
    with tempfile.TemporaryDirectory() as folder:
        prepare(options.root, os.path.abspath(options.build), folder, port)
        said = run(script(found, folder), folder, options.kubectl)
        wrong = differences(found, folder)
        for fault in wrong:
            print("FAILED: " + fault)
        if wrong:
            print(said)
            for name in sorted(os.listdir(folder)):
                if name.endswith(".out"):
                    print("--- %s\n%s" % (name, pages.read(name, folder)[-1500:]))
    print("%d commands print what the page says" % (len(found) - len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
