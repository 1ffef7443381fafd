#!/usr/bin/env python3
"""Draws the patterns of docs/waits.md: docs/pictures/waits.txt to one SVG of each.

usage: wait_pictures.py TEXT FOLDER [--check]

--check writes nothing and fails where a file of FOLDER is not what the text says.
"""

import pathlib
import sys
from html import escape

WIDTH, LEFT, ROW, TOP, SCALE = 560, 64, 46, 40, 5.6
COLOURS = {"call": "#9db7d5", "wait": "#d9534f", "line": "#8a8a8a", "text": "#333333"}


def pictures(text):
    """(name, title, calls); a call: (rank, function, argument, begin, end, wait or None)."""
    out = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "picture":
            out.append((words[1], " ".join(words[2:]), []))
            continue
        wait = (words[5], int(words[6]), int(words[7])) if len(words) > 5 else None
        out[-1][2].append((int(words[0]), words[1], words[2], int(words[3]), int(words[4]), wait))
    return out


def x_of(time):
    return LEFT + SCALE * time


def box(begin, end, rank, kind):
    return (f'<rect x="{x_of(begin):.1f}" y="{TOP + ROW * rank + 8}" width="{max(SCALE * (end - begin), 3):.1f}" '
            f'height="20" fill="{COLOURS[kind]}"/>')


def svg(title, calls):
    ranks = 1 + max(call[0] for call in calls)
    height = TOP + ROW * ranks + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" fill="{COLOURS["text"]}">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>']
    for rank in range(ranks):
        y = TOP + ROW * rank + 18
        out.append(f'<text x="10" y="{y + 4}">rank {rank}</text>')
        out.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - 10}" y2="{y}" stroke="{COLOURS["line"]}"/>')
    for rank, function, argument, begin, end, wait in calls:
        out.append(box(begin, end, rank, "call"))
        if wait:
            out.append(box(wait[1], wait[2], rank, "wait"))
        label = function[4:] + (f"({argument})" if argument != "-" else "()")
        out.append(f'<text x="{x_of(begin):.1f}" y="{TOP + ROW * rank + 40}" font-size="10">{escape(label)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    text, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wrong = 0
    for name, title, calls in pictures(text.read_text(encoding="utf-8")):
        path, drawn = folder / f"{name}.svg", svg(title, calls)
        if "--check" not in sys.argv:
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            print(f"{path} is not what {text} says: run tools/gen/wait_pictures.py {text} {folder}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
