#!/usr/bin/env python3
"""Asks echo/ over WebSockets with Python's package websockets as the peer, and breaks RFC 6455 on purpose.

usage: websocket_peer.py --server BINARY

What is right goes through the package's own client, which judges the answers; what is wrong is written
past it: row 94 of docs/security.md. Exits 1 and names each failed check.
"""

import argparse
import os
import signal
import socket
import ssl
import sys
import tempfile
import time

from checker import Checker
from examples import PATIENCE, Example

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "libapiserver", "unpacked")
sys.path.append(os.path.join(CACHE, "python3-websockets", "usr", "lib", "python3", "dist-packages"))
try:
    from websockets.client import ClientConnection
    from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
    from websockets.uri import parse_uri
except ImportError:
    sys.exit("FAILED: no python3-websockets; scripts/test unpacks it")

MESSAGE_BYTES_MAX = 64 << 10  # As echo/ has it.
TEXT, BINARY, CLOSE, PING, PONG, FINAL = 1, 2, 8, 9, 10, 0x80
MASK = b"\x12\x34\x56\x78"


def masked(payload):
    return bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))


def frame(first, payload=b"", mask=True, length=None):
    """A frame as it would be written by a client that knows no rules: `length` are the bytes of the length."""
    size = len(payload)
    length = length or (bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 65536 else
                        b"\x7f" + size.to_bytes(8, "big"))
    length = bytes([length[0] | (0x80 if mask else 0)]) + length[1:]
    return bytes([first]) + length + (MASK + masked(payload) if mask else payload)


class Peer:
    """One WebSocket of the package, on a socket of ours."""

    def __init__(self, server, **options):
        context = ssl.create_default_context(cafile=server.ca)
        self.stream = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), PATIENCE),
                                          server_hostname="127.0.0.1")
        self.connection = ClientConnection(parse_uri("wss://127.0.0.1:%d/echo" % server.port), **options)
        request = self.connection.connect()
        request.headers["Authorization"] = "Bearer " + server.token
        self.connection.send_request(request)
        self.response = self.next()

    def flush(self):
        for piece in self.connection.data_to_send():
            if piece:
                self.stream.sendall(piece)

    def write(self, data):
        """Writes past the package. A server that refuses the first bytes need not take the last."""
        try:
            self.stream.sendall(data)
        except OSError:
            pass

    def receive(self):
        """False: nothing more comes."""
        try:
            data = self.stream.recv(65536)
        except OSError:
            data = b""
        if data:
            self.connection.receive_data(data)
        else:
            self.connection.receive_eof()
        return bool(data)

    def next(self):
        """What comes next: the response, then frames; None at the end. Fragments are not put together."""
        self.flush()
        self.events = getattr(self, "events", [])
        while not self.events:
            more = self.receive()
            self.events += self.connection.events_received()
            if not more and not self.events:
                return None
        return self.events.pop(0)

    def message(self):
        got = self.next()
        return (got.opcode, bytes(got.data)) if got else None

    def end(self):
        """Reads to the end, and returns the server's Close: its code and reason; None if it sent none."""
        while self.next():
            pass
        close = self.connection.close_rcvd
        self.stream.close()
        return (close.code, close.reason) if close else None


class Told:
    """What the host was told at the end of each WebSocket."""

    def __init__(self, server):
        self.path = os.path.join(server.folder, "closed")
        self.seen = 0

    def next(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if os.path.exists(self.path):
                with open(self.path, encoding="ascii") as file:
                    lines = file.read().splitlines(keepends=True)
                if len(lines) > self.seen and lines[self.seen].endswith("\n"):
                    self.seen += 1
                    return int(lines[self.seen - 1])
            time.sleep(0.005)
        return None


def messages(t, server, told):
    peer = Peer(server, subprotocols=["other.example.com", "echo.example.com"],
                extensions=[ClientPerMessageDeflateFactory()])
    t.check(peer.response.status_code == 101, "the WebSocket opens", peer.response)
    t.check(peer.connection.subprotocol == "echo.example.com", "the subprotocol is agreed on",
            peer.connection.subprotocol)
    t.check(peer.connection.extensions == [], "compression is not agreed on", peer.connection.extensions)
    for size in (0, 1, 125, 126, 127, 65535, MESSAGE_BYTES_MAX):
        data = bytes(at * 7 % 256 for at in range(size))
        peer.connection.send_binary(data)
        t.check(peer.message() == (BINARY, data), "%d bytes come back" % size)
    text = "κόσμε \U0001f600 \u0000 \uffff".encode()
    peer.connection.send_text(text)
    t.check(peer.message() == (TEXT, text), "text comes back")
    # Fragments of a byte, which part characters, with empty ones and control frames between.
    peer.connection.send_text(b"", fin=False)
    for at in range(len(text)):
        peer.connection.send_continuation(text[at:at + 1], fin=False)
    peer.connection.send_ping(b"between")
    peer.connection.send_pong(b"unasked")
    peer.connection.send_continuation(b"", fin=True)
    t.check(peer.message() == (PONG, b"between"), "a ping between fragments is answered at once")
    t.check(peer.message() == (TEXT, text), "fragments are put together")
    for payload in (b"", b"p" * 125):
        peer.connection.send_ping(payload)
        t.check(peer.message() == (PONG, payload), "a ping of %d bytes is answered" % len(payload))
    for byte in frame(FINAL | TEXT, b"in pieces") + frame(FINAL | PING, b"too"):
        peer.write(bytes([byte]))
    t.check([peer.message(), peer.message()] == [(TEXT, b"in pieces"), (PONG, b"too")],
            "bytes that come one at a time are read")
    peer.connection.send_close(1000, "done")
    t.check(peer.end() == (1000, ""), "a Close is answered", peer.connection.close_rcvd)
    t.check(told.next() == 1000, "the host is told of the Close")


def closes(t, server, told):
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999):
        peer = Peer(server)
        peer.write(frame(FINAL | CLOSE, code.to_bytes(2, "big") + "ende \u00e4".encode()))
        t.check(peer.end() == (code, ""), "a Close with %d is answered with it" % code, peer.connection.close_rcvd)
        got = told.next()
        t.check(got == code, "the host is told %d" % code, got)
    peer = Peer(server)
    peer.write(frame(FINAL | CLOSE) + frame(FINAL | TEXT, b"late") + frame(FINAL | PING, b"late"))
    got = [peer.message(), peer.end()]
    t.check(got == [(CLOSE, b""), (1005, "")], "a Close without a code is answered by one, and is the last word", got)
    t.check(told.next() == 1005, "the host is told that there was no code")
    peer = Peer(server)
    peer.connection.send_text(b"close")
    t.check(peer.end() == (4001, "bye"), "the host closes", peer.connection.close_rcvd)
    t.check(told.next() == 4001, "the host is told of the answer to its Close")
    peer = Peer(server)
    peer.stream.close()
    t.check(told.next() == 1006, "the host is told of a client that is gone")


