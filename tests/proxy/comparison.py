"""Calls of a recorded run and of its proxy, side by side: function and parameters.

What may differ between any two runs is in CLOSED; what MPIs decide by their own right, where the proxy runs
on another one, stands under `is_across`.
"""
import json
import re

# Calls that only ask, of which a proxy leaves out those that no other call needs.
ASKS_ONLY = re.compile(r"^MPI_T_|_f2c$|_c2f$|^MPI_Status_(f2c|c2f|f08|f2f08|c2f08)|^MPI_Aint_(add|diff)$")
NO_PARTNER = {"source": "MPI_PROC_NULL", "tag": "MPI_ANY_TAG"}
# Memory of dynamic windows stands there: as attached_at() of refrain_proxy.h.
ATTACHED_AT, ATTACHED_SPAN = 1 << 45, 1 << 44

# What they answer follows from a number of the recorded MPI, which means something else in another one.
OF_ERROR_CODES = {"MPI_Error_class", "MPI_Error_string"}
ADDS_ERROR = {"MPI_Add_error_class", "MPI_Add_error_code"}
# Info texts of more characters than any MPI takes are cut (fitting() of refrain_proxy.h).
INFO_TEXTS, LEAST_CUT = {"key", "value"}, 31

# Parameters that a proxy does not repeat: addresses, paths, names, functions and what they are given.
CLOSED = {"argc", "argv", "filename", "baseptr", "base", "extra_state", "attribute_val", "buffer_addr", "address",
          "location", "name", "resultlen", "version", "processor", "port_name", "service_name"}
CLOSED_ENDS = ("_fn", "buf", "buffer", "_addr", "errhandler_fn")
COMPLETIONS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test", "MPI_Testall", "MPI_Testany",
               "MPI_Testsome", "MPI_Start", "MPI_Startall", "MPI_Cancel", "MPI_Request_free", "MPI_Pready",
               "MPI_Request_get_status", "MPI_Parrived", "MPI_Pready_range", "MPI_Pready_list"}
# Their requests may be others that do not end.
MASKED = {"MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome"}
# Threads may make objects in another order, and then their numbers are others. On another MPI they are others
# behind MPI_Comm_split_type, which there may put other ranks together.
OBJECT = re.compile(r"^(comm|group|win|file|datatype|op|info|errhandler|message|keyval)#\d+$")
# MPIs give the parts of a datatype out by one handle or several, where they are alike.
GIVES_TYPES_OUT = {"MPI_Type_get_contents", "MPI_Type_get_contents_c"}
BUFFER = re.compile(r"^(stack|data|heap|device|managed|pinned|unknown)(#\d+)?([+-]\d+)?$")
REQUEST = re.compile(r"^request#\d+$")
# Open MPI may give out one handle for several sends that are complete: which of them a call names is the
# recorder's guess.
SENDS = {"MPI_Isend", "MPI_Ibsend", "MPI_Irsend", "MPI_Issend", "MPI_Isend_c"}


class Failure(Exception):
    """One line that says what is wrong."""


