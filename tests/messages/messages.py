#!/usr/bin/python3
"""Message logs: what programs received, by their own account, and what the logs of `record --messages` say.

    messages.py --refrain build/refrain --mpi mpich --program received --reader read_log [--shim yield_shim.so]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

RANKS = 3
FILLED = ("contents", "part", "fetched", "wtime")


class Failed(Exception):
    pass


def expect(good, what):
    if not good:
        raise Failed(what)


class Test:
    def __init__(self, options):
        self.options = options
        self.preload = mpirun.shims(options.mpi, options.shim)

    def record(self, folder, *words, ranks=RANKS, args=()):
        self.folder, self.trace = folder, os.path.join(folder, "run.rfn")
        wrapper = [self.options.refrain, "record", "--quiet", "-o", self.trace, *words, "--"]
        return mpirun.run_job(self.options.mpi, ranks, [self.options.program, folder, *args], 120, self.preload, {},
                              cwd=folder, wrapper=wrapper)

    def refrain(self, *words):
        return subprocess.run([self.options.refrain, *words], capture_output=True, text=True, timeout=60, check=False)

    def log(self, rank):
        path = os.path.join(self.trace + ".messages", f"rank-{rank}.rfm")
        done = subprocess.run([self.options.reader, path], capture_output=True, text=True, timeout=60, check=False)
        return [line.split() for line in done.stdout.splitlines()]

    def calls(self, rank):
        done = self.refrain("dump", self.trace, "--rank", str(rank), "--format", "jsonl")
        return [json.loads(line)["call"] for line in done.stdout.splitlines()]

    def own(self, rank):
        with open(os.path.join(self.folder, f"own.{rank}"), encoding="utf-8") as file:
            return [line.split() for line in file]

    def summary(self):
        done = self.refrain("messages", self.trace, "--format", "json")
        return done.returncode, json.loads(done.stdout)


def fnv_1a(data):
    found = 0xcbf29ce484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{found:016x}"


def check_windows(rank, own, records):
    """What the program found in its window is there after one of the records, whichever of them brought it: another
    rank may write while this one still compares its memory."""
    memory, wanted = bytearray(4096), [tuple(line) for line in own]
    for *_, at, _, _, digits in records:
        data = bytes.fromhex(digits)
        memory[int(at):int(at) + len(data)] = data
        wanted = [(where, count, hashed) for where, count, hashed in wanted
                  if fnv_1a(memory[int(where):int(where) + int(count)]) != hashed]
    expect(not wanted, f"rank {rank}: nothing in its log says that its window has {wanted}: {records}")


def said_twice(records):
    """A status that says what the contents say is not written; one that says otherwise is."""
    before = None
    for record in records:
        if record[2] == "status":
            implied = before[4] if before and before[2] == "contents" and before[1::2][:2] == record[1::2][:2] else "0"
            expect(record[5:] != [implied, "0", "0", "1"], f"a status that is not needed: {before} {record}")
        before = record


def whole(test, folder):
    done = test.record(folder, "--messages", "all")
    expect(done.status == 0, f"the program ends with {done.status}: {done.stderr.decode(errors='replace')[-600:]}")
    for rank in range(RANKS):
        own, calls = test.own(rank), test.calls(rank)
        check_windows(rank, [line[1:] for line in own if line[0] == "window"],
                      [r for r in test.log(rank) if r[2] == "window"])
        own = [line for line in own if line[0] != "window"]
        log = [r for r in test.log(rank) if r[2] in FILLED]
        expect(len(own) > 90, f"rank {rank} wrote {len(own)} lines only")
        for (function, where, count, data), record in zip(own, log):
            _, number, kind, at, said, hashed = record
            if kind == "fetched":
                where = "0"
            expect((where, count, data) == (at, said, hashed),
                   f"rank {rank}: {function} received {count} bytes {data} at {where}, its log says {record}")
            expect(kind == "wtime" or calls[int(number)] == function,
                   f"rank {rank}: what {function} received is in the log at call {number}, {calls[int(number)]}")
        expect(len(own) == len(log), f"rank {rank}: {len(own)} receives, {len(log)} in the log")
    status, found = test.summary()
    expect(status == 0, f"`refrain messages` ends with {status}")
    every = found["all"]
    expect(every["missing"] == 0 and every["unlogged"] == 0, f"something is missing: {every}")
    expect(every["received_bytes"] == every["kept_bytes"] == every["crossing_bytes"], f"not all is kept: {every}")
    for rank in range(RANKS):
        said_twice(test.log(rank))
    most = every["received_bytes"] + 16 * every["receives"]
    expect(every["stored_bytes"] <= most, f"{every['stored_bytes']} bytes are stored, at most {most} expected")
    checked = test.refrain("check", test.trace)
    expect(checked.returncode == 0, f"`refrain check`: {checked.stderr}")
    path = os.path.join(test.trace + ".messages", "rank-1.rfm")
    with open(path, "r+b") as file:
        file.seek(2000000)
        byte = file.read(1)
        file.seek(2000000)
        file.write(bytes([byte[0] ^ 16]))
    damaged = test.refrain("check", test.trace)
    expect(damaged.returncode == 1 and "rank-1.rfm: offset" in damaged.stdout + damaged.stderr,
           f"a damaged log: {damaged.returncode} {damaged.stdout} {damaged.stderr}")
    expect(test.summary()[0] == 4, "`refrain messages` of a damaged log")


def groups(test, folder):
    """Ranks 0 and 1 are on one node: what they sent each other is not kept."""
    with open(os.path.join(folder, "map"), "w", encoding="utf-8") as file:
        file.write("# nodes\n0-1\n2\n")
    for words in (("--node-size", "2"), ("--map", os.path.join(folder, "map"))):
        done = test.record(folder, "--messages", "ranks:0-1", *words)
        expect(done.status == 0, f"the program ends with {done.status}: {done.stderr.decode(errors='replace')[-600:]}")
        expect(sorted(os.listdir(test.trace + ".messages")) == ["rank-0.rfm", "rank-1.rfm"], "which ranks are logged")
        log = test.log(1)  # receives from rank 0
        calls, inside = test.calls(1), {}
        for record in log:
            if record[2] == "inside":
                inside.setdefault(calls[int(record[1])], 0)
                inside[calls[int(record[1])]] += int(record[4])
        expect(inside.get("MPI_Sendrecv") == 4 << 20, f"{words}: what is not kept: {inside}")
        expect("MPI_Allreduce" not in inside, f"{words}: a result of all ranks is not kept")
        found = test.summary()[1]["ranks"]
        expect(found[1]["crossing_bytes"] < found[1]["received_bytes"] // 10, f"{words}: {found[1]}")
        expect(found[0]["crossing_bytes"] > 4 << 20, f"{words}: {found[0]}")  # its left neighbour is rank 2
        kept = [r for r in test.log(0) if r[2] in FILLED]
        own = [line for line in test.own(0) if line[0] != "window"]
        expect(len(kept) < len(own), "something is not kept on rank 0")


def limits(test, folder):
    done = test.record(folder, "--messages", "all", "--message-limit", "1M")
    expect(done.status == 0, f"the program ends with {done.status}")
    expect(b"ends early (--message-limit)" in done.stderr, done.stderr.decode(errors="replace"))
    expect(all(os.path.getsize(os.path.join(test.trace + ".messages", f)) <= 1 << 20
               for f in os.listdir(test.trace + ".messages")), "a log passes its limit")
    status, found = test.summary()
    expect(status == 4 and found["all"]["unlogged"] > 0, f"{status} {found['all']}")
    done = test.record(folder, "--messages", "all", "--message-limit", "100")
    expect(done.status == 0 and b"ends early (--message-limit)" in done.stderr, done.stderr.decode(errors="replace"))
    expect(test.summary()[1]["all"]["unlogged"] > 90 * RANKS, "no room for a block: all is counted")
    losses = json.loads(test.refrain("info", test.trace, "--format", "json").stdout)["losses"]
    expect(any(loss["reason"] == "messages_missing" for loss in losses), f"losses: {losses}")


def own_time(test, folder):
    """What packing and writing takes is the recorder's time, not the program's: with times of calls or without."""
    for timing in ("stats", "exact"):
        done = test.record(folder, "--messages", "all", "--timing", timing, args=("large",))
        expect(done.status == 0, f"the program ends with {done.status}")
        rows = json.loads(test.refrain("profile", test.trace, "--format", "json").stdout)["ranks"]
        row = next(row for row in rows if row["rank"] == 1)
        expect(row["recorder_in_run_ns"] > 10e6, f"{timing}: logs of 384 MiB take {row['recorder_in_run_ns']} ns")
        expect(row["outside_ns"] < row["recorder_in_run_ns"] / 2, f"{timing}: a rank that computes nothing: {row}")


def usage(test, folder):
    plan = os.path.join(folder, "plan.json")
    with open(plan, "w", encoding="utf-8") as file:
        file.write('{"plan": 1, "ranks": 3, "groups": [{"representative": 1, "ranks": [0, 1, 2], "radius_ns": 5}]}\n')
    done = test.record(folder, "--messages", f"representatives:{plan}")
    expect(done.status == 0 and os.listdir(test.trace + ".messages") == ["rank-1.rfm"], "representatives of a plan")
    done = test.record(folder, "--messages", "ranks:1,9")
    expect(done.status == 0 and b"names rank 9, and the job has ranks 0 to 2" in done.stderr,
           f"a rank that is not there: {done.stderr.decode(errors='replace')}")
    for words, part in ((("--messages", "ranks:3-1"), "ranks"), (("--messages", ""), "needs a value"),
                        (("--messages", "representatives:"), "names no file"),
                        (("--messages", "all", "--node-size", "-1"), "--node-size"),
                        (("--messages", "some"), "some"),
                        (("--messages", "representatives:/none"), "/none"), (("--node-size", "2"), "--messages"),
                        (("--messages", "all", "--only", "p2p"), "--only"),
                        (("--messages", "all", "--message-limit", "x"), "--message-limit"),
                        (("--messages", "all", "--node-size", "2", "--map", plan), "--map"),
                        (("--messages", "all", "--map", plan), "line 1")):
        done = subprocess.run([test.options.refrain, "record", *words, "--", test.options.program, folder],
                              capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 2 and part in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("refrain", "mpi", "program", "reader", "shim"):
        parser.add_argument(f"--{name}", required=name != "shim")
    options = parser.parse_args()
    for part in (whole, groups, limits, own_time, usage):
        with tempfile.TemporaryDirectory() as folder:
            try:
                part(Test(options), folder)
            except Failed as failed:
                print(f"{part.__name__}: {failed}", file=sys.stderr)
                return 1
        print(f"{part.__name__}: good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