def violations():
    """What breaks the rules, each with its words and the code that the server has to close with."""
    opcodes = [("opcode %d" % opcode, frame(FINAL | opcode, b"x"), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)]
    reserved = [("reserved bit %#x" % bit, frame(FINAL | bit | opcode, b"x"), 1002)
                for bit in (0x40, 0x20, 0x10) for opcode in (TEXT, PING)]
    codes = [("a Close with %d" % code, frame(FINAL | CLOSE, code.to_bytes(2, "big")), 1002)
             for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535)]
    texts = [("text that is no UTF-8, " + words, frame(FINAL | TEXT, data), 1007) for words, data in (
        ("a lone byte", b"a\xff"), ("a character cut short", b"\xce"), ("an overlong form", b"\xc0\xaf"),
        ("a surrogate", b"\xed\xa0\x80"), ("beyond Unicode", b"\xf4\x90\x80\x80"))]
    big = b"b" * (4 * MESSAGE_BYTES_MAX)
    half = b"b" * (MESSAGE_BYTES_MAX // 2 + 1)
    return opcodes + reserved + codes + texts + [
        ("a frame without a mask", frame(FINAL | TEXT, b"plain", mask=False), 1002),
        ("a ping without a mask", frame(FINAL | PING, b"plain", mask=False), 1002),
        ("a fragment of a ping", frame(PING, b"x"), 1002),
        ("a fragment of a Close", frame(CLOSE, b"\x03\xe8"), 1002),
        ("a ping of 126 bytes", frame(FINAL | PING, b"x" * 126), 1002),
        ("a Close of 126 bytes", frame(FINAL | CLOSE, b"\x03\xe8" + b"x" * 124), 1002),
        ("nothing to continue", frame(FINAL, b"x"), 1002),
        ("a message within another", frame(TEXT, b"x") + frame(FINAL | TEXT, b"x"), 1002),
        ("a length of two bytes for five", frame(FINAL | TEXT, b"hello", length=b"\x7e\0\5"), 1002),
        ("a length of eight bytes for five", frame(FINAL | TEXT, b"hello", length=b"\x7f" + (5).to_bytes(8, "big")), 1002),
        ("a negative length", frame(FINAL | TEXT, b"hello", length=b"\x7f" + b"\xff" * 8), 1002),
        ("text in fragments that is no UTF-8", frame(TEXT, b"\xce") + frame(FINAL, b"\x28"), 1007),
        ("a Close of one byte", frame(FINAL | CLOSE, b"\x03"), 1002),
        ("a Close whose reason is no UTF-8", frame(FINAL | CLOSE, b"\x03\xe8\xff"), 1007),
        ("a message that is too big", frame(FINAL | BINARY, big), 1009),
        ("a message that is too big, of fragments", frame(BINARY, half) + frame(FINAL, half), 1009),
        ("a message of a terabyte", frame(FINAL | BINARY, b"x", length=b"\x7f" + (1 << 40).to_bytes(8, "big")), 1009),
    ]


def refusals(t, server, told):
    for words, data, code in violations():
        peer = Peer(server)
        # What follows is neither answered nor taken for anything.
        peer.write(data + frame(FINAL | TEXT, b"behind") + frame(FINAL | PING, b"behind"))
        first = peer.message()
        close = peer.end()
        t.check(first and first[0] == CLOSE and close and close[0] == code, "%s closes with %d" % (words, code),
                (first, close))
        got = told.next()
        t.check(got == code, "the host is told of " + words, got)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    arguments = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        server = Example(arguments.server, folder, "echo.kubeconfig")
        try:
            told = Told(server)
            messages(t, server, told)
            closes(t, server, told)
            refusals(t, server, told)
            peer = Peer(server)
            server.process.send_signal(signal.SIGTERM)
            close = peer.end()
            t.check(close == (1001, ""), "a server that stops goes away", close)
            code = server.process.wait(PATIENCE)
            t.check(code == 0, "SIGTERM ends the server", code)
        finally:
            server.process.kill()
            server.process.wait()
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
