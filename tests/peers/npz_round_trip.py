#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What NumPy writes, attest reads; what attest writes, NumPy reads; and nothing is lost on the way.

    c++ -std=c++20 -I include tests/peers/npz_copy.cpp -o npz_copy -lzip
    python3 tests/peers/npz_round_trip.py ./npz_copy

Without NumPy it says so and exits with 77 (skipped). With ml_dtypes, bfloat16 is tried too.
"""

import io
import itertools
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

DTYPES = ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "V2"]
SHAPES = [(), (1,), (7,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 5, 1, 2), (64, 257)]
failures = 0


def report(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what)


def arrays():
    """Every element type, shape, byte order and memory order, filled with bytes that mean something everywhere."""
    random = np.random.default_rng(1)
    for name, shape, order, memory in itertools.product(DTYPES, SHAPES, "<>", "CF"):
        plain = np.dtype(name)
        if order == ">" and (plain.itemsize == 1 or name == "V2"):
            continue
        count = int(np.prod(shape))
        if name == "b1":
            value = random.integers(0, 2, count).astype("?")
        else:  # any bits: NaN with payloads, infinities, subnormals
            value = np.frombuffer(random.bytes(count * plain.itemsize), plain)
        value = value.reshape(shape)
        if order == ">":
            value = value.byteswap().view(plain.newbyteorder(">"))
        yield f"{name}_{'x'.join(map(str, shape))}_{'le' if order == '<' else 'be'}_{memory}", np.asarray(value, order=memory)


def native(value):
    """The bytes in C order and native byte order."""
    if value.dtype.byteorder == ">":
        value = value.byteswap().view(value.dtype.newbyteorder("="))
    return value.dtype.str.lstrip("<>|="), value.shape, value.tobytes("C")


class Pipe(io.RawIOBase):
    """A stream that cannot seek: zipfile writes data descriptors then."""

    def __init__(self):
        super().__init__()
        self.content = b""

    def writable(self):
        return True

    def write(self, data):
        self.content += bytes(data)
        return len(data)


def savez(**items):
    file = io.BytesIO()
    np.savez(file, **items)
    return file.getvalue()


def savez_compressed(**items):
    file = io.BytesIO()
    np.savez_compressed(file, **items)
    return file.getvalue()


def savez_pipe(**items):
    file = Pipe()
    np.savez(file, **items)
    return file.content


def savez_compressed_pipe(**items):
    file = Pipe()
    np.savez_compressed(file, **items)
    return file.content


def zipfile_plain(**items):
    """No ZIP64 fields, a comment, a time."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"made by hand"
        for name, value in items.items():
            image = io.BytesIO()
            np.save(image, value)
            archive.writestr(name + ".npy", image.getvalue())
    return file.getvalue()


def zipfile_append(**items):
    """Each member appended to a finished archive."""
    file = io.BytesIO()
    for name, value in items.items():
        with zipfile.ZipFile(file, "a") as archive:
            with archive.open(name + ".npy", "w") as member:
                np.save(member, value)
    return file.getvalue()


def zipfile_pipe(**items):
    """A pipe without ZIP64 fields: descriptors of 32 bits."""
    file = Pipe()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in items.items():
            image = io.BytesIO()
            np.save(image, value)
            archive.writestr(name + ".npy", image.getvalue())
    return file.content


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    items = dict(arrays())
    expected = {name: native(value) for name, value in items.items()}
    with tempfile.TemporaryDirectory() as folder:
        given, taken = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        for writer in (savez, savez_compressed, savez_pipe, savez_compressed_pipe, zipfile_plain, zipfile_append, zipfile_pipe):
            with open(given, "wb") as file:
                file.write(writer(**items))
            for flags in ([], ["--compress"]):
                status, text = run(program, *flags, given, taken)
                report(status == 0 and not text, f"{writer.__name__} {flags}: {status} {text}")
                if status:
                    continue
                with zipfile.ZipFile(taken) as archive:
                    report(archive.testzip() is None, f"{writer.__name__} {flags}: Python finds a bad member")
                with np.load(taken, allow_pickle=False) as back:
                    report(list(back) == list(items), f"{writer.__name__} {flags}: names")
                    for name in items:
                        report(native(back[name]) == expected[name], f"{writer.__name__} {flags}: {name}")

        given, taken = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        for (name, value), version in itertools.product(items.items(), ((1, 0), (2, 0), (3, 0))):
            if value.size > 1000 or (version != (1, 0) and value.shape != (2, 3)):
                continue
            with open(given, "wb") as file:
                np.lib.format.write_array(file, value, version=version)
            status, text = run(program, given, taken)
            report(status == 0 and not text, f"npy {name} {version}: {status} {text}")
            if not status:
                report(native(np.load(taken, allow_pickle=False)) == expected[name], f"npy {name} {version}")

        if ml_dtypes:
            value = np.arange(5).astype(ml_dtypes.bfloat16)
            np.save(given, value)
            status, text = run(program, given, taken)
            report(status == 0, f"bfloat16: {text}")
            report(np.load(taken).view(ml_dtypes.bfloat16).tobytes() == value.tobytes(), "bfloat16: bytes")

        for what, value in {
            "objects": np.array([None]),
            "text": np.array(["a"]),
            "dates": np.array(["2020-01-01"], "M8[D]"),
            "complex": np.array([1j]),
            "structured": np.zeros(2, [("a", "<f4")]),
            "long double": np.zeros(2, np.longdouble),
        }.items():
            np.save(given, value, allow_pickle=True)
            status, text = run(program, given, taken)
            report(status == 2 and text.count("\n") == 1 and "descr" in text, f"{what} must be refused: {status} {text}")
            print(text.replace(folder + "/", ""), end="")

        # Several thousand members need more than one read of the directory, 70 000 the ZIP64 end record.
        for count in (3000, 70000):
            given, taken = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            image = io.BytesIO()
            np.save(image, np.uint8(7))
            with zipfile.ZipFile(given, "w") as archive:
                for i in range(count):
                    archive.writestr(f"{i}.npy", image.getvalue())
            status, text = run(program, given, taken)
            report(status == 0, f"{count} members: {text}")
            with zipfile.ZipFile(taken) as archive:
                report(len(archive.namelist()) == count, f"{count} members: other names")
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}: {len(items)} arrays, {failures} failures")
    return failures != 0


sys.exit(main())
