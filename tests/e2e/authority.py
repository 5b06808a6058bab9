"""Certificates for tests, made by openssl."""

import os
import subprocess

from servers import Failure


def openssl(*args):
    done = subprocess.run(("openssl",) + args, capture_output=True)
    if done.returncode:
        raise Failure("openssl %s: %s" % (args[0], done.stderr.decode()[-500:]))


class Authority:
    """A certificate authority and the pairs it signs, in files."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.cert, self.key = self.path(name + ".crt"), self.path(name + ".key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", self.key, "-out", self.cert, "-subj", "/CN=" + name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, subject, extensions):
        """Paths of a certificate and its key."""
        cert, key, request, ext = (self.path(name + end) for end in (".crt", ".key", ".csr", ".ext"))
        with open(ext, "w") as file:
            file.write(extensions)
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", request, "-subj", subject)
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial",
                "-days", "1", "-extfile", ext, "-out", cert)
        return cert, key
