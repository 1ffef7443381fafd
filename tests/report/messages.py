#!/usr/bin/python3
"""The arrows of the report page, on fresh runs of test programs: those of a slow and obvious matching of what `dump`
says. Exit status 77: no launcher, or no node.

    messages.py --refrain R --mpi mpich --programs DIR --libraries DIR --web web/src [--shim yield_shim.so] [--only P]
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import mpirun  # noqa: E402

EXACT = ("--timing", "exact")
# Program, ranks, options of record, what the page has to say of arrows that it lacks.
RUNS = (
    ("p2p_wildcard", 4, EXACT, {}),
    ("p2p_wildcard", 3, (), {}),
    ("p2p_wildcard_mix", 3, EXACT, {}),
    ("p2p_probe", 3, EXACT, {}),
    ("p2p_persistent", 3, EXACT, {}),
    ("threads", 3, EXACT, {}),
    ("threads", 2, (), {"unordered": 480}),
    ("threads_hand_over", 2, EXACT, {}),
)
SENDS = re.compile(r"MPI_I?[sbr]?send$", re.IGNORECASE)


class Receive:
    """One end of a message: the call that posts it, what it took, the call that completes it."""

    def __init__(self, call, tag="tag"):
        args = call["args"]
        self.comm, self.post, self.done = args["comm"], place(call), place(call)
        self.source, self.tag = args["source"], args[tag]
        self.is_there = self.source != "MPI_PROC_NULL"
        self.is_wild = self.is_there and (isinstance(self.source, str) or isinstance(self.tag, str))

    def took(self, status):
        if isinstance(status, dict) and isinstance(status.get("source"), int):
            self.source, self.tag = status["source"], status["tag"]
        elif isinstance(status, dict):
            self.is_there = False


def place(call):
    return (call["rank"], call["thread"], call["seq"])


def at(value, i):
    return value[i] if isinstance(value, list) and i < len(value) else None


class Rank:
    """Follows the calls of one rank, all threads by their begins."""

    def __init__(self):
        self.requests = {}     # name -> what it stands for: Receive, a send, or a template of one
        self.matched = {}      # message#N -> Receive
        self.sends, self.receives, self.by_place = [], [], {}

    def send(self, call, tag="tag", begun=None):
        args = call["args"]
        if isinstance(args["dest"], int):
            self.sends.append(((args["comm"], call["rank"], args["dest"], args[tag]), place(begun or call)))

    def post(self, call, begun=None, tag="tag"):
        receive = Receive(call, tag)
        if begun:
            receive.post = receive.done = place(begun)
        if receive.is_there:
            self.receives.append(receive)
        return receive

    def complete(self, call, name, status, matched):
        known = self.requests.get(name)
        if isinstance(known, dict):  # persistent
            known, self.requests[name]["active"] = known["active"], None
        else:
            self.requests.pop(name, None)
        if isinstance(known, Receive):
            known.done = place(call)
            if isinstance(known.source, str) or isinstance(known.tag, str):
                known.took(matched if matched else status)

    def see(self, call):
        name, args = call["call"], call["args"]
        if "error_class" in call:
            return
        status, matched = args.get("status"), call.get("matched")
        if SENDS.match(name):
            self.send(call)
            if name.startswith("MPI_I"):
                self.requests[args["request"]] = None
        elif name in ("MPI_Recv", "MPI_Irecv"):
            receive = self.post(call)
            if name == "MPI_Irecv":
                self.requests[args["request"]] = receive
            elif isinstance(receive.source, str) or isinstance(receive.tag, str):
                receive.took(matched if matched else status)
        elif name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            self.send(call, "sendtag")
            receive = self.post(call, tag="recvtag")
            if isinstance(receive.source, str) or isinstance(receive.tag, str):
                receive.took(matched if matched else status)
        elif name.endswith("end_init") or name == "MPI_Recv_init":
            self.requests[args["request"]] = {"made": call, "active": None}
        elif name in ("MPI_Start", "MPI_Startall"):
            for request in args.get("array_of_requests") or [args["request"]]:
                made = self.requests[request]["made"]
                if made["call"] == "MPI_Recv_init":
                    self.requests[request]["active"] = self.post(made, call)
                else:
                    self.send(made, begun=call)
        elif name == "MPI_Mprobe" or (name == "MPI_Improbe" and args["flag"]):
            receive = Receive(call)
            receive.took(matched if matched else status)
            if receive.is_there:
                self.receives.append(receive)
            self.matched[args["message"]] = receive
        elif name in ("MPI_Mrecv", "MPI_Imrecv"):
            receive = self.matched.pop(args.get("message_in", args["message"]), None)
            if receive:
                receive.post = receive.done = place(call)
            if name == "MPI_Imrecv":
                self.requests[args["request"]] = receive
        elif name == "MPI_Cancel":
            self.requests[args["request"]].is_there = False  # of the programs here: before anything was sent
        elif name in ("MPI_Wait", "MPI_Test"):
            if args.get("flag", 1):
                self.complete(call, args["request"], status, matched)
        elif name in ("MPI_Waitall", "MPI_Testall"):
            for i, request in enumerate(args["array_of_requests"] if args.get("flag", 1) else []):
                self.complete(call, request, at(args["array_of_statuses"], i), at(matched, i))
        elif name in ("MPI_Waitany", "MPI_Testany"):
            if args.get("flag", 1) and isinstance(args["index"], int) and args["index"] >= 0:
                one = matched[0] if isinstance(matched, list) else matched
                self.complete(call, args["array_of_requests"][args["index"]], status, one)
        elif name in ("MPI_Waitsome", "MPI_Testsome") and isinstance(args["array_of_indices"], list):
            for i, index in enumerate(args["array_of_indices"]):
                self.complete(call, args["array_of_requests"][index], at(args["array_of_statuses"], i), at(matched, i))


def expected(calls):
    """Arrows as messages.mjs prints them. Of programs whose communicators have all ranks in order."""
    ranks = collections.defaultdict(Rank)
    for call in sorted(calls, key=lambda c: (c["begin_ns"] or 0, place(c))):
        ranks[call["rank"]].see(call)
    sent = collections.defaultdict(list)
    for rank in ranks.values():
        for channel, begun in rank.sends:
            sent[channel].append(begun)
    out, unknown = [], 0
    for number, rank in ranks.items():
        for receive in rank.receives:
            # The limit of the analysis: what one thread asked for and another one completed. One that was cancelled
            # took nothing.
            if receive.is_wild and receive.is_there and receive.post[1] != receive.done[1]:
                unknown += 1
                continue
            channel = (receive.comm, receive.source, number, receive.tag)
            if receive.is_there and sent[channel]:
                out.append([*sent[channel].pop(0), *receive.post, *receive.done])
    return out, unknown


def check(options, folder, program, ranks, how, lacks):
    trace, page = os.path.join(folder, "run.rfn"), os.path.join(folder, "run.html")
    path = os.path.abspath(os.path.join(options.programs, program))
    outcome = mpirun.run_job(options.mpi, ranks, [path], wrapper=[options.refrain, "record", "-o", trace, *how],
                             cwd=folder, env={"REFRAIN_TEST_DIR": folder})
    if not os.path.exists(trace):
        return "no trace: %s" % outcome.stderr.decode()[-300:]
    subprocess.run([options.refrain, "report", trace, "-o", page], check=True, timeout=100)
    said = json.loads(subprocess.run([options.refrain, "report", trace, "--format", "json"], check=True, timeout=100,
                                     capture_output=True).stdout)["messages"]
    lines = subprocess.run([options.refrain, "dump", trace, "--format", "jsonl"], check=True, timeout=100,
                           capture_output=True).stdout.splitlines()
    done = subprocess.run(["node", str(HERE / "messages.mjs"), options.web, page], capture_output=True, timeout=100,
                          check=False)
    if done.returncode != 0:
        return done.stderr.decode()[-2000:]
    got = sorted(json.loads(line) for line in done.stdout.splitlines())
    wanted, unknown = expected(json.loads(line) for line in lines)
    wanted.sort()
    if "unordered" in lacks:
        wanted = []
    if {key: said[key] for key in lacks} != lacks or said["uncounted"] != said["listed"]:
        return "the page says %s" % said
    if said["unknown"] != unknown:
        return "%d are not known, not %d" % (said["unknown"], unknown)
    if got != wanted:
        return "%d arrows, not %d; more: %s; missing: %s" % (
            len(got), len(wanted), [m for m in got if m not in wanted][:4], [m for m in wanted if m not in got][:4])
    print("ok    %s on %d ranks, %s: %d arrows, %d of them listed" % (program, ranks, " ".join(how), len(got),
                                                                      said["listed"]), flush=True)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for word in ("--refrain", "--mpi", "--programs", "--libraries", "--web"):
        parser.add_argument(word, required=True)
    parser.add_argument("--shim", default="")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not mpirun.launcher(options.mpi) or shutil.which("node") is None:
        print("skip  no launcher for %s, or no node" % options.mpi)
        return 77
    options.refrain = os.path.abspath(options.refrain)
    os.environ["REFRAIN_YIELD_SHIM"] = os.path.abspath(options.shim) if options.shim else ""
    os.environ["REFRAIN_LIBRARY_PATH"] = options.libraries
    why = subprocess.run([options.refrain, "report", "/no/such.rfn", "-o", "/no/such.html"], capture_output=True,
                         timeout=60, check=False)
    if why.returncode == 5:
        print("skip  the build has no pages")
        return 77
    failed = 0
    for program, ranks, how, lacks in RUNS:
        if options.only and program != options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(options, folder, program, ranks, how, lacks)
        if wrong:
            failed += 1
            print("FAIL  %s on %d ranks, %s: %s" % (program, ranks, " ".join(how), wrong), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
