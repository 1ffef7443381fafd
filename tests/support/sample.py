"""Which cases of a manifest the normal run of the tests takes; `./dev test --all` takes every one.

Every program runs on every MPI. What else a manifest has is divided among the MPIs:
- Of several numbers of ranks, the first MPI takes the first and the others the last.
- Further ways to run a program (arguments, options of `record`) are for the first MPI: what they are about
  is in the recorder and looks the same on every MPI. One that the manifest has for some MPIs only runs on these.
So each program runs on each MPI, each way to run one occurs somewhere, and a program's smallest and largest number
of ranks do where there are two MPIs.
tools/gen/tested.py counts the functions of these cases only; sample_test.py checks the rest.
"""

PARTS = ("first", "other")


def in_sample(entries, part):
    """(entry, ranks) of the sample; `entries` are those that this MPI runs. `part` is "first" for the first MPI of
    the build and "other" for the others."""
    seen = set()
    for entry in entries:
        again = entry["name"] in seen
        seen.add(entry["name"])
        if part == "first":
            yield entry, entry["ranks"][0]
        elif not again or "mpi" in entry:
            yield entry, entry["ranks"][-1]


def cases(entries, part=None, rest=False):
    """(entry, ranks) of the sample, or with `rest` of everything else; of all without `part`."""
    chosen = list(in_sample(entries, part)) if part else []
    if part and not rest:
        return chosen
    return [(entry, ranks) for entry in entries for ranks in entry["ranks"]
            if not any(entry is e and ranks == r for e, r in chosen)]
