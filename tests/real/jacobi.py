#!/usr/bin/python3
"""A real mpi4py program in the small: heat on a rod, halos by buffers, results by pickled objects."""
import array

from mpi4py import MPI

CELLS, STEPS = 6, 50


def main():
    cart = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], periods=[False])
    left, right = cart.Shift(0, 1)
    cells = array.array("d", [0.0] * (CELLS + 2))
    if cart.rank == 0:
        cells[1] = 100.0
    for step in range(STEPS):
        requests = [cart.Irecv([memoryview(cells)[0:1], MPI.DOUBLE], source=left, tag=1),
                    cart.Irecv([memoryview(cells)[CELLS + 1:], MPI.DOUBLE], source=right, tag=2),
                    cart.Isend([memoryview(cells)[1:2], MPI.DOUBLE], dest=left, tag=2),
                    cart.Isend([memoryview(cells)[CELLS:CELLS + 1], MPI.DOUBLE], dest=right, tag=1)]
        MPI.Request.Waitall(requests)
        inner = [cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1])
                 for i in range(1, CELLS + 1)]
        cells[1:CELLS + 1] = array.array("d", inner)
        if step % 10 == 0:
            total = cart.allreduce(sum(inner), op=MPI.SUM)
    parts = cart.gather({"rank": cart.rank, "sum": round(sum(inner), 6)}, root=0)
    words = cart.bcast(["done", STEPS] if cart.rank == 0 else None, root=0)
    if cart.rank == 0:
        print(parts, words, round(total, 6))


main()
