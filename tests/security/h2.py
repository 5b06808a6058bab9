"""HTTP/2 as an attacker speaks it: frames one by one, header blocks by hand."""

import ssl
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE = range(6)
PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(6, 10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# No dynamic table, so that a block of the server's is read without one.
NO_TABLE = struct.pack(">HI", 1, 0)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(
        ">I", stream) + payload


def number(value):
    return struct.pack(">I", value)


def integer(value, bits, first=0):
    """An HPACK integer whose first byte has `bits` of it."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((first | value,))
    out, value = bytes((first | most,)), value - most
    while value >= 128:
        out, value = out + bytes((128 | value & 127,)), value >> 7
    return out + bytes((value,))


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return integer(len(value), 7) + value


def field(name, value):
    """A literal without indexing."""
    return b"\0" + text(name) + text(value)


def indexed_field(name, value):
    """A literal that both sides keep in their tables, as entry 62."""
    return b"\x40" + text(name) + text(value)


def request(path="/readyz", method="GET", extra=b"", authority="localhost"):
    return (field(":method", method) + field(":scheme", "https") + field(":path", path)
            + field(":authority", authority) + extra)


DIGITS = {"00000": "0", "00001": "1", "00010": "2", "011001": "3", "011010": "4", "011011": "5",
          "011100": "6", "011101": "7", "011110": "8", "011111": "9"}
INDEXED = {8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500}


def status_of(block):
    """The code that a header block begins with."""
    while block and block[0] & 0xE0 == 0x20:
        block = block[1:]
    if block[0] & 0x80:
        return INDEXED[block[0] & 0x7F]
    length, huffman, value = block[1] & 0x7F, block[1] & 0x80, block[2:]
    if not huffman:
        return int(value[:length])
    bits, code, digits = "".join("{:08b}".format(byte) for byte in value[:length]), "", ""
    for bit in bits:
        code += bit
        if code in DIGITS and len(digits) < 3:
            digits, code = digits + DIGITS[code], ""
    return int(digits)


class Connection:
    """A connection whose preface is sent; what the server says is read frame by frame."""

    def __init__(self, victim, settings=NO_TABLE, identified=True, timeout=120):
        self.socket = victim.tls(("h2",), identified, timeout)
        self.buffer, self.closed = b"", False
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def send(self, data):
        """False once the server has gone."""
        try:
            self.socket.sendall(data)
        except (OSError, ssl.SSLError):
            self.closed = True
        return not self.closed

    def read(self):
        """The next frame: kind, flags, stream, payload. None: the server has closed."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + self.length():
            try:
                piece = self.socket.recv(65536)
            except (OSError, ssl.SSLError):
                piece = b""
            if not piece:
                self.closed = True
                return None
            self.buffer += piece
        length = self.length()
        kind, flags = self.buffer[3], self.buffer[4]
        stream = struct.unpack(">I", self.buffer[5:9])[0] & 0x7FFFFFFF
        payload, self.buffer = self.buffer[9:9 + length], self.buffer[9 + length:]
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
        return kind, flags, stream, payload

    def length(self):
        return struct.unpack(">I", b"\0" + self.buffer[:3])[0]

    def rest(self):
        """All frames until the server closes."""
        frames = []
        while (one := self.read()) is not None:
            frames.append(one)
        return frames

    def answer(self, stream):
        """Code of the answer on a stream; None: it was reset, or the connection ended."""
        while (one := self.read()) is not None:
            if one[2] == stream and one[0] == HEADERS:
                return status_of(one[3])
            if one[2] == stream and one[0] == RST_STREAM or one[0] == GOAWAY and one[3][4:8] != number(0):
                return None
        return None

    def close(self):
        self.socket.close()


def code_of_goaway(frames):
    """The last GOAWAY's code; None: there was none."""
    codes = [struct.unpack(">I", payload[4:8])[0] for kind, _, _, payload in frames if kind == GOAWAY]
    return codes[-1] if codes else None
