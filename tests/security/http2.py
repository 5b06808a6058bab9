#!/usr/bin/env python3
"""HTTP/2 floods and malformed frames.

usage: http2.py --server BINARY [ROW...]
"""

import struct
import sys
import threading
import time

import h2
from h2 import Connection, frame, number
from victim import MEBIBYTE, main, row

INDEXED_GET = h2.request()


def in_pieces(connection, pieces, per_write=200):
    """Sends as much as the server takes; how many pieces."""
    sent = 0
    for start in range(0, len(pieces), per_write):
        if not connection.send(b"".join(pieces[start:start + per_write])):
            break
        sent = min(start + per_write, len(pieces))
    return sent


def flood(victim, check, what, pieces, identified=True, connections=1):
    """Floods, and expects that every connection is ended long before all of it was read."""
    for _ in range(connections):
        connection = Connection(victim, identified=identified)
        in_pieces(connection, pieces)
        frames = connection.rest()
        check(connection.closed, what + " is ended")
        answers = sum(1 for kind, _, _, _ in frames if kind == h2.HEADERS)
        check(answers < 2000, what + ": answers", answers)
        connection.close()


@row(33, "CVE-2023-44487, CVE-2023-39325: rapid reset")
def rapid_reset(victim, check):
    pieces = [frame(h2.HEADERS, 5, stream, INDEXED_GET) + frame(h2.RST_STREAM, 0, stream, number(8))
              for stream in range(1, 100_000, 2)]
    flood(victim, check, "a flood of resets", pieces)
    flood(victim, check, "a flood of resets by nobody", pieces, identified=False)
    flood(victim, check, "many floods of resets", pieces[:10_000], connections=20)
    # Who is not known must connect again for each try.
    stranger = Connection(victim, identified=False)
    stranger.send(frame(h2.HEADERS, 5, 1, h2.request("/apis")))
    check(stranger.answer(1) == 401, "a stranger is told so")
    frames = stranger.rest()
    check(stranger.closed, "and the connection ends", frames)


@row(34, "CVE-2025-8671: made you reset")
def made_you_reset(victim, check):
    post = h2.request("/api/v1/namespaces/default/configmaps", "POST")
    triggers = {
        "a window update of 0": lambda id: frame(h2.HEADERS, 4, id, post)
        + frame(h2.WINDOW_UPDATE, 0, id, number(0)),
        "a window overflow": lambda id: frame(h2.HEADERS, 4, id, post)
        + frame(h2.WINDOW_UPDATE, 0, id, number(0x7FFFFFFF)),
        "DATA after the end": lambda id: frame(h2.HEADERS, 5, id, INDEXED_GET)
        + frame(h2.DATA, 0, id, b"x"),
        "HEADERS after the end": lambda id: frame(h2.HEADERS, 5, id, INDEXED_GET)
        + frame(h2.HEADERS, 5, id, INDEXED_GET),
        "a stream that depends on itself": lambda id: frame(
            h2.HEADERS, 5 | 0x20, id, number(id) + b"\x10" + INDEXED_GET),
        "a bad header": lambda id: frame(h2.HEADERS, 5, id, INDEXED_GET + h2.field("A B", "c")),
    }
    for what, trigger in triggers.items():
        connection = Connection(victim)
        in_pieces(connection, [trigger(id) for id in range(1, 20_000, 2)])
        # Some servers forgive one; none may work on ten thousand.
        connection.send(frame(h2.PING, 0, 0, b"the last"))
        connection.socket.settimeout(60)
        frames = connection.rest()
        resets = sum(1 for kind, _, _, _ in frames if kind == h2.RST_STREAM)
        answers = sum(1 for kind, _, _, _ in frames if kind == h2.HEADERS)
        ended = h2.code_of_goaway(frames) is not None
        check(ended or answers + resets <= 10_000, what, (ended, resets, answers))
        check(ended or resets < 2000, what + ": resets are counted", (resets, answers))
        connection.close()


@row(35, "CVE-2023-45288, CVE-2024-28182, CVE-2024-27316: CONTINUATION flood")
def continuation_flood(victim, check):
    huffman_heavy = b"\0\x01a\xff\x81\x7f" + b"\xff" * 255
    for what, payload in (("empty", b""), ("one byte", b"\0"), ("16 KiB", b"\0" * 16384),
                          ("Huffman", huffman_heavy)):
        connection = Connection(victim)
        connection.send(frame(h2.HEADERS, 1, 1, INDEXED_GET))
        sent = in_pieces(connection, [frame(h2.CONTINUATION, 0, 1, payload)] * 20_000, 50)
        frames = connection.rest()
        check(h2.code_of_goaway(frames) or sent < 20_000, what + " continuations end it", sent)
        connection.close()


