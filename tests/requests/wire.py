"""Requests as bytes, and what comes back.

A Request is data: it can be written to a file and sent again to another server, where its identity has
other credentials. Wire sends it over HTTP/1.1 with connections kept by identity, or over HTTP/2.
"""

import base64
import http.client
import os
import socket
import ssl
import struct
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "security"))
import h2  # noqa: E402

http.client._MAXHEADERS = 10_000
http.client._MAXLINE = 1 << 24
# Before that a server has given up on an idle connection, and a request on it would meet its end.
IDLE_SECONDS_MAX = 20
STREAM_BYTES_MAX, STREAM_SECONDS_MAX = 1 << 20, 2

# How a request is sent: read to the end; read until nothing comes; reset in the middle; as a
# WebSocket; its body never ends; the same, and an answer is expected all the same; over HTTP/2; reset
# there.
PLAIN, STREAM, DROP, WEBSOCKET, UNFINISHED, EARLY, HTTP2, HTTP2_RESET = (
    "plain", "stream", "drop", "websocket", "unfinished", "early", "http2", "http2-reset")
# What a thread has open at a time.
UNFINISHED_MAX = 120
# Within which a request is refused that needs no body to be refused: before the server's own deadline.
EARLY_SECONDS_MAX = 50


class Request:
    def __init__(self, identity, method, target, headers=(), body=None, mode=PLAIN, **about):
        self.identity, self.method, self.target, self.mode = identity, method, target, mode
        self.headers, self.body = [tuple(each) for each in headers], body
        # What the judge must know: shape, action, gvk (of what is served there), patience.
        self.about = about

    def header(self, name):
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return found[0] if found else None

    def head(self, credentials):
        """The bytes in front of the body."""
        lines = ["%s %s HTTP/1.1" % (self.method, self.target)]
        lines += ["%s: %s" % each for each in [("Host", "127.0.0.1"), *credentials, *self.headers]]
        if self.body is not None and self.header("Transfer-Encoding") is None:
            size = len(self.body) + (10000 if self.mode in (UNFINISHED, EARLY) else 0)
            lines.append("Content-Length: %d" % size)
        return "\r\n".join(lines + ["", ""]).encode("utf-8", "surrogateescape")

    def content(self):
        if self.body is None or self.header("Transfer-Encoding") is None:
            return self.body or b""
        pieces = [self.body[at:at + 1000] for at in range(0, len(self.body), 1000)]
        return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"

    def to_json(self):
        body = None if self.body is None else base64.b64encode(self.body).decode()
        return {"identity": self.identity, "method": self.method, "target": self.target, "headers": self.headers,
                "body": body, "mode": self.mode, "about": self.about}

    @staticmethod
    def from_json(data):
        body = None if data["body"] is None else base64.b64decode(data["body"])
        return Request(data["identity"], data["method"], data["target"], data["headers"], body, data["mode"],
                       **data["about"])


class Answer:
    """`error` says what was wrong on the wire; empty: a whole answer, or for streams what there was."""

    def __init__(self, code=None, headers=None, body=b"", error="", ended=True):
        self.code, self.headers, self.body, self.error, self.ended = code, headers, body, error, ended

    def header(self, name):
        return (self.headers.get(name) or "") if self.headers is not None else ""

    def media_type(self):
        return self.header("Content-Type").partition(";")[0].strip().lower()


class Kept:
    """A connection with when it was used last."""

    def __init__(self, socket_):
        self.socket, self.used = socket_, time.monotonic()


