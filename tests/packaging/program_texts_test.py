#!/usr/bin/env python3
"""packaging/debian/program_texts.cmake puts what a program tells where shells and man look for it.

usage: program_texts_test.py SAMPLE_APISERVER
"""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging", "debian", "program_texts.cmake")
PLACES = {
    "share/man/man8/sample-apiserver.8": ["man"],
    "share/bash-completion/completions/sample-apiserver": ["completion", "bash"],
    "share/zsh/vendor-completions/_sample-apiserver": ["completion", "zsh"],
    "share/fish/vendor_completions.d/sample-apiserver.fish": ["completion", "fish"],
}


def write_all(program, folder):
    """What the script prints, and the texts that it writes, by their places."""
    env = dict(os.environ, HOME=os.path.join(folder, "packer"), XDG_DATA_HOME=os.path.join(folder, "packer"))
    prefix = os.path.join(folder, "usr")
    done = subprocess.run(["cmake", "-D", "program=" + program, "-D", "prefix=" + prefix, "-P", SCRIPT],
                          env=env, capture_output=True, text=True, timeout=60)
    texts = {}
    for base, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(base, name)
            assert os.stat(path).st_mode & 0o777 == 0o644, path
            with open(path, encoding="utf-8") as file:
                texts[os.path.relpath(path, prefix)] = file.read()
    return done, texts


class Texts(unittest.TestCase):
    def test_what_the_program_tells(self):
        with tempfile.TemporaryDirectory() as folder:
            done, texts = write_all(PROGRAM, folder)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
            self.assertEqual(sorted(texts), sorted(PLACES))
            env = {"HOME": "~", "PATH": os.environ["PATH"]}
            for place, words in PLACES.items():
                said = subprocess.run([PROGRAM, *words], env=env, capture_output=True, text=True, timeout=60).stdout
                self.assertEqual(texts[place], said)
                # The paths are those of its user, not of who has made it.
                self.assertNotIn(folder, texts[place])
                self.assertIn("~/.local/share/", texts["share/man/man8/sample-apiserver.8"])
            self.assertIn("manifests", texts["share/man/man8/sample-apiserver.8"])
            self.assertIn("complete -F _sample_apiserver sample-apiserver",
                          texts["share/bash-completion/completions/sample-apiserver"])

    def test_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done, _ = write_all("/bin/false", folder)
            self.assertNotEqual(done.returncode, 0)


PROGRAM = os.path.abspath(sys.argv.pop(1))
unittest.main()