@row(36, "CVE-2026-49975, CVE-2026-47774: references to table entries, pinned by a closed window")
def header_bomb(victim, check):
    for references in (4_000, 15_000):
        before, wire = victim.status("VmRSS"), 0
        victim.forget_peak()
        # A window of nothing, so that answers stay where they are.
        connection = Connection(victim, h2.NO_TABLE + struct.pack(">HI", 4, 0))
        for stream in range(1, 100, 2):
            extra = h2.indexed_field("a", "b") if stream == 1 else b""
            block = h2.request(extra=extra + b"\xbe" * references)
            piece = b"".join(
                frame(h2.HEADERS if at == 0 else h2.CONTINUATION,
                      (1 if at == 0 else 0) | (4 if at + 16384 >= len(block) else 0), stream,
                      block[at:at + 16384]) for at in range(0, len(block), 16384))
            wire += len(piece)
            if not connection.send(piece):
                break
        connection.send(frame(h2.PING, 0, 0, b"the last"))
        while (one := connection.read()) is not None and one[3] != b"the last":
            pass
        grown = victim.status("VmHWM") - before
        check(grown < max(4 * wire, 8 * MEBIBYTE), "%d references" % references, (grown, wire))
        connection.close()


@row(37, "CVE-2016-6581, CVE-2016-1544: HPACK bomb")
def hpack_bomb(victim, check):
    before = victim.status("VmRSS")
    victim.forget_peak()
    connection = Connection(victim)
    # One entry of nearly the whole table, named ten thousand times: 40 MB of headers.
    connection.send(frame(h2.HEADERS, 5, 1, h2.request(
        extra=h2.indexed_field("a", "b" * 4000) + b"\xbe" * 10_000)))
    code = connection.answer(1)
    check(code in (None, 431), "the bomb is refused", code)
    check(victim.status("VmHWM") - before < 16 * MEBIBYTE, "and costs little")
    connection.close()


@row(38, "CVE-2022-41717, CVE-2022-41723: long header names on many connections")
def long_names(victim, check):
    before, connections = victim.status("VmRSS"), []
    for each in range(200):
        connection = Connection(victim)
        name = ("x%07d" % each) * 1024
        connection.send(frame(h2.HEADERS, 5, 1, h2.request(extra=h2.indexed_field(name, "v"))))
        check(connection.answer(1) in (200, 431), "a long name is read or refused")
        connections.append(connection)
    each = (victim.status("VmRSS") - before) / len(connections)
    check(each < 256 * 1024, "bytes a connection", each)
    for connection in connections:
        connection.close()


def busy(victim, seconds, pieces):
    """CPU share of a core while one connection sends pieces at the pace of a slow network."""
    connection = Connection(victim)
    begun, cpu = time.monotonic(), victim.cpu()
    while time.monotonic() - begun < seconds and not connection.closed:
        connection.send(pieces)
        time.sleep(0.01)
    share = (victim.cpu() - cpu) / (time.monotonic() - begun)
    connection.close()
    return share


@row(39, "CVE-2019-9511, -9513, -9516, -9517, -9518: dribble, priorities, empty headers and frames")
def resource_loops(victim, check):
    empty_names = h2.request(extra=b"\0\0\0" * 5_000)
    connection = Connection(victim)
    connection.send(frame(h2.HEADERS, 5, 1, empty_names))
    check(connection.answer(1) in (None, 400, 431), "empty header names are refused")
    connection.close()
    priorities = [frame(h2.PRIORITY, 0, stream, number(0) + b"\x10") for stream in range(1, 400, 2)]
    share = busy(victim, 2, b"".join(priorities))
    check(share < 0.5, "priorities cost little", share)
    connection = Connection(victim)
    connection.send(frame(h2.HEADERS, 4, 1, h2.request("/api/v1/namespaces/default/configmaps", "POST")))
    in_pieces(connection, [frame(h2.DATA, 0, 1)] * 100_000)
    connection.send(frame(h2.PING, 0, 0, b"the last"))
    while (one := connection.read()) is not None and one[3] != b"the last":
        pass
    connection.close()
    # Answers dribble out of a window of one byte; what waits is bounded.
    before, open_connections = victim.status("VmRSS"), []
    for _ in range(20):
        dribble = Connection(victim, h2.NO_TABLE + struct.pack(">HI", 4, 1))
        for stream in range(1, 100, 2):
            dribble.send(frame(h2.HEADERS, 5, stream, h2.request("/openapi/v2")))
        open_connections.append(dribble)
    time.sleep(1)
    grown = victim.status("VmRSS") - before
    check(grown < 20 * 50 * 64 * 1024, "what waits in a thousand streams", grown)
    for dribble in open_connections:
        dribble.close()


