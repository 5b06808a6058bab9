"""A program of examples/ under test."""

import base64
import os
import re
import subprocess
import time

PATIENCE = 120


class Example:
    """The program in a folder of its own, where it writes `kubeconfig`, and what clients need to reach it."""

    def __init__(self, binary, folder, kubeconfig):
        self.folder = folder
        self.kubeconfig = os.path.join(folder, kubeconfig)
        self.process = subprocess.Popen([os.path.abspath(binary)], cwd=folder, stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.kubeconfig):
            if time.monotonic() > end:
                self.process.kill()
                raise RuntimeError("the server does not come up")
            time.sleep(0.02)
        text = open(self.kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.url, self.token = find("server"), find("token")
        self.port = int(self.url.rpartition(":")[2])
        self.ca = os.path.join(folder, "ca.pem")
        with open(self.ca, "wb") as file:
            file.write(base64.b64decode(find("certificate-authority-data")))

    def curl(self, path, *args):
        return ["curl", "--silent", "--show-error", "--cacert", self.ca, "--header",
                "Authorization: Bearer " + self.token, *args, self.url + path]

    def get(self, path, *args):
        return subprocess.run(self.curl(path, *args), capture_output=True, timeout=PATIENCE).stdout.decode()