class Comparison:
    """The calls of a rank, or of one of its threads, in the recorded run and in that of the proxy."""
    is_across = False  # the proxy runs on another MPI

    def __init__(self, rank, has_threads=False):
        self.rank, self.requests, self.has_threads, self.objects = rank, {}, has_threads, {}
        self.made_by, self.made_again_by = {}, {}  # request -> call
        self.cancelled = set()  # requests, by MPI_Cancel
        self.remade = set()  # objects that may have been made past the recorder
        self.errors = {}  # numbers of classes and codes that the program adds

    def value(self, call, name, was, now):
        if name in CLOSED or name.endswith(CLOSED_ENDS) or was is None:  # None: it meant nothing there
            return True
        if isinstance(was, str) and isinstance(now, str):
            if REQUEST.match(was) and REQUEST.match(now):
                if call not in COMPLETIONS:
                    self.requests[was] = now
                    self.cancelled.discard(was)
                    self.made_by[was] = self.made_again_by[now] = call
                    return True
                are_sends = self.made_by.get(was) in SENDS and self.made_again_by.get(now) in SENDS
                return self.requests.get(was, now) == now or are_sends
            if (self.has_threads or self.is_across) and OBJECT.match(was) and OBJECT.match(now):
                if name.startswith("new"):
                    self.objects[was] = {now}
                elif name == "array_of_datatypes" and call in GIVES_TYPES_OUT:
                    self.objects.setdefault(was, set()).add(now)
                return now in self.objects.get(was, {now})
            if self.is_across and name in INFO_TEXTS and len(now) >= LEAST_CUT and was.startswith(now):
                return True
            if BUFFER.match(was) and BUFFER.match(now):
                return True
            if was in ("MPI_ANY_SOURCE", "MPI_ANY_TAG"):
                return True
            if REQUEST.match(was) and was not in self.made_by and now == "MPI_REQUEST_NULL":
                return True  # a filter left out the call that made it
        if self.is_across and now is None and isinstance(was, str) and was in self.remade:
            return True
        if self.is_across and name in ("errorclass", "errorcode") and isinstance(was, int):
            if call in ADDS_ERROR and was not in self.errors:
                self.errors[was] = now
            return self.errors.get(was, was) == now
        if was in ("MPI_ANY_SOURCE", "MPI_ANY_TAG") and name in ("source", "tag", "recvtag"):
            return True
        if name == "target_disp" and isinstance(was, int) and now == ATTACHED_AT | was % ATTACHED_SPAN:
            return True
        if isinstance(was, list) and isinstance(now, list):
            return len(was) == len(now) and all(self.value(call, name, a, b) for a, b in zip(was, now))
        if isinstance(was, dict) and isinstance(now, dict):
            if self.is_across and NO_PARTNER in (was, now):
                return True  # MPICH leaves the status of such a receive as it was
            return was.keys() == now.keys() and all(self.value(call, "", was[k], now[k]) for k in was)
        return was == now

    def has_cancelled(self, call):
        """Whether it names a request that was cancelled."""
        named = call["args"].get("request"), *(call["args"].get("array_of_requests") or ())
        return any(isinstance(one, str) and one in self.cancelled for one in named)

    def call(self, was, now):
        if was["call"] != now["call"]:
            raise Failure("rank %d call %d was %s and is %s" % (self.rank, was["seq"], was["call"], now["call"]))
        name = was["call"]
        if name == "MPI_Cancel":
            self.cancelled.add(was["args"]["request"])
        if name == "MPI_Comm_split_type":
            self.remade.add(was["args"]["newcomm"])
        failed_test = was["args"].get("flag") in (0, False)
        for key, value in was["args"].items():
            if key in ("array_of_requests", "request") and (name in MASKED or failed_test):
                continue
            if key == "string" and name == "MPI_Error_string":
                continue  # of a code that another run gave: its text may hold addresses
            if key in ("required", "provided") and self.has_threads:
                continue  # a proxy's threads do not take turns
            if key == "tag" and failed_test:
                continue  # of a probe: one that no message has
            if self.is_across and key.endswith(("status", "statuses")) and self.has_cancelled(was):
                continue  # undefined but for MPI_Test_cancelled (MPI 4.1, section 3.7.3)
            if self.is_across and name in OF_ERROR_CODES and key != "errorcode":
                continue
            if not self.value(name, key, value, now["args"].get(key)):
                raise Failure("rank %d call %d, %s: %s was %s and is %s" % (
                    self.rank, was["seq"], name, key, json.dumps(value)[:120],
                    json.dumps(now["args"].get(key))[:120]))


def is_left_out(call):
    has_failed = call.get("error") is not None or call.get("error_class") is not None
    is_about_mpis_own = call["args"].get("comm", "") is None  # a communicator that no call has made
    return has_failed or is_about_mpis_own or ASKS_ONLY.search(call["call"]) or call["call"].startswith("refrain_")


def compare_calls(rank, was, now, has_threads=False):
    comparison = Comparison(rank, has_threads)
    for a, b in zip(was, now):
        comparison.call(a, b)
    if len(was) != len(now):
        raise Failure("rank %d made %d calls, and the proxy %d" % (rank, len(was), len(now)))


def compare_threads(rank, was, now):
    """Threads are numbered by their first calls, and may begin in another order."""
    left = list(now)
    for thread in sorted(was):
        failures = []
        for candidate in sorted(left, key=lambda t: (t != thread, t)):
            try:
                compare_calls(rank, was[thread], now[candidate], True)
                left.remove(candidate)
                break
            except Failure as e:
                failures.append(str(e))
        else:
            raise Failure("no thread of the proxy is as thread %d: %s" % (thread, failures[0] if failures else ""))
    if left:
        raise Failure("rank %d has %d more threads" % (rank, len(left)))


def compare(before, after):
    ranks = {}
    for lines, which in ((before, 0), (after, 1)):
        for call in lines:
            if which == 0 and is_left_out(call):
                continue
            if call["call"] == "MPI_Win_test" and call["args"]["flag"] in (0, False):
                continue  # how often it is asked in vain is a matter of time
            ranks.setdefault(call["rank"], ({}, {}))[which].setdefault(call.get("thread", 0), []).append(call)
    for rank, (was, now) in sorted(ranks.items()):
        if len(was) == 1 and len(now) == 1:
            compare_calls(rank, *was.values(), *now.values())
        else:
            compare_threads(rank, was, now)
