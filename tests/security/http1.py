#!/usr/bin/env python3
"""HTTP/1.1: messages that two readers could take differently, slow ones, and many small things.

usage: http1.py --server BINARY [ROW...]
"""

import socket
import sys
import time

from victim import CONFIGMAPS, MEBIBYTE, main, row

HEAD = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % CONFIGMAPS
BODY = '{"metadata":{"name":"smuggled"}}'
EVIL = "GET /evil HTTP/1.1\r\nHost: localhost\r\n\r\n"


def chunked(size, extension="", end="\r\n"):
    return size + extension + end + BODY + "\r\n0\r\n\r\n"


def messages():
    """Heads and bodies that must be 400 and end the connection: (what, bytes)."""
    length, hex_length = str(len(BODY)), "%x" % len(BODY)
    te = "Transfer-Encoding: chunked\r\n"
    for value in ("+" + length, " " + length + " 1", "0x20", "-1", "1e2", length + ",", "", "9" * 30,
                  length + ", 5", "abc", length + ";"):
        yield "Content-Length %r" % value, HEAD + "Content-Length: %s\r\n\r\n%s" % (value, BODY)
    yield "two lengths", HEAD + "Content-Length: %s\r\nContent-Length: 5\r\n\r\n%s" % (length, BODY)
    yield "length and chunks", HEAD + "Content-Length: 5\r\n" + te + "\r\n" + chunked(hex_length)
    yield "chunks and length", HEAD + te + "Content-Length: 5\r\n\r\n" + chunked(hex_length)
    for value in ("xchunked", "chunked, identity", "gzip", "gzip, chunked", "chunked, chunked",
                  "chunked\x0b", "\x0bchunked", "identity", "chunked;a=b", "\"chunked\"", ",chunked,x"):
        yield "Transfer-Encoding %r" % value, (
            HEAD + "Transfer-Encoding: %s\r\n\r\n%s" % (value, chunked(hex_length)))
    yield "two encodings", HEAD + te + "Transfer-Encoding: identity\r\n\r\n" + chunked(hex_length)
    for name in ("Transfer-Encoding ", "Transfer-Encoding\t", " Transfer-Encoding", "Content-Length ",
                 "Content Length", "Transfer_Encoding\0", "Conten\xffLength", "A(b)", "a@b", ""):
        yield "field name %r" % name, HEAD + name + ": chunked\r\n\r\n" + chunked(hex_length)
    yield "a folded field", HEAD + "X-A: b\r\n chunked\r\n" + te + "\r\n" + chunked(hex_length)
    for value in ("a\rb", "a\0b", "a\nb", "a\x01b", "a\x7fb"):
        yield "field value %r" % value, HEAD + "X-A: %s\r\n" % value + te + "\r\n" + chunked(hex_length)
    yield "a bare LF after the line", "GET /readyz HTTP/1.1\nHost: localhost\r\n\r\n"
    yield "no colon", HEAD + "Transfer-Encoding\r\n\r\n" + BODY
    for size in (hex_length + " ", "0x" + hex_length, "+" + hex_length, "-1", "", "g", "f" * 17,
                 "10000000000000000", hex_length + "\t;a"):
        yield "chunk size %r" % size, HEAD + te + "\r\n" + chunked(size)
    yield "a bare LF after a size", HEAD + te + "\r\n" + chunked(hex_length, end="\n")
    yield "a bare LF in an extension", HEAD + te + "\r\n" + chunked(hex_length, ";a\nb")
    yield "extensions without end", HEAD + te + "\r\n" + chunked(hex_length, ";" + "a" * 20_000)
    yield "a chunk longer than it says", HEAD + te + "\r\n5\r\n%s\r\n0\r\n\r\n" % BODY
    for line in ("GET  /readyz HTTP/1.1", "GET /readyz  HTTP/1.1", "GET /readyz HTTP/1.1 ", "GET /readyz",
                 "GET /rea dyz HTTP/1.1", "GET /readyz HTTP/1.2x", "GET /readyz http/1.1",
                 "GET /readyz HTTP/11", "G\xe9T /readyz HTTP/1.1", "GET /\x01 HTTP/1.1", "/ HTTP/1.1",
                 "GET\t/readyz HTTP/1.1", "GET /readyz HTTP/-1.1", "G(T /readyz HTTP/1.1"):
        yield "request line %r" % line, line + "\r\nHost: localhost\r\n\r\n"
    yield "no Host", "GET /readyz HTTP/1.1\r\n\r\n"
    yield "two Hosts", "GET /readyz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"
    yield "h2c by upgrade", None


def hosts_and_trailers():
    """What names no server, or ends a body with what is no field: (what, bytes)."""
    for host in ("x y", "x/y", "user@x", "user:password@x", "x?y", "x#y", "\"x\"", "<x>", "x\\y", "\xc3\xa9",
                 "%zz", "x:y", "x:65536", "x:-1", "x:1:2", ":80", "::1", "[::1", "[::1]x", "[]", "x^y", "{x}"):
        yield "Host %r" % host, "GET /readyz HTTP/1.1\r\nHost: %s\r\n\r\n" % host
    for target in ("http://user@localhost/readyz", "https://u:p@localhost/readyz", "http://localhost:x/readyz",
                   "https:///readyz", "http://:80/readyz", "http://local host/readyz", "http://a@b@localhost/readyz"):
        yield "target %r" % target, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % target
    for trailer in ("nonsense", EVIL.split("\r\n")[0], ": value", "X-A : b", "X-A\t: b", " X-A: b", "X-A: b\r\n c",
                    "X-A\0: b", "X(A): b"):
        yield "trailer %r" % trailer, (HEAD + "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n%s\r\n\r\n" %
                                       (len(BODY), BODY, trailer))


