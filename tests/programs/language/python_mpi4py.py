#!/usr/bin/python3
"""An mpi4py program. mpi4py makes calls of its own around these, so the log holds only functions
that it does not use by itself, and the comparison looks at those functions only."""
import array
import json
import os
import sys

from mpi4py import MPI

BASE = os.environ.get("REFRAIN_TEST_LOG")
RANK_TEXT = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
LOG = open(BASE + "." + RANK_TEXT, "w") if BASE else None


def done(call, freed=(), **args):
    if LOG:
        line = {"call": call, "args": args}
        if freed:
            line["freed"] = list(freed)
        LOG.write(json.dumps(line) + "\n")


def status(s):
    return {"source": s.Get_source(), "tag": s.Get_tag()}


def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    to, back = (rank + 1) % size, (rank - 1) % size
    out, into = array.array("i", [rank] * 4), array.array("i", [0] * 4)
    for tag in range(3):
        state = MPI.Status()
        receive = world.Irecv([into, 4, MPI.INT], source=back, tag=tag)
        done("MPI_Irecv", count=4, datatype="MPI_INT", source=back, tag=tag, comm="MPI_COMM_WORLD",
             request="@in")
        world.Ssend([out, 4, MPI.INT], dest=to, tag=tag)
        done("MPI_Ssend", count=4, datatype="MPI_INT", dest=to, tag=tag, comm="MPI_COMM_WORLD")
        receive.Wait(state)
        done("MPI_Wait", request="@in", status=status(state), freed=["@in"])
        assert into[0] == back
    total = array.array("i", [0])
    world.Allreduce([array.array("i", [rank]), 1, MPI.INT], [total, 1, MPI.INT], op=MPI.SUM)
    done("MPI_Allreduce", count=1, datatype="MPI_INT", op="MPI_SUM", comm="MPI_COMM_WORLD")
    assert total[0] == size * (size - 1) // 2
    world.Barrier()
    done("MPI_Barrier", comm="MPI_COMM_WORLD")
    twin = world.Dup()
    done("MPI_Comm_dup", comm="MPI_COMM_WORLD", newcomm="@@twin")
    half = twin.Split(color=rank % 2, key=0)
    alias = "@@half%d" % (rank % 2)
    done("MPI_Comm_split", comm="@@twin", color=rank % 2, key=0, newcomm=alias)
    half.Barrier()
    done("MPI_Barrier", comm=alias)
    half.Free()
    done("MPI_Comm_free", comm=alias, freed=[alias])
    twin.Free()
    done("MPI_Comm_free", comm="@@twin", freed=["@@twin"])
    # Pickled objects: the receiver probes for the size, then receives a matched message.
    if rank == 0:
        for other in range(1, size):
            got = world.recv(source=other, tag=50)
            assert got == {"from": other}
    else:
        world.send({"from": rank}, dest=0, tag=50)
    kind = MPI.INT.Create_vector(2, 1, 3)
    done("MPI_Type_vector", count=2, blocklength=1, stride=3, oldtype="MPI_INT", newtype="@kind")
    kind.Commit()
    done("MPI_Type_commit", datatype="@kind")
    kind.Free()
    done("MPI_Type_free", datatype="@kind", freed=["@kind"])
    sys.stdout.write("rank %d of %d done\n" % (rank, size))
    if LOG:
        LOG.flush()


main()
