#!/usr/bin/env python3
"""TLS: old protocols, messages after the handshake, client certificates that cost more than they prove.

usage: tls.py --server BINARY [ROW...]
"""

import os
import ssl
import subprocess
import sys
import time

from victim import MEBIBYTE, main, row


def openssl(*args, stdin=b"", timeout=30):
    got = subprocess.run(("openssl",) + args, input=stdin, capture_output=True, timeout=timeout)
    return got.returncode, got.stdout + got.stderr


def client(victim, *args, stdin=b"Q\n"):
    return openssl("s_client", "-connect", "127.0.0.1:%d" % victim.port, "-CAfile", victim.ca, *args,
                   stdin=stdin)[1]


@row(49, "CVE-2026-32283, CVE-2026-56862, CVE-2011-1473, CVE-2021-3449: renegotiation, endless KeyUpdates")
def after_the_handshake(victim, check):
    said = client(victim, "-tls1_2", stdin=b"R\n" * 100)
    check(b"RENEGOTIATING" in said and (b"no renegotiation" in said or b"alert" in said or b"error" in said),
          "renegotiation is refused", said[-300:])
    # s_client takes a command only from a read of its own: one at a time.
    process = subprocess.Popen(
        ["openssl", "s_client", "-connect", "127.0.0.1:%d" % victim.port, "-CAfile", victim.ca, "-tls1_3"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    begun, updates, ended = victim.cpu(), 0, False
    while updates < 2_000 and not ended:
        try:
            process.stdin.write(b"K\n")
            process.stdin.flush()
        except BrokenPipeError:
            ended = True
        while not ended and (line := process.stdout.readline()) != b"KEYUPDATE\n":
            ended = not line
        updates += not ended
    process.kill()
    process.wait()
    check(updates > 10, "a few key updates are nothing wrong", updates)
    check(ended, "a flood of them ends the connection", updates)
    check(victim.cpu() - begun < 2, "key updates are cheap", victim.cpu() - begun)


def certificate(folder, name, *extensions, curve="P-256"):
    """A self-signed client certificate; paths of certificate and key."""
    path, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    added = [part for each in extensions for part in ("-addext", each)]
    code, said = openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:" + curve, "-nodes",
                         "-keyout", key, "-out", path, "-days", "1", "-subj", "/CN=admin/O=system:masters", *added)
    if code:
        raise RuntimeError(said)
    return path, key


@row(51, "CVE-2022-0778, CVE-2023-0464, CVE-2024-2511, CVE-2025-58187: client certificates that burn time")
def costly_certificates(victim, check):
    names = ",".join("DNS:host%d.example.com" % each for each in range(1000))
    constraints = ",".join("permitted;DNS:d%d.example.com" % each for each in range(1000))
    corpus = {
        "of somebody": certificate(victim.folder, "plain", "extendedKeyUsage=clientAuth"),
        "with a thousand names": certificate(victim.folder, "names", "subjectAltName=" + names),
        "with a thousand constraints": certificate(victim.folder, "constraints", "nameConstraints=" + constraints),
        "on another curve": certificate(victim.folder, "curve", curve="secp521r1"),
    }
    certificate_of_some, key_of_some = corpus["of somebody"]
    chain = os.path.join(victim.folder, "chain.pem")
    with open(certificate_of_some) as one, open(chain, "w") as many:
        many.write(one.read() * 100)
    corpus["with a hundred others behind it"] = (chain, key_of_some)
    for what, (path, key) in corpus.items():
        context = victim.context(identified=False)
        context.load_cert_chain(path, key)
        begun, code = victim.cpu(), b""
        try:
            with context.wrap_socket(victim.tcp(), server_hostname="127.0.0.1") as connection:
                connection.sendall(b"GET /apis HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                code = connection.recv(64)[9:12]
        except (ssl.SSLError, OSError):
            pass
        check(code in (b"", b"401"), "a certificate " + what + " proves nothing", code)
        check(victim.cpu() - begun < 0.5, "a certificate " + what + " is cheap", victim.cpu() - begun)
    before = victim.status("VmRSS")
    for _ in range(500):
        victim.tls().close()
    check(victim.status("VmRSS") - before < 16 * MEBIBYTE, "sessions are not kept")


@row(52, "the floor: TLS 1.2, no weak ciphers, ALPN of h2 and http/1.1")
def floor(victim, check):
    for version in ("-tls1", "-tls1_1"):
        said = client(victim, version, "-cipher", "ALL:@SECLEVEL=0")
        check(b"Cipher is (NONE)" in said, version + " is refused", said[-300:])
    for version in ("-tls1_2", "-tls1_3"):
        said = client(victim, version)
        check(b"Verify return code: 0 (ok)" in said, version + " is served", said[-300:])
    for cipher in ("aNULL", "eNULL", "EXPORT", "3DES", "RC4", "MD5", "DES", "PSK", "SRP", "kRSA"):
        said = client(victim, "-tls1_2", "-cipher", cipher + ":@SECLEVEL=0")
        check(b"Cipher is (NONE)" in said or b"no cipher" in said or b"Error with command" in said
              or b"Call to SSL_CONF" in said, cipher + " is refused", said[-300:])
    for protocol in ("h2", "http/1.1"):
        said = client(victim, "-alpn", protocol)
        check(b"ALPN protocol: " + protocol.encode() in said, protocol + " is agreed on", said[-300:])
    begun = time.monotonic()
    said = client(victim, "-alpn", "spdy/3")
    check(b"ALPN protocol:" not in said and time.monotonic() - begun < 10, "another protocol is not", said[-300:])


if __name__ == "__main__":
    sys.exit(main())
