"""The page of bench/trends.py: what an analyst would see of each rebuilt trace, method by method (the figures 21 and
22 of Mohror's thesis), and the charts of the threshold study. One file, no script.

A severity chart has a row for the exact trace and one for each method, a column for each trend, and in it a box for
each rank, as dark as the rank's time is long in parts of the longest of a rank in the exact trace.
"""

import html
import math

import trends_thresholds as thresholds

LEVELS = 8  # of darkness; one more for what is longer than the longest of the exact trace
MOST_COLUMNS = 8
BOX = 9
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #68707a; --edge: #8a929b; --good: #1a7f37;
  --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15181c; --faint: #9aa3ad; --edge: #6b737c;
  --good: #57ab5a; --bad: #f47067; } }
body { font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { padding: 2px 10px 2px 0; text-align: left; vertical-align: middle; white-space: nowrap; font-weight: normal; }
th, .faint { color: var(--faint); }
tr.exact td { border-bottom: 1px solid var(--edge); }
.good { color: var(--good); } .bad { color: var(--bad); }
svg { vertical-align: middle; } svg text { fill: var(--ink); font-size: 11px; }
path { stroke: var(--edge); stroke-width: 1; }
.line { fill: none; stroke: #2f6fb3; stroke-width: 2; } circle { fill: #2f6fb3; } .axis { stroke: var(--edge); }
""" + "\n".join(f".l{i} {{ fill: hsl(212 60% {96 - 9 * i}%); }}" for i in range(LEVELS + 1)) + \
    f"\n.l{LEVELS + 1} {{ fill: #b42318; }}"


def escape(text):
    return html.escape(str(text))


def level_of(seconds, longest):
    """0: next to nothing; LEVELS + 1: over the longest of the exact trace by more than the tolerance of a rank."""
    if longest <= 0:
        return 0 if seconds <= 0 else LEVELS + 1
    return LEVELS + 1 if seconds > 1.15 * longest else min(LEVELS, round(LEVELS * seconds / longest))


def boxes(by_rank, ranks, longest):
    """A box for each rank, those of a colour as one path."""
    paths = {}
    for rank in range(ranks):
        level = level_of(by_rank.get(rank, 0), longest)
        paths.setdefault(level, []).append(f"M{rank * BOX + .5} .5h{BOX - 1}v{BOX + 2}h-{BOX - 1}z")
    drawn = "".join(f'<path class="l{level}" d="{"".join(d)}"/>' for level, d in sorted(paths.items()))
    return f'<svg width="{ranks * BOX + 1}" height="{BOX + 4}" role="img">{drawn}</svg>'


def key_of(trend):
    return trend["name"], trend["call"], tuple(trend["path"])


def columns_of(rows):
    """Trends of any of these verdicts, by measure; those that take most."""
    found = {}
    for row in rows:
        for trend in row["trends"]:
            longest = max(trend["seconds"], trend["rebuilt_seconds"])
            if key_of(trend) not in found or longest > found[key_of(trend)][0]:
                found[key_of(trend)] = longest, trend
    most = sorted(found.values(), key=lambda pair: -pair[0])[:MOST_COLUMNS]
    order = ["wait", "computation", "mpi"]
    return [trend for _, trend in sorted(most, key=lambda pair: (order.index(pair[1]["measure"]), -pair[0]))]


def severity_cell(trend, which, ranks, longest, exact):
    if trend is None:
        return '<td class="faint">no trend</td>'
    by_rank = {r["rank"]: r[which] for r in trend["ranks"]}
    total = sum(by_rank.values())
    if exact:
        note = f"{total:.3g} s"
    else:
        note = f"{100 * (total / trend['seconds'] - 1):+.1f} %" if trend["seconds"] > 0 else f"{total:.3g} s"
    colour = "" if exact or trend["kept"] else ' class="bad"'
    title = "" if exact else (f' title="rank {trend["worst_rank"]} differs most: {trend["worst_rank_seconds"]:.4g} s, '
                              f'here {trend["worst_rank_rebuilt_seconds"]:.4g} s"')
    return f"<td{title}>{boxes(by_rank, ranks, longest)} <span{colour}>{note}</span></td>"


def severity_chart(case, ranks, scope, verdicts):
    """`verdicts`: methods in the order of the rows, and what was said of them."""
    columns = columns_of(verdicts)
    keys = [key_of(c) for c in columns]
    exact, longest = {}, {}
    for row in verdicts:
        for trend in row["trends"]:
            exact.setdefault(key_of(trend), trend)
            longest[key_of(trend)] = max((r["seconds"] for r in trend["ranks"]), default=0)
    pattern_of = {"wait": "{name} in {call}", "computation": "{name}", "mpi": "{name}"}
    heads = "".join(f"<th>{escape(pattern_of[c['measure']].format(**c))}</th>" for c in columns)
    lines = [f"<h3>{escape(case)}, {escape(scope)}</h3><div class='wide'><table><tr><th></th>{heads}<th></th></tr>",
             "<tr class='exact'><td>exact</td>" +
             "".join(severity_cell(exact[k], "seconds", ranks, longest[k], True) for k in keys) + "<td></td></tr>"]
    for row in verdicts:
        trends = {key_of(t): t for t in row["trends"]}
        cells = "".join(severity_cell(trends.get(k), "rebuilt_seconds", ranks, longest[k], False) for k in keys)
        verdict = '<span class="good">retained</span>' if row["retained"] else \
            f'<span class="bad">{escape(row["lost"])}</span>'
        lines.append(f"<tr><td>{escape(row['method'])}</td>{cells}<td>{verdict}</td></tr>")
    return "\n".join(lines) + "</table></div>"


def line_chart(title, xs, ys, top, chosen, unit):
    """Thresholds at equal distances, as the thesis's grow."""
    width, height, left, right, bottom = 290, 90, 46, 20, 18
    step = (width - left - right) / max(1, len(xs) - 1)
    at = [(left + i * step, 14 + (height - bottom - 14) * (1 - y / top if top > 0 else 1)) for i, y in enumerate(ys)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if t == chosen else 2.5}"><title>{t:g}: {v:.4g} {unit}'
                   f"</title></circle>" for (x, y), t, v in zip(at, xs, ys))
    labels = "".join(f'<text x="{x:.1f}" y="{height - 4}" text-anchor="middle">{label(t)}</text>'
                     for (x, _), t in zip(at, xs))
    return (f'<svg width="{width}" height="{height}" role="img" aria-label="{escape(title)}">'
            f'<line class="axis" x1="{left}" x2="{width}" y1="{height - bottom}" y2="{height - bottom}"/>'
            f'<text x="0" y="18">{top:.3g}</text><text x="0" y="{height - bottom}">0</text>'
            f'<polyline class="line" points="{line}"/>{dots}{labels}</svg>')


def label(threshold):
    power = round(math.log10(threshold), 9)
    return f"1e{power:.0f}" if threshold >= 1000 and power == int(power) else f"{threshold:g}"


def threshold_charts(study):
    lines = ["<h2>Thresholds</h2><p>Of each method, by threshold (absDiff: in µs; iter_k: how many are kept). The "
             "large dot is the thesis's choice; of auto, the first one tried.</p>"]
    measures = [("trends retained, cases", study.right, "cases"),
                ("mean size, % of the exact trace", study.percent, "%"),
                ("median approximation distance, µs", study.distance_us, "µs")]
    for scope in thresholds.SCOPES:
        heads = "".join(f"<th>{name}</th>" for name, _, _ in measures)
        lines.append(f"<h3>{scope}</h3><div class='wide'><table><tr><th></th>{heads}</tr>")
        for method in thresholds.methods_of(scope):
            xs = thresholds.thresholds_of(scope, method)
            cells = ""
            for name, of, unit in measures:
                ys = [of(scope, method, t) for t in xs]
                top = len(study.cases) if unit == "cases" else max([*ys, 100 if unit == "%" else 0])
                chart = line_chart(f"{method}: {name}", xs, ys, top, thresholds.CHOSEN[scope].get(method), unit)
                cells += f"<td>{chart}</td>"
            lines.append(f"<tr><td>{method}</td>{cells}</tr>")
        lines.append("</table></div>")
    return "\n".join(lines)


def page(charts, study=None):
    """`charts`: case, ranks, scope, verdicts."""
    parts = ["<!doctype html><html lang='en'><meta charset='utf-8'>",
             "<meta name='viewport' content='width=device-width'>",
             f"<title>Trends by method</title><style>{STYLE}</style><h1>What reduced traces keep of the trends</h1>"]
    if study is not None:
        parts.append(threshold_charts(study))
    parts.append("<h2>Severities by method</h2><p>A box for each rank: the darker, the longer, in parts of the longest "
                 "of a rank in the exact trace; red: longer than that by more than 15 %. Beside it how much longer all "
                 "ranks together are than in the exact trace; in red where the trend is lost.</p>")
    parts += [severity_chart(*chart) for chart in charts]
    return "\n".join(parts) + "</html>\n"
