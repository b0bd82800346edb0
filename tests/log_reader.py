#!/usr/bin/env python3
"""Reads a public vote log over HTTP and checks it, with nothing of langya's own code: C2SP tlog-tiles, tlog-checkpoint and signed-note.

    python3 tests/log_reader.py http://HOST/log [KEY]

Checks the signature (by the package `cryptography`, or by the program `openssl`), that the entries lead to every tile and to the signed
root, an inclusion proof of the last entry, and a consistency proof from the tree of half the size. Prints one line, or fails.
"""

import base64
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import urllib.request

PREFIX = sys.argv[1].rstrip("/")


def get(path, prefix=PREFIX):
    with urllib.request.urlopen(f"{prefix}/{path}", timeout=30) as answer:
        return answer.read()


def sha(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha(b"\x01" + left + right)


def root_of(leaves):
    """The Merkle tree hash as RFC 6962 defines it."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha(b"")
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    return node(root_of(leaves[:middle]), root_of(leaves[middle:]))


def tile_path(kind, number, width):
    digits = f"{number:03}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    path = "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])
    return f"tile/{kind}/{path}" + ("" if width == 256 else f".p/{width}")


def tiles(count):
    return [(number, min(256, count - 256 * number)) for number in range(-(-count // 256))]


def path_of(index, leaves):
    if len(leaves) < 2:
        return []
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    if index < middle:
        return path_of(index, leaves[:middle]) + [root_of(leaves[middle:])]
    return path_of(index - middle, leaves[middle:]) + [root_of(leaves[:middle])]


def root_by_path(index, size, leaf, path):
    """RFC 9162, section 2.1.3.2."""
    place, last, found = index, size - 1, leaf
    for other in path:
        assert last > 0, "the proof is too long"
        if place % 2 or place == last:
            found = node(other, found)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            found = node(found, other)
        place, last = place // 2, last // 2
    assert last == 0, "the proof is too short"
    return found


def is_signed(key, text, signature):
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
        return "cryptography"
    except ImportError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        parts = {"key": bytes.fromhex("302a300506032b6570032100") + key, "text": text, "signature": signature}
        for name, data in parts.items():
            with open(f"{folder}/{name}", "wb") as file:
                file.write(data)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", f"{folder}/key", "-rawin", "-in"]
        subprocess.run([*command, f"{folder}/text", "-sigfile", f"{folder}/signature"], check=True, capture_output=True)
        return "openssl"


note = get("checkpoint").decode()
text, signatures = note[: note.rindex("\n\n") + 1], note[note.rindex("\n\n") + 2 :]
origin, size, root = text.split("\n")[:3]
size, root = int(size), base64.b64decode(root, validate=True)

named = sys.argv[2] if len(sys.argv) > 2 else json.loads(get("api/v1/log", PREFIX.rsplit("/", 1)[0]))["key"]
name, key_id, key = named.split("+", 2)
key = base64.b64decode(key, validate=True)
assert name == origin and key[:1] == b"\x01" and sha(name.encode() + b"\n" + key)[:4].hex() == key_id, "the key is another log's"
ours = [line.split(" ") for line in signatures.splitlines()]
ours = [base64.b64decode(line[2], validate=True) for line in ours if line[:2] == ["\u2014", name]]
ours = [signature[4:] for signature in ours if signature[:4].hex() == key_id]
assert ours, "no signature is by the key"
checked_by = is_signed(key[1:], text.encode(), ours[0])

leaves, kinds = [], {}
for number, width in tiles(size):
    bundle, at = get(tile_path("entries", number, width)), 0
    while at < len(bundle):
        (length,) = struct.unpack(">H", bundle[at : at + 2])
        entry = bundle[at + 2 : at + 2 + length]
        assert len(entry) == length, "a bundle is cut off"
        kind = next(iter(json.loads(entry)))
        kinds[kind] = kinds.get(kind, 0) + 1
        leaves.append(sha(b"\x00" + entry))
        at += 2 + length
assert len(leaves) == size and root_of(leaves) == root, "the entries do not lead to the signed root"
level, hashes = 0, leaves
while hashes:
    for number, width in tiles(len(hashes)):
        assert get(tile_path(level, number, width)) == b"".join(hashes[256 * number :][:width]), "a tile differs"
    full = len(hashes) // 256
    hashes = [root_of(hashes[256 * number :][:256]) for number in range(full)]
    level += 1
if size:
    assert root_by_path(size - 1, size, leaves[-1], path_of(size - 1, leaves)) == root, "the last entry is not included"
print(f"good: {size} entries {json.dumps(kinds, sort_keys=True)}, root {root.hex()}, signature by {checked_by}")
