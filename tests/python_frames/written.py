"""What a program says of its own call paths: write(call) right before a call in the same line of the caller."""
import json
import sys

rank, kDepth = 0, 8
file = None


def begin(world_rank):
    global rank, file
    rank = world_rank
    file = open("%s.%d" % (sys.argv[1], rank), "w", encoding="utf-8")


def write(call, **more):
    """Steps outermost first, as far as a path goes. `more` is for the test."""
    frame, path = sys._getframe(1), []
    while frame is not None and len(path) < kDepth:
        code = frame.f_code
        path.insert(0, ["%s:%d" % (code.co_filename.split("/")[-1], frame.f_lineno), code.co_name])
        frame = frame.f_back
    file.write(json.dumps({"rank": rank, "call": call, "path": path, **more}) + "\n")
    file.flush()


def note(what):
    """Something else for the test."""
    file.write(json.dumps(what) + "\n")
    file.flush()
