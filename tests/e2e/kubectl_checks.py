"""One kubectl binary, and checks of what it prints."""

import json
import os
import re
import subprocess


class Kubectl:
    """One kubectl binary against one server; caches live in a folder of the test's own."""

    def __init__(self, binary, kubeconfig, folder):
        self.binary, self.kubeconfig, self.folder = binary, kubeconfig, folder
        version = subprocess.run(
            [binary, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True
        )
        info = json.loads(version.stdout)["clientVersion"]
        self.version = (int(info["major"]), int(re.match(r"\d+", info["minor"]).group()))

    def command(self, args):
        cache = os.path.join(self.folder, "cache")
        return [self.binary, "--kubeconfig", self.kubeconfig, "--cache-dir", cache] + list(args)

    def environment(self, extra=None):
        return {**os.environ, "HOME": self.folder, **(extra or {})}

    def run(self, *args, stdin=None, env=None):
        return subprocess.run(
            self.command(args), input=stdin, capture_output=True, text=True, timeout=300, env=self.environment(env)
        )

    def start(self, *args):
        return subprocess.Popen(
            self.command(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment()
        )

    def before(self, minor):
        return self.version < (1, minor)


class Checker:
    """Runs kubectl and compares; remembers what failed."""

    def __init__(self, kubectl):
        self.kubectl = kubectl
        self.checks = 0
        self.failures = []

    def check(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print("FAILED: %s\n  got: %s" % (what, str(got).strip().replace("\n", "\n       ")), flush=True)

    def says(self, args, *texts, code=0, stdin=None, env=None):
        """`args` exits with `code` and prints every one of `texts` (stdout and stderr together)."""
        result = self.kubectl.run(*args, stdin=stdin, env=env)
        printed = result.stdout + result.stderr
        what = "kubectl " + " ".join(args)
        self.check(result.returncode == code, "%s: exit code %d" % (what, code), "%d\n%s" % (result.returncode, printed))
        for text in texts:
            self.check(text in printed, "%s: prints %r" % (what, text), printed)
        return result.stdout

    def prints(self, args, text):
        """`args` succeeds and prints exactly `text` on stdout."""
        result = self.kubectl.run(*args)
        what = "kubectl " + " ".join(args)
        self.check(result.returncode == 0, what + ": exit code 0", result.stderr)
        self.check(result.stdout == text, "%s: prints exactly %r" % (what, text), result.stdout)

    def rows(self, args, *rows):
        """`args` prints a table: each row's words stand in one line, in order, nothing else does."""
        result = self.kubectl.run(*args)
        lines = [line.split() for line in result.stdout.splitlines()]
        what = "kubectl " + " ".join(args)
        self.check(len(lines) == len(rows), "%s: prints %d lines" % (what, len(rows)), result.stdout + result.stderr)
        for line, row in zip(lines, rows):
            words = row.split()
            matches = len(line) == len(words) and all(w in ("*", l) for w, l in zip(words, line))
            self.check(matches, "%s: a line is %r" % (what, row), " ".join(line))

    def unchanged_by(self, args, *texts, stdin=None, code=0):
        """A dry run: says `texts` and leaves flunder one as it was."""
        before = self.kubectl.run("get", "flunder", "one", "-o", "json").stdout
        self.says(args, *texts, stdin=stdin, code=code)
        after = self.kubectl.run("get", "flunder", "one", "-o", "json").stdout
        self.check(before == after and before != "", "nothing is changed by kubectl " + " ".join(args), after)
