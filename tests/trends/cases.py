"""The cases of tests/programs/trends: what waits, where, and for how long, from what the ranks worked.

Every iteration ends where all ranks are together (but early_gather's, whose root is never ahead), so what
each of them waits in it follows from the work of that iteration alone: nothing of Refrain's is asked.
"""
import collections

Case = collections.namedtuple("Case", "name program ranks pattern call expected")


def root_waits(work):
    """The last one's part keeps the root waiting."""
    return {0: sum(max(0, max(w[1:]) - w[0]) for w in work)}


def last_keeps_all(work):
    return {r: sum(max(w) - w[r] for w in work) for r in range(len(work[0]))}


def root_keeps_all(work):
    return {r: sum(max(0, w[0] - w[r]) for w in work) for r in range(1, len(work[0]))}


def receivers_wait(work):
    """Even ranks send to the next one."""
    return {r: sum(max(0, w[r - 1] - w[r]) for w in work) for r in range(1, len(work[0]), 2)}


def senders_wait(work):
    return {r: sum(max(0, w[r + 1] - w[r]) for w in work) for r in range(0, len(work[0]) - 1, 2)}


def sweep(shape):
    """Blocks go through the mesh from each corner twice; a rank waits for its neighbour upstream in x and
    then for the one in y. Each block of an iteration takes the same share of its work."""
    corners, halves, blocks = 4, 2, 10

    def waits(work):
        waited = collections.Counter()
        for w in work:
            now = [0.0] * len(w)
            for corner in range(corners):
                dx, dy = 1 if corner & 1 else -1, 1 if corner & 2 else -1
                ranks = [(x, y) for x in range(shape[0])[::dx] for y in range(shape[1])[::dy]]
                for _ in range(halves * blocks):
                    sent = {}
                    for x, y in ranks:
                        r = x * shape[1] + y
                        for upstream in ((x - dx, y), (x, y - dy)):
                            wait = max(0, sent.get(upstream, 0) - now[r])
                            waited[r] += wait
                            now[r] += wait
                        now[r] += w[r] / (corners * halves * blocks)
                        sent[x, y] = now[r]
        return waited

    return waits


KINDS = {  # pattern, function, ns by rank out of ns of work [iteration][rank]
    "nto1": ("early_reduce", "MPI_Gather", root_waits),
    "nton": ("wait_at_barrier", "MPI_Barrier", last_keeps_all),
    "1ton": ("late_broadcast", "MPI_Bcast", root_keeps_all),
    "1to1r": ("late_sender", "MPI_Recv", receivers_wait),
    "1to1s": ("late_receiver", "MPI_Ssend", senders_wait),
}

CASES = [
    Case("early_gather", "regular", 8, "early_reduce", "MPI_Gather", root_waits),
    Case("imbalance_at_barrier", "regular", 8, "wait_at_barrier", "MPI_Barrier", last_keeps_all),
    Case("late_receiver", "regular", 8, "late_receiver", "MPI_Ssend", senders_wait),
    Case("late_sender", "regular", 8, "late_sender", "MPI_Recv", receivers_wait),
    Case("late_broadcast", "regular", 8, "late_broadcast", "MPI_Bcast", root_keeps_all),
] + [Case("%s_%d" % (kind, nodes), "interference", 32, *KINDS[kind]) for nodes in (32, 1024)
     for kind in ("nto1", "nton", "1ton", "1to1r", "1to1s")] + [
    Case("dyn_load_balance", "dynamic", 8, "wait_at_nxn", "MPI_Alltoall", last_keeps_all),
    Case("sweep_8p", "sweep", 8, "late_sender", "MPI_Recv", sweep((4, 2))),
    Case("sweep_32p", "sweep", 32, "late_sender", "MPI_Recv", sweep((8, 4))),
]

# Interference of fewer nodes, and more ranks of the sweep: no kind of wait that the others have not.
REST = {"%s_32" % kind for kind in KINDS} | {"sweep_32p"}

# Not of the thesis: who computes where is another thing in each iteration, and hardly anybody waits.
SWAPPED = Case("swapped", "swapped", 2, None, None, None)
