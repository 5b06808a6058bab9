"""Authorities and certificates, made with openssl, for scripts that stand between servers."""

import os
import subprocess


class Authority:
    """A certificate authority of its own, with its files in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name, self.made = folder, name, 0
        self.certificate, self.key = self.path(name + ".pem"), self.path(name + ".key")
        run("req", "-x509", *new_key(self.key), "-out", self.certificate, "-days", "2", "-subj", "/CN=" + name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def pem(self):
        return open(self.certificate).read()

    def sign(self, common_name, organizations=(), names=()):
        """A certificate for a client, or, with names, for a server; the paths of it and its key."""
        self.made += 1
        base = self.path("%s-%d" % (self.name, self.made))
        subject = "".join("/O=" + each for each in organizations) + "/CN=" + common_name
        run("req", *new_key(base + ".key"), "-out", base + ".csr", "-subj", subject)
        with open(base + ".ext", "w") as extensions:
            extensions.write("extendedKeyUsage=%s\n" % ("serverAuth" if names else "clientAuth"))
            if names:
                extensions.write("subjectAltName=%s\n" % ",".join(names))
        run("x509", "-req", "-in", base + ".csr", "-CA", self.certificate, "-CAkey", self.key, "-set_serial",
            str(self.made), "-days", "1", "-extfile", base + ".ext", "-out", base + ".pem")
        return base + ".pem", base + ".key"


def new_key(path):
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path)


def run(*args):
    got = subprocess.run(("openssl",) + args, capture_output=True)
    if got.returncode:
        raise RuntimeError("openssl %s: %s" % (args[0], got.stderr.decode()))