@row(40, "CVE-2019-9512, -9514, -9515: ping, reset and settings floods")
def acknowledgement_floods(victim, check):
    for what, piece in (("pings", frame(h2.PING, 0, 0, b"12345678")),
                        ("settings", frame(h2.SETTINGS, 0, 0)),
                        ("resets of nothing", frame(h2.RST_STREAM, 0, 1, number(8)))):
        connection = Connection(victim)
        sent = in_pieces(connection, [piece] * 300_000, 2000)
        frames = connection.rest()
        check(connection.closed, "a flood of %s is ended" % what, (sent, len(frames)))
        connection.close()


@row(41, "CVE-2020-11080: SETTINGS with thousands of entries")
def long_settings(victim, check):
    begun = victim.cpu()
    for _ in range(50):
        connection = Connection(victim)
        connection.send(frame(h2.SETTINGS, 0, 0, struct.pack(">HI", 3, 100) * 2000))
        frames = connection.rest()
        check(h2.code_of_goaway(frames) not in (None, 0) or connection.closed, "refused")
        connection.close()
    check(victim.cpu() - begun < 5, "and cheap", victim.cpu() - begun)


@row(42, "CVE-2023-35945: resets after GOAWAY")
def reset_after_goaway(victim, check):
    before = victim.status("VmRSS")
    for _ in range(300):
        connection = Connection(victim)
        connection.send(frame(h2.HEADERS, 4, 1, h2.request("/apis", "POST"))
                        + frame(h2.GOAWAY, 0, 0, number(0) + number(0))
                        + frame(h2.RST_STREAM, 0, 1, number(8)))
        connection.close()
    check(victim.status("VmRSS") - before < 32 * MEBIBYTE, "nothing is left")


@row(43, "CVE-2026-27135: frames after the one that ends the session")
def frames_after_the_end(victim, check):
    for kind in range(12):
        connection = Connection(victim)
        connection.send(frame(h2.DATA, 0, 0, b"x") + frame(kind, 0xFF, 0, b"\xff" * 7)
                        + frame(kind, 0, 1, b"") + frame(kind, 0, 3, b"\xff" * 300))
        frames = connection.rest()
        check(h2.code_of_goaway(frames) not in (None, 0), "kind %d" % kind, frames)
        connection.close()


@row(44, "CVE-2026-27141: every kind of frame")
def every_frame(victim, check):
    for flags in (0, 0xFF):
        for length in (0, 1, 16384):
            for stream in (0, 1, 5):
                pieces = [frame(kind, flags, stream, b"\0" * length) for kind in range(10, 256)]
                connection = Connection(victim)
                connection.send(b"".join(pieces) + frame(h2.HEADERS, 5, 7, INDEXED_GET))
                code = connection.answer(7)
                check(code in (None, 200), "unknown kinds are skipped or end it", code)
                connection.close()
            for kind in range(10):
                connection = Connection(victim)
                connection.send(frame(kind, flags, 1, b"\0" * length))
                connection.close()


@row(46, "CVE-2022-27664: a fatal error while the connection ends")
def error_during_the_end(victim, check):
    def one():
        connection = Connection(victim)
        connection.send(frame(h2.GOAWAY, 0, 0, number(0) + number(0)) + b"\xff" * 9)
        connection.rest()
        check(connection.closed, "it is closed")
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@row(80, "authorities that are none")
def authorities(victim, check):
    for authority in ("user@localhost", "user:password@localhost", "a b", "a/b", "a?b", "a#b", "a:b", "a:65536", "a:1:2",
                      ":80", "::1", "[::1", "[]", "%zz", "a\\b"):
        connection = Connection(victim)
        connection.send(frame(h2.HEADERS, 5, 1, h2.request(authority=authority)))
        code = connection.answer(1)
        check(code in (None, 400), "authority %r" % authority, code)
        connection.close()
    for authority in ("localhost", "localhost:1", "[::1]:1"):
        connection = Connection(victim)
        connection.send(frame(h2.HEADERS, 5, 1, h2.request(authority=authority)))
        code = connection.answer(1)
        check(code == 200, "authority %r" % authority, code)
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
