"""Encodings of objects that Python lacks: CBOR, and of YAML and protobuf what is needed here.

Only what a request is made of and what an answer is judged by; whoever reads is strict, because a
reader that forgives would hide what the server wrote wrongly.
"""

import json
import math
import re
import struct

CBOR_TAG = b"\xd9\xd9\xf7"
PROTOBUF_MAGIC = b"k8s\0"


class Malformed(Exception):
    pass


def strict_json(data):
    """JSON as RFC 8259 has it: UTF-8, no NaN, and no key twice."""

    def pairs(items):
        found = {}
        for key, value in items:
            if key in found:
                raise Malformed("the key %r stands twice" % key)
            found[key] = value
        return found

    def constant(text):
        raise Malformed("%s is no JSON" % text)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Malformed("no JSON: %s" % error) from error


def cbor_head(major, value):
    for code, most, form in ((24, 1 << 8, ">B"), (25, 1 << 16, ">H"), (26, 1 << 32, ">I"), (27, 1 << 64, ">Q")):
        if value < 24:
            return bytes((major << 5 | value,))
        if value < most:
            return bytes((major << 5 | code,)) + struct.pack(form, value)
    raise Malformed("too large for CBOR")


def to_cbor(value):
    """Without the tag in front. Text is a byte string, as Kubernetes writes it."""
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        if not -(1 << 64) <= value < 1 << 64:
            return b"\xfb" + struct.pack(">d", math.inf)
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return cbor_head(2, len(text)) + text
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(to_cbor(each) for each in value)
    return cbor_head(5, len(value)) + b"".join(to_cbor(key) + to_cbor(value[key]) for key in value)


class CborReader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Malformed("CBOR ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def value(self, depth=0):
        if depth > 200:
            raise Malformed("CBOR too deep")
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if major == 7:
            return self.simple(info)
        if info < 24:
            argument = info
        elif info < 28:
            argument = int.from_bytes(self.take(1 << (info - 24)), "big")
        else:
            raise Malformed("CBOR without a length")
        if major < 2:
            return argument if major == 0 else -1 - argument
        if major < 4:
            return self.take(argument).decode("utf-8", "replace")
        if major == 4:
            return [self.value(depth + 1) for _ in range(argument)]
        if major == 5:
            return self.map(argument, depth)
        return self.value(depth + 1)

    def map(self, count, depth):
        found = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if key in found:
                raise Malformed("the key %r stands twice" % key)
            found[key] = self.value(depth + 1)
        return found

    def simple(self, info):
        simple = {20: False, 21: True, 22: None}
        if info in simple:
            return simple[info]
        forms = {25: (2, ">e"), 26: (4, ">f"), 27: (8, ">d")}
        if info not in forms:
            raise Malformed("CBOR's simple value %d" % info)
        return struct.unpack(forms[info][1], self.take(forms[info][0]))[0]


def from_cbor(data):
    """An answer's object: tagged, and nothing behind it."""
    if not data.startswith(CBOR_TAG):
        raise Malformed("CBOR without its tag")
    reader = CborReader(data[len(CBOR_TAG):])
    found = reader.value()
    if reader.at != len(reader.data):
        raise Malformed("bytes behind CBOR")
    return found


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a varint that does not end")
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: number, then a number or bytes."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            sizes = {1: 8, 5: 4}
            if key & 7 == 2:
                size, at = varint(data, at)
            elif key & 7 in sizes:
                size = sizes[key & 7]
            else:
                raise Malformed("the wire type %d" % (key & 7))
            if at + size > len(data):
                raise Malformed("a field longer than its message")
            value, at = data[at:at + size], at + size
        found.append((key >> 3, value))
    return found


def from_protobuf(data):
    """Of runtime.Unknown, what kinds of answers are told apart by; of a Status its other fields too."""
    if not data.startswith(PROTOBUF_MAGIC):
        raise Malformed("protobuf without k8s\\0")
    unknown = dict(fields(data[len(PROTOBUF_MAGIC):]))
    kind = dict(fields(unknown.get(1, b"")))
    found = {"apiVersion": kind.get(1, b"").decode(), "kind": kind.get(2, b"").decode()}
    message = fields(unknown.get(2, b""))
    if found["kind"] == "Status":
        status = dict(message)
        found.update(status=status.get(2, b"").decode(), message=status.get(3, b"").decode("utf-8"),
                     reason=status.get(4, b"").decode(), code=status.get(6, 0))
    return found


def yaml_head(data):
    """The scalars at the left margin of a YAML document; JSON is YAML as well."""
    text = data.decode("utf-8")
    if text.startswith("{"):
        return strict_json(data)
    found = {key: yaml_scalar(value)
             for key, value in re.findall(r"^([A-Za-z]+): *(.*(?:\n .*)*)$", text, re.MULTILINE)}
    if "code" in found:
        found["code"] = int(found["code"])
    return found


def yaml_scalar(text):
    """A scalar as writers write it: plain, quoted, or a block; of a mapping its text."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        return text[1:-1]
    return re.sub(r"^[|>][-+]?\n", "", text)


def to_yaml(value, indent=0):
    """Block style with quoted scalars; whoever wants flow style sends JSON."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        return "".join("%s%s:%s" % (pad, json.dumps(str(key)), block(each, indent))
                       for key, each in value.items())
    if isinstance(value, list) and value:
        return "".join("%s-%s" % (pad, block(each, indent)) for each in value)
    return pad + json.dumps(value) + "\n"


def block(value, indent):
    if isinstance(value, (dict, list)) and value and indent < 60:
        return "\n" + to_yaml(value, indent + 1)
    return " " + json.dumps(value) + "\n"
