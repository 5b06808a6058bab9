#!/usr/bin/env python3
"""TLS: old protocols, messages after the handshake, client certificates that cost more than they prove.

usage: tls.py --server BINARY [ROW...]
"""

import os
import ssl
import subprocess
import sys
import time

import raw_tls
from victim import MEBIBYTE, main, row

PRIME = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff
B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b
ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551


def openssl(*args, stdin=b"", timeout=120):
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


def bogus_keys():
    """Keys on curves of the client's own, and points on none: (what, certificate)."""
    explicit = lambda p, generator=raw_tls.GENERATOR: raw_tls.explicit_curve(
        p, (PRIME - 3) % p, B % p, generator, ORDER)
    compressed = b"\x02" + raw_tls.GENERATOR[1:33]
    yield "a curve spelt out", raw_tls.certificate(explicit(PRIME), raw_tls.GENERATOR)
    # Square roots modulo what is no prime never end in CVE-2022-0778.
    for p in (PRIME - 2**200, PRIME * 3, 3, 2**256):
        yield "a field of %d" % p, raw_tls.certificate(explicit(p, compressed), compressed)
    for x in range(1, 17):
        point = bytes([2 + x % 2]) + x.to_bytes(2, "big")
        curve = raw_tls.explicit_curve(697, 23, 23, point, 701)
        yield "17 * 41, x = %d" % x, raw_tls.certificate(curve, point)
    curve = explicit(2**16384 + 1, b"\x02" + b"\x07" * 2049)
    yield "a field of 16,384 bits", raw_tls.certificate(curve, b"\x02" + b"\x07" * 2049)
    for point in BOGUS_POINTS:
        yield "a point %s" % point.hex()[:16], raw_tls.certificate(raw_tls.named_curve(), point)


BOGUS_POINTS = (b"\x00", b"", b"\x04" + bytes(64), b"\x04" + b"\xff" * 64, b"\x04" + b"\x01" * 64,
                b"\x02" + b"\xff" * 32, b"\x05" + bytes(32), raw_tls.GENERATOR[:-1] + b"\xf6")


DECRYPT_ERROR = 51  # What an honest certificate with a signature of noise is told.


def ends(victim, connection):
    """With which alert the server gives a connection up, None if it does not, and what it cost."""
    begun, said = victim.cpu(), b""
    try:
        while piece := connection.recv(65536):
            said += piece
        alert = said[-1] if said[-7:-2] == b"\x15\x03\x03\x00\x02" else 0
    except ConnectionResetError:
        alert = 0
    except OSError:
        alert = None
    connection.close()
    return alert, victim.cpu() - begun


def certified(victim, certificate, point=raw_tls.GENERATOR):
    connection = victim.tcp()
    connection.sendall(raw_tls.client_hello())
    asked = raw_tls.read_messages(connection, raw_tls.SERVER_HELLO_DONE)
    connection.sendall(raw_tls.certificate_flight(certificate, point))
    return asked, *ends(victim, connection)


@row(51, "CVE-2022-0778: keys on curves that are none, points on no curve")
def bogus_curves(victim, check):
    honest = raw_tls.certificate(raw_tls.named_curve(), raw_tls.GENERATOR)
    asked, alert, _ = certified(victim, honest)
    check(13 in asked and alert == DECRYPT_ERROR, "the server asks for certificates and reads them", (asked, alert))
    for what, certificate in bogus_keys():
        _, alert, cpu = certified(victim, certificate)
        # These two are keys; what they prove is judged later.
        key = what in ("a curve spelt out", "a point 00")
        refused = alert == DECRYPT_ERROR if key else alert not in (None, 0, DECRYPT_ERROR)
        check(refused and cpu < 0.5, "a certificate with %s ends the handshake, cheaply" % what, (alert, cpu))
    for point in BOGUS_POINTS:
        _, alert, cpu = certified(victim, honest, point)
        check(alert not in (None, 0, DECRYPT_ERROR) and cpu < 0.5, "a key exchange by %s ends it" % point.hex()[:16],
              (alert, cpu))
        connection = victim.tcp()
        connection.sendall(raw_tls.client_hello((raw_tls.P256, point)))
        alert, cpu = ends(victim, connection)
        check(alert and cpu < 0.5, "a key share of %s ends it" % point.hex()[:16], (alert, cpu))
    connection = victim.tcp()
    connection.sendall(raw_tls.client_hello((raw_tls.X25519, bytes(32))))
    check(ends(victim, connection)[0], "so does a key share of small order")


@row(51, "handshakes that are begun and left")
def handshake_flood(victim, check):
    before, begun, answered = victim.descriptors(), victim.cpu(), 0
    for _ in range(20):
        batch = [victim.tcp() for _ in range(100)]
        for connection in batch:
            connection.sendall(raw_tls.client_hello((raw_tls.P256, raw_tls.GENERATOR)))
        for connection in batch:
            answered += connection.recv(5)[:1] == b"\x16"
            connection.close()
    check(answered == 2000, "each is answered", answered)
    check(victim.cpu() - begun < 10, "each costs the server less than 5 ms", victim.cpu() - begun)
    end = time.monotonic() + 60
    while victim.descriptors() > before + 5 and time.monotonic() < end:
        time.sleep(0.05)
    check(victim.descriptors() <= before + 5, "none is kept", victim.descriptors() - before)


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
    said = client(victim, "-alpn", "spdy/3")
    check(b"ALPN protocol:" not in said, "another protocol is not", said[-300:])


if __name__ == "__main__":
    sys.exit(main())
