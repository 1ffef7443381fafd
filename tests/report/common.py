"""What the tests of the report share: traces, and reading a page without a browser."""
import base64
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
import zlib

GOOD, FAILED, USAGE, INCOMPLETE, UNSUPPORTED = 0, 1, 2, 4, 5
options = None  # of the command line: refrain, maker, corpus


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)


def has_pages():
    """Whether the build could bundle the page's program."""
    with tempfile.TemporaryDirectory(prefix="refrain-report-") as folder:
        done = refrain("report", os.path.join(options.corpus, "heat-1.2.rfn"), "-o", os.path.join(folder, "x.html"))
        return done.returncode != UNSUPPORTED


def read_page(path):
    """The data of a page, as the script in it reads them: JSON, and columns by name."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    packed = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', text).group(1)
    data = zlib.decompress(base64.b64decode(packed), -15)
    length, = struct.unpack("<I", data[:4])
    page, rest = json.loads(data[4:4 + length]), data[4 + length:]
    return page, {name: read_column(entry, rest) for name, entry in page["columns"].items()}


def read_column(entry, data):
    bytes_ = data[entry["from"]:entry["from"] + entry["bytes"]]
    if entry["kind"] == "bytes":
        return list(bytes_)
    out, value, shift, before = [], 0, 0, 0
    for byte in bytes_:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            number = value >> 1 if value % 2 == 0 else -(value >> 1) - 1
            before = number + before if entry["kind"] == "delta" else number
            out.append(before)
            value, shift = 0, 0
    return out


def varints(numbers):
    out = bytearray()
    for number in numbers:
        value = 2 * number if number >= 0 else -2 * number - 1
        while value >= 128:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def change_page(path, change):
    """Rewrites the data of a page: change(json) returns columns of numbers to add, by name."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(r'id="data">([^<]*)<', text)
    data = zlib.decompress(base64.b64decode(found.group(1)), -15)
    length, = struct.unpack("<I", data[:4])
    page, rest = json.loads(data[4:4 + length]), data[4 + length:]
    for name, numbers in change(page).items():
        packed = varints(numbers)
        page["columns"][name] = {"kind": "plain", "count": len(numbers), "from": len(rest), "bytes": len(packed)}
        rest += packed
    packed = json.dumps(page).encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(struct.pack("<I", len(packed)) + packed + rest) + deflate.flush()
    packed = base64.b64encode(packed).decode()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:found.start(1)] + packed + text[found.end(1):])


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-report-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def corpus(self, name):
        return os.path.join(options.corpus, name)

    def make(self, *words):
        path = self.path("-".join(map(str, words)) + ".rfn")
        subprocess.run([options.maker, *map(str, words), path], check=True, timeout=600)
        return path

    def page(self, trace, status=GOOD):
        out = self.path(os.path.basename(trace)[:-4] + ".html")
        done = refrain("report", trace, "-o", out)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, b"")
        return out

    def refused(self, status, part, *words):
        done = refrain(*words)
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, "%s: %r" % (" ".join(words), text))
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertIn(part, text)

    def json_of(self, verb, trace):
        done = refrain(verb, trace, "--format", "json")
        self.assertIn(done.returncode, (GOOD, INCOMPLETE), done.stderr)
        return json.loads(done.stdout)
