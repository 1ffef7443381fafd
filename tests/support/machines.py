"""One machine, described for SimGrid (a cluster) and for the simulator (machine file): topologies, links, latencies.

A message has the latency of the links between two neighbours (two, one in a torus) and what `hop` adds for each further
one, as SimGrid has it, whose links all have one latency. SimGrid takes the first of parallel cables only: there are
none. A message of a rank to itself is as long as one to a neighbour and takes no link of the network: SimGrid is given
a loopback for it, without which it takes the links of the node, and other messages wait.
"""
import os

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-%d" speed="10Gf" bw="%gBps" lat="%gs" loopback_bw="%gBps"
           loopback_lat="%gs" %s/>
</platform>
"""
MACHINE = """version = 1
[distance.switch]
eager_limit = %(limit)d
overlap = 1.0
unexpected_copy = 0
unexpected_copy_per_byte = 0
[[distance.switch.range]]
up_to = %(limit)d
L = %(latency)s
o_send = %(send)s
o_recv = %(receive)s
g = 0
G = %(per_byte)s
handshake = 0
[[distance.switch.range]]
L = %(latency)s
o_send = 0
o_recv = 0
g = 0
G = %(per_byte)s
handshake = 0
[topology]
%(topology)s
link_bandwidth = %(bandwidth)g
hop_latency = %(hop)s
header = %(header)d
sharing = "by_hops"
"""
# Of messages: the network alone, and what SMPI is told of it (the limit and overheads are added).
HEADER = 16  # bytes that SMPI sends with each message
SETTINGS = ("smpi/simulate-computation:no", "network/TCP-gamma:1e12", "network/crosstraffic:0", "smpi/wtime:0",
            "smpi/test:0", "smpi/iprobe:0", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1")
FAT_TREES = {4: (2, 2), 8: (2, 4), 9: (3, 3), 16: (4, 4), 32: (4, 8), 36: (6, 6), 64: (8, 8), 128: (8, 16),
             144: (12, 12), 256: (16, 16), 512: (16, 32), 1024: (32, 32)}
TORI = {4: (2, 2), 8: (2, 2, 2), 9: (3, 3), 16: (4, 4), 32: (4, 4, 2), 36: (6, 6), 64: (4, 4, 4), 128: (8, 4, 4),
        144: (6, 6, 4), 256: (8, 8, 4), 512: (8, 8, 8), 1024: (16, 8, 8)}


def listed(sides):
    return ",".join(str(side) for side in sides)


def topology(kind, places):
    """SimGrid's attributes of a cluster, and our table."""
    if kind == "fat_tree":
        down = FAT_TREES[places]
        return ('topology="FAT_TREE" topo_parameters="2;%s;1,4;1,1"' % listed(down),
                'kind = "fat_tree"\ndown = [%s]\nup = [1, 4]\nparallel = [1, 1]' % listed(down))
    if kind == "torus":
        return ('topology="TORUS" topo_parameters="%s"' % listed(TORI[places]),
                'kind = "torus"\ndimensions = [%s]' % listed(TORI[places]))
    if kind == "dragonfly":
        return ('topology="DRAGONFLY" topo_parameters="4,1;1,1;4,1;%d"' % (places // 16),
                'kind = "dragonfly"\ngroups = 4\nrouters = 4\nnodes_per_router = %d' % (places // 16))
    return "", 'kind = "crossbar"\nnodes = %d' % places


class Machine:
    """`overheads`: of sender and receiver of a message that does not wait, ns. `spread`: half an interval of 95 %."""

    def __init__(self, kind, places, link_latency_ns=5000, bandwidth=1e9, limit=65536, overheads=(0, 0), spread=0):
        self.kind, self.places, self.link_latency_ns, self.bandwidth = kind, places, link_latency_ns, bandwidth
        self.limit, self.overheads, self.spread = limit, overheads, spread

    def settings(self):
        send, receive = ("0:%g:0" % (ns * 1e-9) for ns in self.overheads)
        return SETTINGS + ("smpi/send-is-detached-thresh:%d" % self.limit, "smpi/async-small-thresh:%d" % self.limit,
                           "smpi/os:" + send, "smpi/ois:" + send, "smpi/or:" + receive)

    def parameter(self, value):
        if self.spread == 0 or value == 0:
            return "%g" % value
        return "{ value = %g, low = %g, high = %g }" % (value, value * (1 - self.spread), value * (1 + self.spread))

    def write(self, folder, more=""):
        """Paths of the platform, its hosts, and the machine file, with `more` at its end."""
        theirs, ours = topology(self.kind, self.places)
        paths = [os.path.join(folder, "%s-%d%s" % (self.kind, self.places, end)) for end in (".xml", ".hosts", ".toml")]
        links = 1 if self.kind == "torus" else 2
        values = {"limit": self.limit - 1, "latency": self.parameter(links * self.link_latency_ns), "header": HEADER,
                  "send": self.parameter(self.overheads[0]), "receive": self.parameter(self.overheads[1]),
                  "per_byte": self.parameter(1e9 / self.bandwidth), "topology": ours, "bandwidth": self.bandwidth,
                  "hop": self.parameter(self.link_latency_ns)}
        of_links = (self.bandwidth, self.link_latency_ns * 1e-9, self.bandwidth, links * self.link_latency_ns * 1e-9)
        texts = (PLATFORM % (self.places - 1, *of_links, theirs),
                 "".join("h%d\n" % i for i in range(self.places)), MACHINE % values + more)
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return paths


def smpirun(platform, hosts, ranks, settings, recorder=()):
    """The launcher's words before the program."""
    line = ["smpirun", "-quiet", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
            "--log=root.thresh:critical", "--cfg=smpi/privatization:mmap"]
    line += ["--cfg=" + setting for setting in settings]
    return line + (["-wrapper", " ".join(recorder)] if recorder else [])
