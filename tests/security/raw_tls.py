"""TLS by hand, as far as a hostile client needs it: hellos, and certificates no library would make."""

import os
import struct

P256, X25519 = 0x0017, 0x001D
GENERATOR = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
SERVER_HELLO_DONE = 14


def sized(width, body):
    return len(body).to_bytes(width, "big") + body


def handshake(kind, body):
    message = bytes([kind]) + sized(3, body)
    return b"".join(b"\x16\x03\x03" + sized(2, message[at:at + 16384]) for at in range(0, len(message), 16384))


def extension(number, body):
    return struct.pack(">H", number) + sized(2, body)


def client_hello(share=None):
    """Of TLS 1.2, on P-256; of 1.3 if there is a key share: (group, bytes)."""
    groups = struct.pack(">H", share[0] if share else P256)
    signatures = bytes.fromhex("040305030603080408050806")
    extensions = extension(10, sized(2, groups)) + extension(11, b"\x01\x00") + extension(13, sized(2, signatures))
    suites = bytes.fromhex("c02bc02fc02cc030")
    if share:
        suites += bytes.fromhex("13011302")
        extensions += extension(43, sized(1, b"\x03\x04")) + extension(
            51, sized(2, struct.pack(">H", share[0]) + sized(2, share[1])))
    return handshake(1, b"\x03\x03" + os.urandom(32) + b"\x00" + sized(2, suites) + b"\x01\x00" + sized(2, extensions))


def read_messages(connection, last):
    """The kinds of the server's plain handshake messages, until `last` or the end."""
    stream, messages, kinds = b"", b"", []
    while last not in kinds:
        piece = connection.recv(65536)
        if not piece:
            break
        stream += piece
        while len(stream) >= 5 and len(stream) >= 5 + int.from_bytes(stream[3:5], "big"):
            size = 5 + int.from_bytes(stream[3:5], "big")
            messages, stream = messages + stream[5:size], stream[size:]
        while len(messages) >= 4 and len(messages) >= 4 + int.from_bytes(messages[1:4], "big"):
            kinds.append(messages[0])
            messages = messages[4 + int.from_bytes(messages[1:4], "big"):]
    return kinds


def der(tag, *parts):
    body = b"".join(parts)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + body


def integer(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def named_curve():
    return der(6, bytes.fromhex("2a8648ce3d030107"))  # prime256v1


def explicit_curve(p, a, b, generator, order):
    octets = lambda value: der(4, value.to_bytes((p.bit_length() + 7) // 8, "big"))
    field = der(0x30, der(6, bytes.fromhex("2a8648ce3d0101")), integer(p))
    return der(0x30, integer(1), field, der(0x30, octets(a), octets(b)), der(4, generator), integer(order), integer(1))


def certificate(curve, point):
    """Of admin in system:masters; the signature is noise."""
    text = lambda oid, value: der(0x31, der(0x30, der(6, bytes.fromhex(oid)), der(12, value)))
    name = der(0x30, text("55040a", b"system:masters"), text("550403", b"admin"))
    algorithm = der(0x30, der(6, bytes.fromhex("2a8648ce3d040302")))
    key = der(0x30, der(0x30, der(6, bytes.fromhex("2a8648ce3d0201")), curve), der(3, b"\x00", point))
    tbs = der(0x30, der(0xA0, integer(2)), integer(7), algorithm, name,
              der(0x30, der(23, b"200101000000Z"), der(23, b"490101000000Z")), name, key)
    return der(0x30, tbs, algorithm, der(3, b"\x00", der(0x30, integer(3), integer(5))))


def certificate_flight(cert, point=GENERATOR):
    """What a client of TLS 1.2 answers: its certificate, its half of the exchange, a proof that is none."""
    proof = b"\x04\x03" + sized(2, der(0x30, integer(3), integer(5)))
    return handshake(11, sized(3, sized(3, cert))) + handshake(16, sized(1, point)) + handshake(15, proof)
