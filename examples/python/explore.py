#!/usr/bin/env python3
"""A first look at a trace, as one would take it in a notebook.

    PYTHONPATH=build/release/python python3 examples/python/explore.py run.rfn
"""

# %% Open it
import sys

import refrain

trace = refrain.open(sys.argv[1])
print(trace)
print(trace.info["command"])

# %% Where does the time go?
functions = trace.profile().functions
for row in functions[:5]:
    print("%-16s %8d calls %10.3f ms %12d bytes" % (row["call"], row["count"], row["time_ns"] / 1e6, row["bytes"]))

# %% Who sends to whom? Rows are senders.
matrix = trace.matrix()
partners = (matrix["messages"] > 0).sum(axis=1)
print("partners of a rank: %d to %d" % (partners.min(), partners.max()))

# %% The calls of rank 0, and what they were asked to do
for call in trace.calls(rank=0, last=5):
    print(call.seq, call.name, call.args, "at", call.site or "?")

# %% What repeats: the loops that the recorder found
print(trace.grammar(rank=0))

# %% Who waits, if the trace has times
if trace.has_times:
    waits = trace.waits()
    print(waits.patterns)
    print("parallel efficiency %.2f" % waits.efficiency["parallel"])
    timeline = trace.timeline()
    longest = (timeline["end_ns"] - timeline["begin_ns"]).argmax()
    print("longest call:", timeline.functions[int(timeline["call"][longest])], "of rank", timeline["rank"][longest])
