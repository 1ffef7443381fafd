"""What the formats of `refrain convert` say, read without Refrain: by the foreign tools where there are
some, else by small parsers of our own."""

import collections
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Wrong(Exception):
    """The output is not what the format, or the trace, says."""


def check(condition, message):
    if not condition:
        raise Wrong(message)


# --- what refrain itself says ---

def dumped(refrain, trace, *options):
    """The calls of `refrain dump`, as objects."""
    text = subprocess.run([refrain, "dump", "--format", "jsonl", *options, trace], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [json.loads(line) for line in text.splitlines()]


def matrix(refrain, trace):
    """{(source, dest): (messages, bytes)} of point-to-point messages."""
    text = subprocess.run([refrain, "matrix", "--format", "json", trace], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    said = json.loads(text)
    return {(e["source"], e["dest"]): (e["messages"], e["bytes"]) for e in said["pairs"]}


def is_mark(call):
    return call["call"].startswith("refrain_")


# --- csv, sqlite ---

def plain(value):
    """A parameter of dump's JSON as a cell has it."""
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)


def check_csv(path, calls):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    check(text.endswith("\r\n"), "csv: lines do not end as RFC 4180 has it")
    rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
    check(len(rows) == len(calls), "csv: %d rows, %d calls" % (len(rows), len(calls)))
    for row, call in zip(rows, calls):
        check(None not in row and None not in row.values(), "csv: a row of another length")
        for key in ("rank", "thread", "seq", "call", "site", "begin_ns", "end_ns"):
            check(row[key] == plain(call[key]), "csv: %s is %r, not %r" % (key, row[key], call[key]))
        got = {k[4:]: v for k, v in row.items() if k.startswith("arg_") and v != ""}
        want = {k: plain(v) for k, v in call["args"].items() if plain(v) != ""}
        check(got == want, "csv: parameters %r, not %r" % (got, want))


def check_sqlite(path, calls, pairs):
    base = sqlite3.connect(path)
    check(base.execute("PRAGMA integrity_check").fetchone() == ("ok",), "sqlite: damaged")
    rows = base.execute("SELECT rank, thread, seq, call, args, begin_ns, end_ns FROM call_list "
                        "ORDER BY rank, thread, seq").fetchall()
    check(len(rows) == len(calls), "sqlite: %d calls, not %d" % (len(rows), len(calls)))
    for row, call in zip(rows, sorted(calls, key=lambda c: (c["rank"], c["thread"], c["seq"]))):
        want = [call[k] for k in ("rank", "thread", "seq", "call", "args", "begin_ns", "end_ns")]
        got = list(row)
        got[4] = json.loads(got[4])
        check(got == want, "sqlite: %r, not %r" % (got, want))
    got = {(s, d): (m, b) for s, d, m, b in
           base.execute("SELECT source, dest, messages, bytes FROM matrix WHERE kind = 'p2p'")}
    check(got == pairs, "sqlite: another matrix")
    indices = {name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    check("calls_by_begin" in indices and "calls_by_signature" in indices, "sqlite: no indices")
    has_times = any(call["begin_ns"] is not None for call in calls)
    waits = base.execute("SELECT count(*) FROM waits").fetchone()[0]
    check(has_times or waits == 0, "sqlite: waits without times")
    base.close()


# --- otf2 ---

def otf2_records(path):
    """{record: how often} as otf2-print says; it must have nothing to complain of."""
    done = subprocess.run(["otf2-print", os.path.join(path, "traces.otf2")], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0 and not done.stderr, "otf2-print: %s" % done.stderr.decode()[:300])
    definitions = subprocess.run(["otf2-print", "-G", os.path.join(path, "traces.otf2")], check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    check(definitions.returncode == 0 and not definitions.stderr,
          "otf2-print -G: %s" % definitions.stderr.decode()[:300])
    words = (line.split(None, 1)[0] for line in done.stdout.decode(errors="replace").splitlines()
             if line and line[0].isupper())
    return collections.Counter(words)


def otf2_messages(path):
    """Messages of both ends, [(comm, source, dest, tag, bytes)] in order of each rank, and calls by
    name, by the Python reader. Ranks are those of the world."""
    import otf2
    from otf2.events import Enter, MpiIrecv, MpiIsend, MpiRecv, MpiSend
    sent, received = [], []
    depth = collections.Counter()
    names = collections.Counter()
    with otf2.reader.open(os.path.join(path, "traces.otf2")) as trace:
        ranks = {}
        for group in trace.definitions.groups:
            if group.group_type == otf2.GroupType.COMM_LOCATIONS:
                ranks = {location: i for i, location in enumerate(group.members)}
        process = {location.group: rank for location, rank in ranks.items()}

        def world(comm, index, me):
            if comm.group.group_type == otf2.GroupType.COMM_SELF:
                return me
            member = comm.group.members[index]
            return ranks.get(member, member)

        last = {}
        for location, event in trace.events:
            me = process[location.group]
            check(event.time >= last.get(location, 0), "otf2: a record goes back in time")
            last[location] = event.time
            if isinstance(event, Enter):
                names[event.region.name] += 1
                depth[location] += 1
            elif type(event).__name__ == "Leave":
                depth[location] -= 1
            elif isinstance(event, (MpiSend, MpiIsend)):
                sent.append((event.communicator.name, me, world(event.communicator, event.receiver, me),
                             event.msg_tag, event.msg_length))
            elif isinstance(event, (MpiRecv, MpiIrecv)):
                received.append((event.communicator.name,
                                 world(event.communicator, event.sender, me), me,
                                 event.msg_tag, event.msg_length))
        check(all(d == 0 for d in depth.values()), "otf2: enters and leaves do not pair")
    return sent, received, names


def pairs_of(messages):
    found = collections.defaultdict(lambda: (0, 0))
    for _, source, dest, _, size in messages:
        count, total = found[source, dest]
        found[source, dest] = (count + 1, total + size)
    return dict(found)


def check_otf2(path, calls, pairs, has_python=True):
    records = otf2_records(path)
    regions = sum(c["call"] in ("refrain_region_begin", "refrain_function_enter") for c in calls)
    mpi = sum(not is_mark(c) or c["call"] == "refrain_instance" for c in calls)
    check(records["ENTER"] == mpi + regions, "otf2: %d enters of %d" % (records["ENTER"], mpi + regions))
    check(records["LEAVE"] == records["ENTER"], "otf2: leaves")
    sends = records["MPI_SEND"] + records["MPI_ISEND"]
    check(sends == sum(m for m, _ in pairs.values()), "otf2: %d sends" % sends)
    check(records["MPI_RECV"] + records["MPI_IRECV"] == sends, "otf2: not as many receives as sends")
    check(records["MPI_COLLECTIVE_BEGIN"] == records["MPI_COLLECTIVE_END"], "otf2: collectives")
    if not has_python:
        return records
    sent, received, names = otf2_messages(path)
    check(sorted(sent) == sorted(received), "otf2: what was sent is not what was received")
    check(pairs_of(sent) == pairs, "otf2: another matrix")
    want = collections.Counter(c["call"] for c in calls if not is_mark(c))
    check({n: c for n, c in names.items() if n.startswith("MPI")} == dict(want), "otf2: other calls")
    return records


# --- perfetto ---

def protobuf_text(lines):
    """The text that protoc decodes to, as nested lists of (name, value)."""
    out = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return out
        if line.endswith("{"):
            out.append((line[:-1].strip(), protobuf_text(lines)))
        else:
            name, value = line.split(": ", 1)
            out.append((name, value))
    return out


def perfetto_packets(path):
    with open(path, "rb") as file:
        done = subprocess.run(["protoc", "--decode=Trace", "-I", HERE, "perfetto.proto"], check=False,
                              stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0, "protoc: %s" % done.stderr.decode()[:300])
    text = done.stdout.decode()
    unknown = re.search(r"^\s*\d+[:{ ]", text, re.M)
    check(not unknown, "perfetto: a field that the definitions lack: %s" % unknown)
    return protobuf_text(iter(text.splitlines()))


def check_perfetto(paths, calls, pairs):
    """One conversion, in all its files."""
    begins, flows, ends, tracks = collections.Counter(), [], [], set()
    slices, at = 0, {}
    for path in paths:
        depth, names, uuids, at = collections.Counter(), {}, set(), {}
        for _, packet in perfetto_packets(path):
            fields = dict(packet)
            sequence = fields["trusted_packet_sequence_id"]
            for table, entries in fields.get("interned_data", []):
                if table == "event_names":
                    names[sequence, dict(entries)["iid"]] = dict(entries)["name"].strip('"')
            if "track_descriptor" in fields:
                uuids.add(dict(fields["track_descriptor"])["uuid"])
                tracks.add(dict(fields["track_descriptor"])["name"].strip('"'))
            if "track_event" not in fields:
                continue
            event = fields["track_event"]
            track, kind = dict(event)["track_uuid"], dict(event)["type"]
            check(track in uuids, "perfetto: a track that nothing describes")
            check(int(fields["timestamp"]) >= at.get(track, 0), "perfetto: back in time")
            at[track] = int(fields["timestamp"])
            flows += [v for k, v in event if k == "flow_ids"]
            ends += [v for k, v in event if k == "terminating_flow_ids"]
            if kind == "TYPE_SLICE_BEGIN":
                slices += 1
                depth[track] += 1
                begins[names[sequence, dict(event)["name_iid"]]] += 1
            elif kind == "TYPE_SLICE_END":
                depth[track] -= 1
                check(depth[track] >= 0, "perfetto: an end without a begin")
        check(not any(depth.values()), "perfetto: slices are left open")
    want = collections.Counter(c["call"] for c in calls if not is_mark(c))
    got = {n: c for n, c in begins.items() if n.startswith("MPI")}
    if len(paths) == 1:
        check(got == dict(want), "perfetto: other calls")
    else:
        check(all(got[n] >= c for n, c in want.items()), "perfetto: calls are missing")
    check(len(flows) == len(set(flows)) == sum(m for m, _ in pairs.values()),
          "perfetto: %d flows begin" % len(flows))
    check(sorted(flows) == sorted(ends), "perfetto: flows that end are not those that begin")
    ranks = {"Rank %d" % c["rank"] for c in calls}
    check(ranks <= tracks, "perfetto: no track for %s" % sorted(ranks - tracks))


# --- goal ---

GOAL_LINES = [
    ("calc", re.compile(r"l(\d+): calc (\d+) cpu (\d+)$")),
    ("send", re.compile(r"l(\d+): send (\d+)b to (\d+) tag (\d+) cpu (\d+) nic 0$")),
    ("recv", re.compile(r"l(\d+): recv (\d+)b from (\d+) tag (\d+) cpu (\d+) nic 0$")),
    ("requires", re.compile(r"l(\d+) requires l(\d+)$")),
]


def read_goal(path):
    """[(operations by label, [(label, needed)])] of each rank."""
    ranks, operations = [], None
    with open(path, encoding="ascii") as file:
        head = re.match(r"num_ranks (\d+)$", file.readline().rstrip("\n"))
        check(head, "goal: no num_ranks")
        for line in (line.strip() for line in file):
            if not line:
                continue
            if line == "}":
                ranks.append((operations, needs))
                operations = None
                continue
            begin = re.match(r"rank (\d+) \{$", line)
            if begin:
                check(int(begin.group(1)) == len(ranks) and operations is None, "goal: order of ranks")
                operations, needs = {}, []
                continue
            for kind, pattern in GOAL_LINES:
                match = pattern.match(line)
                if match:
                    break
            else:
                raise Wrong("goal: cannot read %r" % line)
            numbers = [int(g) for g in match.groups()]
            if kind == "requires":
                needs.append(tuple(numbers))
            else:
                check(numbers[0] not in operations, "goal: a label twice")
                operations[numbers[0]] = (kind, *numbers[1:])
    check(operations is None and len(ranks) == int(head.group(1)), "goal: number of ranks")
    return ranks


def check_goal(path, pairs=None):
    """Acyclic, whole, runs to its end; {(source, dest): (messages, bytes)} with at least `pairs`."""
    ranks = read_goal(path)
    sent, received = collections.defaultdict(list), collections.defaultdict(list)
    for me, (operations, needs) in enumerate(ranks):
        check(operations, "goal: a rank without operations")
        for label, needed in needs:
            check(label in operations and needed in operations, "goal: an unknown label")
            check(needed < label, "goal: not acyclic")
        for label in sorted(operations):
            kind, *rest = operations[label]
            if kind == "send":
                check(0 <= rest[1] < len(ranks) and rest[1] != me, "goal: a bad rank")
                sent[me, rest[1], rest[2]].append(rest[0])
            elif kind == "recv":
                received[rest[1], me, rest[2]].append(rest[0])
    check(sent == received, "goal: sends and receives do not fit: %s" % str(
        {k: (v, received.get(k)) for k, v in sent.items() if v != received.get(k)} or
        {k: v for k, v in received.items() if k not in sent})[:300])
    run_goal(ranks)
    if pairs is not None:
        found = collections.defaultdict(lambda: [0, 0])
        for (source, dest, _), sizes in sent.items():
            found[source, dest][0] += len(sizes)
            found[source, dest][1] += sum(sizes)
        for (source, dest), (messages, size) in pairs.items():
            if source == dest:
                continue  # there are no messages to oneself
            check(found[source, dest][0] >= messages and found[source, dest][1] >= size,
                  "goal: messages are missing from %d to %d" % (source, dest))
    return ranks


def run_goal(ranks):
    """Does everything in some order that its dependencies allow; a receive needs its send."""
    waiting = [collections.Counter() for _ in ranks]
    behind = [collections.defaultdict(list) for _ in ranks]
    for me, (_, needs) in enumerate(ranks):
        for label, needed in needs:
            waiting[me][label] += 1
            behind[me][needed].append(label)
    ready = [(me, label) for me, (operations, _) in enumerate(ranks) for label in operations
             if waiting[me][label] == 0]
    there, parked, done = collections.Counter(), collections.defaultdict(list), 0

    def finish(me, label):
        for next_label in behind[me][label]:
            waiting[me][next_label] -= 1
            if waiting[me][next_label] == 0:
                ready.append((me, next_label))

    while ready:
        me, label = ready.pop()
        kind, *rest = ranks[me][0][label]
        if kind == "recv" and there[rest[1], me, rest[2]] == 0:
            parked[rest[1], me, rest[2]].append((me, label))
            continue
        if kind == "recv":
            there[rest[1], me, rest[2]] -= 1
        if kind == "send":
            key = (me, rest[1], rest[2])
            there[key] += 1
            if parked[key]:
                ready.append(parked[key].pop())
        done += 1
        finish(me, label)
    check(done == sum(len(operations) for operations, _ in ranks), "goal: does not run to its end")


# --- ti ---

def check_ti(path, pairs):
    """Sends and receives fit, every request is waited for, and there are at least those of `pairs`."""
    with open(os.path.join(path, "trace.txt"), encoding="utf-8") as file:
        names = file.read().split("\n")[:-1]
    sent, received = collections.Counter(), collections.Counter()
    for me, name in enumerate(names):
        check(os.path.isabs(name) and os.path.dirname(name) == os.path.abspath(path), "ti: %s" % name)
        waits = collections.Counter()
        with open(name, encoding="ascii") as file:
            lines = [line.split() for line in file]
        check(lines[0] == [str(me), "init"] and lines[-1] == [str(me), "finalize"], "ti: init, finalize")
        for line in lines:
            check(line[0] == str(me), "ti: a line of another rank")
            word = line[1]
            if word in ("send", "isend"):
                sent[me, int(line[2]), line[3], int(line[4])] += 1
            elif word in ("recv", "irecv"):
                received[int(line[2]), me, line[3], int(line[4])] += 1
            if word == "isend":
                waits[str(me), line[2], line[3]] += 1
            elif word == "irecv":
                waits[line[2], str(me), line[3]] += 1
            elif word == "wait":
                waits[tuple(line[2:5])] -= 1
        check(not any(waits.values()), "ti: requests that nobody waits for")
    check(sent == received, "ti: sends and receives do not fit")
    found = collections.Counter()
    for (source, dest, _, _), count in sent.items():
        found[source, dest] += count
    check(all(found[pair] >= messages for pair, (messages, _) in pairs.items()), "ti: messages")


# --- paraver ---

def check_paraver(path, calls, pairs):
    stem = path[:-4]
    with open(path, encoding="ascii") as file:
        head = re.match(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:"
                        r"(\d+)\(([\d:,]+)\)$", file.readline().rstrip("\n"))
        check(head, "paraver: header")
        records = [line.split(":") for line in file.read().splitlines()]
    end, tasks = int(head.group(1)), int(head.group(4))
    threads = [int(task.split(":")[0]) for task in head.group(5).split(",")]
    check(len(threads) == tasks and
          sum(int(n) for n in head.group(3).split(",")) == tasks, "paraver: tasks")
    ranks = sorted({c["rank"] for c in calls})
    begins, at, found, until = 0, 0, collections.defaultdict(lambda: (0, 0)), {}
    with open(stem + ".pcf", encoding="utf-8") as file:
        names = file.read()
    for record in records:
        kind, where = record[0], tuple(int(n) for n in record[1:5])
        check(1 <= where[2] <= tasks and 1 <= where[3] <= threads[where[2] - 1], "paraver: object")
        time = int(record[5])
        check(at <= time <= end, "paraver: not by time")
        at = time
        if kind == "1":
            check(time >= until.get(where, 0) and time < int(record[6]), "paraver: states overlap")
            until[where] = int(record[6])
        elif kind == "2":
            check(len(record) % 2 == 0, "paraver: event")
            for name, value in zip(record[6::2], record[7::2]):
                begins += name.startswith("5000000") and value != "0"
                check(re.search(r"^9    %s .*?^%s    " % (name, value), names, re.M | re.S),
                      "paraver: %s:%s has no name" % (name, value))
        else:
            check(kind == "3" and len(record) == 15, "paraver: record")
            pair = ranks[where[2] - 1], ranks[int(record[9]) - 1]
            check(int(record[11]) <= int(record[12]), "paraver: receive")
            found[pair] = (found[pair][0] + 1, found[pair][1] + int(record[13]))
    check(dict(found) == pairs, "paraver: another matrix")
    with open(stem + ".row", encoding="utf-8") as file:
        row = file.read()
    check("LEVEL THREAD SIZE %d\n" % sum(threads) in row, "paraver: rows")
    return begins


def have(*tools):
    return all(shutil.which(tool) for tool in tools)