@row(53, "CVE-2025-22871, CVE-2023-39326, CVE-2022-1705, CVE-2019-16276, CVE-2022-41721: smuggling")
def smuggling(victim, check):
    count = 0
    for what, message in messages():
        count += 1
        if message is None:
            said = victim.raw(
                b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", timeout=2)
            check(not said.startswith(b"HTTP/1.1 101"), what, said)
            continue
        said = victim.raw((message + EVIL).encode("latin-1"))
        check(said.count(b"HTTP/1.1 ") <= 1, what + ": one answer at the most", said)
        check(said.startswith(b"HTTP/1.1 4") or said == b"", what + ": refused", said)
    check(count >= 60, "cases", count)
    found = victim.call("GET", CONFIGMAPS + "/smuggled")
    check(found[0] == 404, "nothing was stored", found)


@row(80, "hosts that are none, users in URLs, trailers that are no fields")
def hosts(victim, check):
    count = 0
    for what, message in hosts_and_trailers():
        count += 1
        said = victim.raw((message + EVIL).encode("latin-1"))
        check(said.startswith(b"HTTP/1.1 400"), what + ": refused", said)
        check(said.count(b"HTTP/1.1 ") == 1, what + ": one answer", said)
    check(count >= 35, "cases", count)
    found = victim.call("GET", CONFIGMAPS + "/smuggled")
    check(found[0] == 404, "nothing was stored", found)


@row(56, "CVE-2025-58186, CVE-2025-61726, CVE-2023-24534: many small cookies, parameters, fields")
def many_small_things(victim, check):
    attacks = {
        "cookies": b"GET /readyz HTTP/1.1\r\nHost: a\r\nCookie: " + b"a=;" * 340_000 + b"\r\n\r\n",
        "parameters": b"GET /readyz?" + b"&" * 1_000_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        "named parameters": b"GET " + FLUNDERS_QUERY + b"a&" * 400_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        "fields": b"GET /readyz HTTP/1.1\r\nHost: a\r\n" + b"a:b\r\n" * 100_000 + b"\r\n",
    }
    for what, request in attacks.items():
        victim.forget_peak()
        before = victim.status("VmHWM")
        said = victim.raw(request, timeout=5)
        code = said[9:12]
        check(code in (b"200", b"400", b"414", b"431", b""), what, said[:200])
        grown = victim.status("VmHWM") - before
        check(grown < 4 * len(request) + 8 * MEBIBYTE, what + ": memory", grown)


FLUNDERS_QUERY = b"/apis/wardle.example.com/v1alpha1/flunders?"


@row(47, "CVE-2007-6750, CVE-2026-56853: slow heads, bodies and readers")
def slow_loris(victim, check):
    slow = []
    for each in range(100):
        connection = victim.tls(("http/1.1",))
        connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n" if each % 2 else
                           (HEAD + "Content-Length: 1000\r\n\r\n{").encode())
        slow.append(connection)
    for each in range(100):
        slow.append(victim.tcp())
    for _ in range(10):
        for connection in slow[:100]:
            connection.sendall(b"a")
        time.sleep(0.1)
    check(victim.descriptors() >= 200, "they are open")
    for connection in slow:
        connection.close()
    end = time.monotonic() + 60
    while victim.descriptors() > 100 and time.monotonic() < end:
        time.sleep(0.1)
    check(victim.descriptors() <= 100, "and go", victim.descriptors())


@row(48, "CVE-2026-73500: connections that say nothing")
def silence(victim, check):
    before = victim.descriptors()
    silent = [victim.tcp() for _ in range(300)]
    for connection in silent:
        connection.settimeout(120)
        try:
            check(connection.recv(1) == b"", "it is closed")
        except (ConnectionResetError, socket.timeout) as error:
            check(isinstance(error, ConnectionResetError), "it is closed in time", error)
        connection.close()
    end = time.monotonic() + 60
    while victim.descriptors() > before + 10 and time.monotonic() < end:
        time.sleep(0.1)
    check(victim.descriptors() <= before + 10, "descriptors return", victim.descriptors() - before)


@row(71, "decompression bombs: bodies are never inflated")
def compressed_bodies(victim, check):
    import gzip

    bomb = gzip.compress(b'{"metadata":{"name":"bomb"},"data":{"a":"' + b"a" * (64 * MEBIBYTE) + b'"}}')
    victim.forget_peak()
    before = victim.status("VmHWM")
    code, _, body = victim.call("POST", CONFIGMAPS, bomb,
                                {"Content-Type": "application/json", "Content-Encoding": "gzip"})
    check(code in (400, 415), "a gzipped body is refused", (code, body))
    check(victim.status("VmHWM") - before < 16 * MEBIBYTE, "and not inflated")


if __name__ == "__main__":
    sys.exit(main())
