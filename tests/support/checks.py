"""What must hold for every dump, and for the verbs that sum it up, whatever the program did."""
import csv
import io
import re


class Broken(Exception):
    """What does not hold, in words."""


ALWAYS = {"rank", "thread", "seq", "call", "args", "begin_ns", "end_ns", "site"}
SOMETIMES = {"matched", "rc", "error_class", "return"}

SIZES = {"MPI_INT": 4, "MPI_DOUBLE": 8, "MPI_CHAR": 1, "MPI_BYTE": 1, "MPI_FLOAT": 4, "MPI_LONG": 8,
         "MPI_PACKED": 1, "MPI_AINT": 8, "MPI_INTEGER": 4, "MPI_DOUBLE_PRECISION": 8}
SENDS = re.compile(r"^(MPI_(Send|[BSR]send|I[bsr]?send)|MPIX_Stream_i?send)(_c)?$")
PREPARED = re.compile(r"^MPI_(S|Bs|Ss|Rs|Ps)end_init(_c)?$")


def read_table(path):
    """Parameter names and which of them are inout, by function, from spec/mpi/calls."""
    table, name, large = {}, None, False
    with open(path) as f:
        for raw in f:
            line = raw.split("#")[0].rstrip()
            if not line:
                continue
            if line[0].isdigit():
                words = line.split()
                name, large = words[1], "large" in words[2:]
                table[name] = {}
                if large:
                    table[name + "_c"] = {}
                continue
            for word in line.split():
                parameter, rest = word.split(":", 1)
                table[name][parameter] = ":inout" in rest
                if large:
                    table[name + "_c"][parameter] = ":inout" in rest
    return table


def check_line(line, rank, table):
    where = "rank %d call %s" % (rank, line.get("seq"))
    keys = set(line)
    if not ALWAYS <= keys or keys - ALWAYS - SOMETIMES:
        raise Broken("%s: the keys of a line are %s" % (where, sorted(keys)))
    if line["rank"] != rank:
        raise Broken("%s: says rank %s" % (where, line["rank"]))
    known = table.get(line["call"])
    if known is None:
        raise Broken("%s: no function %s in the table" % (where, line["call"]))
    given = set(line["args"])
    missing = set(known) - given
    more = {k for k in given - set(known) if not (k.endswith("_in") and known.get(k[:-3]))}
    if missing or more:
        raise Broken("%s: args of %s lack %s and have %s that the table does not" % (
            where, line["call"], sorted(missing), sorted(more)))
    begin, end = line["begin_ns"], line["end_ns"]
    if begin is not None and (end is None or end < begin):
        raise Broken("%s: begins at %s and ends at %s" % (where, begin, end))


def check_dump(dump, rank, table):
    seq = {}
    for line in dump:
        check_line(line, rank, table)
        expected = seq.get(line["thread"], 0)
        if line["seq"] != expected:
            raise Broken("rank %d thread %s: seq %s follows %d" % (
                rank, line["thread"], line["seq"], expected - 1))
        seq[line["thread"]] = expected + 1


def check_profile(profile, logs):
    expected = {}
    for log in logs:
        for line in log:
            if line["call"] not in ("MPI_Wtime", "MPI_Wtick"):
                expected[line["call"]] = expected.get(line["call"], 0) + 1
    found = {f["call"]: f["count"] for f in profile["functions"] if f["count"]}
    for call in sorted(set(expected) | set(found)):
        if expected.get(call, 0) != found.get(call, 0):
            raise Broken("profile: %s is called %d times, the profile says %d" % (
                call, expected.get(call, 0), found.get(call, 0)))


def check_info(info, logs, mpi, losses=None):
    """`losses`: how many calls each rank loses, by reason."""
    for key in ("mpi", "ranks", "calls", "file_bytes", "complete", "losses", "signatures", "rules"):
        if key not in info:
            raise Broken("info: no %s" % key)
    calls = sum(len(log) for log in logs)
    if info["ranks"] != len(logs) or info["calls"] != calls:
        raise Broken("info: %s ranks and %s calls, the program had %d and %d" % (
            info["ranks"], info["calls"], len(logs), calls))
    lost = {}
    for loss in info["losses"]:
        lost[loss["reason"]] = lost.get(loss["reason"], 0) + loss.get("calls", 0)
    expected = {reason: n * len(logs) for reason, n in (losses or {}).items()}
    if info["complete"] is not True or lost != expected:
        raise Broken("info: complete %s, losses %s instead of %s" % (info["complete"], lost, expected))
    if "recorder_cost" in info:  # every complete trace of a recorder, and no synthetic one
        cost = info["recorder_cost"]
        memory, time = cost["memory_bytes"], cost["time_ns"]
        threads = 16  # at most; their times add up
        sane = (cost["ranks"] == len(logs) and 10_000 < memory["least"] <= memory["greatest"] < 1 << 30 and
                0 < time["least"] <= time["mean"] * 1.01 <= time["greatest"] * 1.02 < threads * info["duration_ns"])
        for name, spread in (("memory_bytes", memory), ("time_ns", time)):
            of_ranks = {row["rank"]: row[name] for row in cost["by_rank"]}
            least, greatest = spread["least_rank"], spread["greatest_rank"]
            sane = (sane and sorted(of_ranks) == list(range(len(logs))) and
                    of_ranks[least] == spread["least"] == min(of_ranks.values()) and
                    of_ranks[greatest] == spread["greatest"] == max(of_ranks.values()))
        if not sane:
            raise Broken("info: recorder_cost is %s in a run of %d ns" % (cost, info["duration_ns"]))
    if mpi[:4] not in str(info["mpi"]).lower().replace(" ", ""):
        raise Broken("info: mpi is %r, it ran under %s" % (info["mpi"], mpi))