class Wire:
    """One thread's connections."""

    def __init__(self, world, patience=60):
        self.world, self.patience = world, patience
        self.kept, self.unfinished = {}, []

    def connect(self, identity, alpn=("http/1.1",), timeout=None):
        raw = socket.create_connection(("127.0.0.1", self.world.port), timeout=timeout or self.patience)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.world.context(identity.pair, alpn).wrap_socket(raw, server_hostname="127.0.0.1")

    # What h2.Connection asks of a victim.
    def tls(self, alpn, identity, timeout):
        return self.connect(identity, alpn, timeout)

    def send(self, request):
        identity = self.world.identities[request.identity]
        try:
            if request.mode in (HTTP2, HTTP2_RESET):
                return self.send_http2(request, identity)
            return self.send_http1(request, identity)
        except (OSError, ssl.SSLError, http.client.HTTPException) as error:
            self.close(request.identity)
            return Answer(error="%s: %s" % (type(error).__name__, error))

    def close(self, name):
        kept = self.kept.pop(name, None)
        if kept:
            kept.socket.close()

    def connection(self, identity):
        kept = self.kept.get(identity.name)
        if kept and time.monotonic() - kept.used > IDLE_SECONDS_MAX:
            self.close(identity.name)
            kept = None
        if kept is None:
            kept = self.kept[identity.name] = Kept(self.connect(identity))
        kept.socket.settimeout(self.patience)
        return kept

    def send_http1(self, request, identity):
        kept = self.connection(identity)
        broken = ""
        try:
            kept.socket.sendall(request.head(identity.headers) + request.content())
        except (OSError, ssl.SSLError) as error:
            # A server may answer before it has read all; the answer is judged, not this.
            broken = "%s: %s" % (type(error).__name__, error)
        if request.mode == UNFINISHED:
            self.leave_unfinished(request)
            self.fill(request, identity)
            return Answer()
        if request.mode == EARLY:
            kept.socket.settimeout(EARLY_SECONDS_MAX)
        if request.mode == DROP:
            self.reset(request.identity)
            return Answer()
        answer = self.read(request, kept)
        if broken and answer.code is None:
            answer.error = broken + "; " + answer.error
        return answer

    def fill(self, request, identity):
        """Further ones, the last of them smaller and smaller: what is limited is then full to the brim."""
        times = request.about.get("times", 1)
        for turn in range(1, times):
            part = request.content()[:len(request.content()) >> max(0, turn + 14 - times)]
            try:
                self.connection(identity).socket.sendall(request.head(identity.headers) + part)
                self.leave_unfinished(request)
            except (OSError, ssl.SSLError):
                self.close(request.identity)  # Refused before it was read: that is what is hoped for.

    def leave_unfinished(self, request):
        """Some bodies stay open for a while, and end without an end."""
        self.unfinished.append(self.kept.pop(request.identity).socket)
        if len(self.unfinished) > UNFINISHED_MAX:
            self.unfinished.pop(0).close()

    def reset(self, name):
        """A RST instead of a FIN."""
        kept = self.kept.pop(name)
        kept.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        kept.socket.close()

    def read(self, request, kept):
        response = http.client.HTTPResponse(kept.socket, method=request.method.upper())
        try:
            response.begin()
        except http.client.RemoteDisconnected:
            self.close(request.identity)
            return Answer(error="the connection ended without an answer")
        streams = request.mode == STREAM or response.status == 101
        body, ended = self.stream(response, kept) if streams else (response.read(), True)
        kept.used = time.monotonic()
        if not ended or response.will_close or response.status == 101 or request.mode == EARLY:
            self.close(request.identity)
        answer = Answer(response.status, response.headers, body, ended=ended)
        encoding = answer.header("Content-Encoding")
        if encoding == "gzip" and body:
            return self.unzip(answer)
        return answer

    def stream(self, response, kept):
        """What comes until nothing comes for a moment, or long enough: bytes, and whether that was the end."""
        body, enough = b"", time.monotonic() + STREAM_SECONDS_MAX
        kept.socket.settimeout(0.3)
        try:
            if response.status == 101:
                while len(body) < STREAM_BYTES_MAX and time.monotonic() < enough and (piece := kept.socket.recv(65536)):
                    body += piece
                return body, False
            while len(body) < STREAM_BYTES_MAX and time.monotonic() < enough:
                if not (piece := response.read1(65536)):
                    return body, True
                body += piece
            return body, False
        except (socket.timeout, TimeoutError):
            return body, False

    @staticmethod
    def unzip(answer):
        unzipper = zlib.decompressobj(31)
        try:
            answer.body = unzipper.decompress(answer.body)
        except zlib.error as error:
            answer.error = "bad gzip: %s" % error
            return answer
        if answer.ended and not unzipper.eof:
            answer.error = "gzip without an end"
        return answer

    def send_http2(self, request, identity):
        """A connection each: what is looked for is what a stream does to the server, not speed."""
        connection = h2.Connection(self, identified=identity, timeout=self.patience)
        try:
            extra = b"".join(h2.field(name.lower().encode("utf-8", "surrogateescape"),
                                      value.encode("utf-8", "surrogateescape"))
                             for name, value in [*identity.headers, *request.headers]
                             if name.lower() not in ("transfer-encoding", "connection", "upgrade", "host"))
            block = h2.request(request.target.encode("utf-8", "surrogateescape"), request.method, extra, "127.0.0.1")
            body = request.body or b""
            connection.send(h2.frame(h2.HEADERS, h2.END_HEADERS | (0 if body else h2.END_STREAM), 1, block))
            if request.mode == HTTP2_RESET:
                connection.send(h2.frame(h2.RST_STREAM, 0, 1, h2.number(8)))
                connection.send(h2.frame(h2.HEADERS, 5, 3, h2.request("/version")))
                code = connection.answer(3)
                return Answer(error="" if code in (200, 401, 403) else "/version behind a reset is %r" % code)
            for at in range(0, len(body), 16384):
                last = h2.END_STREAM if at + 16384 >= len(body) else 0
                connection.send(h2.frame(h2.DATA, last, 1, body[at:at + 16384]))
            return self.read_http2(connection, request)
        finally:
            connection.close()

    def read_http2(self, connection, request):
        answer = Answer(ended=False)
        while (one := connection.read()) is not None:
            kind, flags, stream, payload = one
            if kind == h2.GOAWAY and payload[4:8] != h2.number(0):
                answer.error = "GOAWAY %s" % payload[4:40]
                return answer
            if stream != 1:
                continue
            if kind == h2.RST_STREAM:
                # With its answer complete a server may ask for no more of the body.
                answer.error = "" if answer.ended else "RST_STREAM %s" % payload.hex()
                return answer
            if kind == h2.HEADERS and (answer.code or 100) < 200:
                answer.code = h2.status_of(payload)
            if kind == h2.DATA:
                answer.body += payload
                credit = h2.number(max(1, len(payload)))
                connection.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, credit) + h2.frame(h2.WINDOW_UPDATE, 0, 1, credit))
            if flags & h2.END_STREAM and kind in (h2.HEADERS, h2.DATA):
                answer.ended = True
                return answer
        answer.error = "the connection ended without an answer"
        return answer

    def end(self):
        for name in list(self.kept):
            self.close(name)
        for each in self.unfinished:
            each.close()
