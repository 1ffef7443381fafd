#!/usr/bin/python3
"""Where the time went, as a picture: plot.py run.rfn picture.png. Wants pandas and matplotlib."""
import sys

import matplotlib.pyplot as plt

import refrain

trace = refrain.open(sys.argv[1])
functions = trace.profile().functions.to_pandas().nlargest(10, "time_ns")
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
left.barh(functions["call"], functions["time_ns"] / 1e9)
left.set_xlabel("seconds, all ranks")
image = right.imshow(trace.matrix()["bytes"])
right.set(xlabel="to rank", ylabel="from rank")
figure.colorbar(image, label="bytes")
figure.tight_layout()
figure.savefig(sys.argv[2])