class Unknown(Exception):
    """The log does not say enough to work out the matrix."""


def world_ranks(logs):
    """(alias, generation) -> {rank in the communicator: world rank}, from logged MPI_Comm_rank."""
    members = {}
    for world, log in enumerate(logs):
        generation = {}
        for line in log:
            if line["call"] == "MPI_Comm_rank" and "rank" in line["args"]:
                comm = line["args"]["comm"]
                members.setdefault((comm, generation.get(comm, 0)), {})[line["args"]["rank"]] = world
            for alias in line.get("freed", []):
                generation[alias] = generation.get(alias, 0) + 1
    return members


def messages_of(line, persistent, sizes):
    """(dest, comm, bytes or None) of every message that this call sends."""
    call, args = line["call"], line["args"]
    if line.get("rc"):
        return
    if SENDS.match(call):
        yield args.get("dest"), args.get("comm", "MPI_COMM_WORLD"), bytes_of(args, "count", "datatype", sizes)
    elif call.startswith("MPI_Sendrecv_replace"):
        yield args.get("dest"), args.get("comm", "MPI_COMM_WORLD"), bytes_of(args, "count", "datatype", sizes)
    elif call.startswith(("MPI_Sendrecv", "MPI_Isendrecv")):
        yield args.get("dest"), args.get("comm", "MPI_COMM_WORLD"), bytes_of(args, "sendcount", "sendtype", sizes)
    elif PREPARED.match(call):
        size = bytes_of(args, "count", "datatype", sizes)
        if size is not None:
            size *= args.get("partitions", 1)
        persistent[args["request"]] = (args["dest"], args["comm"], size)
    elif call in ("MPI_Start", "MPI_Startall"):
        requests = args["array_of_requests"] if call.endswith("all") else [args["request"]]
        for request in requests:
            if request in persistent:
                yield persistent[request]


def bytes_of(args, count, datatype, sizes):
    if args.get(datatype) in sizes and isinstance(args.get(count), int):
        return args[count] * sizes[args[datatype]]
    return None


def expected_matrix(logs):
    members = world_ranks(logs)
    totals = {}
    for world, log in enumerate(logs):
        generation, persistent, sizes = {}, {}, dict(SIZES)
        for line in log:
            if line["call"] == "MPI_Type_size" and "datatype" in line["args"]:
                sizes[line["args"]["datatype"]] = line["args"]["size"]
            for dest, comm, size in messages_of(line, persistent, sizes):
                if dest == "MPI_PROC_NULL":
                    continue
                if not isinstance(dest, int):
                    raise Unknown()
                if comm == "MPI_COMM_SELF":
                    target = world
                elif comm == "MPI_COMM_WORLD":
                    target = dest
                else:
                    target = members.get((comm, generation.get(comm, 0)), {}).get(dest)
                    if target is None or comm == "@@inter":
                        raise Unknown()
                messages, total = totals.get((world, target), (0, 0))
                total = None if total is None or size is None else total + size
                totals[(world, target)] = (messages + 1, total)
            for alias in line.get("freed", []):
                generation[alias] = generation.get(alias, 0) + 1
                sizes.pop(alias, None)
    return totals


def check_matrix(text, logs, mode):
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0][:4] != ["source", "dest", "messages", "bytes"]:
        raise Broken("matrix: the columns are %s" % (rows[0] if rows else "missing"))
    found = {(int(r[0]), int(r[1])): (int(r[2]), int(r[3])) for r in rows[1:]}
    if mode != "exact":
        return
    try:
        expected = expected_matrix(logs)
    except Unknown:
        return
    for pair in sorted(set(expected) | set(found)):
        want, got = expected.get(pair, (0, 0)), found.get(pair, (0, 0))
        if want[0] != got[0] or (want[1] is not None and want[1] != got[1]):
            raise Broken("matrix: %d -> %d: the program sent %s messages and %s bytes, the matrix says "
                         "%s and %s" % (pair + (want[0], want[1]) + got))
