#!/usr/bin/python3
"""refrain report --format latex: the document, and with --pdf what latexmk makes of it (exit status 77: no TeX).

    latex.py --refrain build/refrain --maker build/tests/report/report_trace --corpus tests/corpus [--pdf]
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import common
from common import FAILED, GOOD, INCOMPLETE, USAGE, Folder, refrain

kMostBytes = 1_000_000
kMostOverfull_pt = 5
kLeastFullPages = 15  # of a job that calls six functions
kColours = pathlib.Path(__file__).resolve().parents[2] / "web/src/colours.js"


class Documents(Folder):
    def document(self, *traces, status=GOOD, name="report.tex", words=()):
        out = self.path(name)
        done = refrain("report", *traces, "--format", "latex", "-o", out, *words)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        with open(out, encoding="ascii") as file:
            return file.read()


def commands(text):
    return set(re.findall(r"\\(?:[A-Za-z@]+|.)", text, flags=re.S))


class Text(Documents):
    def test_names_are_only_text(self):
        # A hostile trace has no command in its document that those of harmless ones do not have.
        known = set()
        for words in (("halo", 8, 8, 5, "exact"), ("halo", 1, 1, 0, "none"), ("halo", 1, 2, 3, "exact")):
            known |= commands(self.document(self.make(*words), name="-".join(map(str, words)) + ".tex"))
        known |= commands(self.document(self.corpus("heat-1.2-exact.rfn"), name="heat.tex"))
        text = self.document(self.make("hostile"), status=INCOMPLETE)
        self.assertEqual(commands(text) - known, {"\\textbullet"})  # of the box that says what is missing
        self.assertEqual(re.findall(r"\\(?:write|input|csname|openout)|\^\^|/etc/passwd|<img|onerror=", text), [])
        self.assertEqual(len(re.findall(r"\\end\{document\}", text)), 1)
        self.assertTrue(text.endswith("\\end{document}\n"))
        self.assertIn("\\rfwarning{\\textbf{This trace is incomplete", text)

    def test_is_bounded(self):
        for words in (("halo", 64, 64, 3, "exact"), ("halo", 8, 8, 2000, "none"), ("halo", 30, 170, 1, "none")):
            text = self.document(self.make(*words), name="-".join(map(str, words)) + ".tex")
            self.assertLess(len(text), kMostBytes, words)
            self.assertLess(text.count("\\rfcell{"), 60_000, words)
            self.assertLess(text.count("\\tabularnewline"), 300, words)

    def test_colours_are_those_of_the_page(self):
        text = self.document(self.corpus("heat-1.2-exact.rfn")).lower()
        script = kColours.read_text(encoding="utf-8")
        classes = re.search(r"kClasses = \[''(.*?)\]", script, flags=re.S).group(1)
        amounts = re.findall(r"#([0-9a-f]{6})", re.search(r"kCividis = \[(.*?)\]", script, flags=re.S).group(1))
        for i, colour in enumerate(re.findall(r"#([0-9a-f]{6})", classes), 1):
            self.assertIn("\\definecolor{rfclass%d}{html}{%s}" % (i, colour), text)
        self.assertIn("\\definecolor{rfamount0}{html}{%s}" % amounts[0], text)
        self.assertIn("\\definecolor{rfamount15}{html}{%s}" % amounts[-1], text)
        self.assertIn("\\definecolor{rfamount5}{html}{%s}" % amounts[3], text)  # 5 of 15 is 3 of 9

    def test_waiting_and_messages_are_in_the_timeline(self):
        for words, most in ((("halo", 10, 10, 60, "exact"), 200), (("workers", 5, 40, "exact"), 40)):
            trace = self.make(*words)
            text = self.document(trace, name="-".join(map(str, words)) + ".tex")
            page = json.loads(refrain("report", trace, "--format", "json").stdout)
            block = -(-len(page["columns"]["row.rank"]) // 64)
            ends = list(zip(page["columns"]["late.from"], page["columns"]["late.to"]))
            drawn = [a for a in ends if a[0] // block != a[1] // block]
            self.assertTrue(drawn and len(ends) <= most)
            self.assertEqual(len(re.findall(r"^\\rfarrow\{", text, flags=re.M)), len(drawn))
            count = "{:,}".format(page["waits"]["counts"]["messages"]).replace(",", "\\,")
            self.assertIn("Arrows: of %s messages the %d that" % (count, len(drawn)), text.replace("\n", " "))
            self.assertEqual("%d more lie within one row" % (len(ends) - len(drawn)) in text, len(ends) > len(drawn))
            self.assertIn("\\pgfsetcolor{rfwaiting}", text)
            self.assertIn("line below a row: waiting", text)
            waits = page["columns"]["late.wait_ns"]
            self.assertEqual(waits, sorted(waits, reverse=True))

    def test_without_times_it_says_so(self):
        text = self.document(self.corpus("heat-1.2.rfn"))
        self.assertIn("This trace has no times of single calls", text)
        self.assertIn("Factors from the ranks' totals", text)
        self.assertNotIn("\\subsection*{Kinds of waiting}", text)
        with_times = self.document(self.corpus("heat-1.2-exact.rfn"), name="exact.tex")
        self.assertNotIn("This trace has no times of single calls", with_times)
        self.assertIn("\\subsection*{Kinds of waiting}", with_times)

    def test_an_output_that_is_there(self):
        out, trace = self.path("x.tex"), self.corpus("heat-1.2.rfn")
        with open(out, "w", encoding="utf-8") as file:
            file.write("mine")
        for traces in ([trace], [trace, trace]):
            self.refused(USAGE, "--force", "report", *traces, "--format", "latex", "-o", out)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine")
        self.assertEqual(refrain("report", trace, "--format", "latex", "-o", out, "--force").returncode, GOOD)

    def test_verbosity(self):
        trace = self.corpus("heat-1.2-exact.rfn")
        texts = {word: self.document(trace, name=word + ".tex", words=["--verbosity", word])
                 for word in ("brief", "normal", "full")}
        self.assertEqual(texts["normal"], self.document(trace, name="default.tex"))
        self.assertLess(len(texts["brief"]), len(texts["normal"]))
        self.assertLess(len(texts["normal"]), len(texts["full"]))
        known = commands(texts["normal"])
        self.assertEqual(commands(texts["full"]) - known, set())
        for title in ("Temporal maps", "Matrices of each kind of call", "Iterations", "Each rank"):
            self.assertIn("\\section{%s}" % title, texts["full"])
            self.assertNotIn("\\section{%s}" % title, texts["normal"])
        for rank in range(4):
            self.assertIn("\\subsection*{Rank %d}" % rank, texts["full"])
        self.assertNotIn("\\section{Density maps}", texts["brief"])
        out = self.path("x.tex")
        self.refused(USAGE, "--verbosity", "report", trace, "--format", "latex", "--verbosity", "loud", "-o", out)
        self.refused(USAGE, "--format latex", "report", trace, "--verbosity", "full", "-o", self.path("x.html"))
        without = self.document(self.corpus("heat-1.2.rfn"), name="without.tex", words=["--verbosity", "full"])
        self.assertIn("when functions were called is not known", without)
        text = self.document(self.make("hostile"), status=INCOMPLETE, name="hostile.tex", words=["--verbosity", "full"])
        self.assertEqual(re.findall(r"\\(?:write|input|csname|openout)|\^\^|/etc/passwd|<img|onerror=", text), [])

    def test_full_is_bounded(self):
        for words in (("halo", 64, 64, 3, "exact"), ("halo", 8, 8, 2000, "none"), ("halo", 30, 170, 1, "none")):
            name = "-".join(map(str, words)) + ".tex"
            text = self.document(self.make(*words), name=name, words=["--verbosity", "full"])
            self.assertLess(len(text), 4 * kMostBytes, words)
            self.assertLess(text.count("\\tabularnewline"), 2000, words)

    def test_without_a_name(self):
        trace = os.path.abspath(self.corpus("heat-1.2.rfn"))
        done = subprocess.run([os.path.abspath(common.options.refrain), "report", trace, "--format", "latex"],
                              cwd=self.temporary.name, timeout=100, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (GOOD, b""), done.stderr)
        self.assertEqual(os.listdir(self.temporary.name), ["report.tex"])

    def test_no_half_file(self):
        trace = self.corpus("heat-1.2.rfn")
        self.refused(FAILED, "no/such", "report", trace, "--format", "latex", "-o", self.path("no/such/x.tex"))

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        words = ["report", trace, "--format", "latex", "-o", self.path("full.tex")]
        done = subprocess.run([common.options.refrain, *words], timeout=100, preexec_fn=small, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (FAILED, 1), done.stderr)
        self.refused(FAILED, "missing.rfn", "report", trace, self.path("missing.rfn"), "--format", "latex", "-o",
                     self.path("both.tex"))
        self.assertEqual(os.listdir(self.temporary.name), [])


def plain(text):
    """Text of a PDF, without spaces: where lines end is TeX's choice."""
    return re.sub(r"\s+", "", text).replace("\u2018", "`").replace("\u2019", "'").replace("\u201d", '"')


class Pdf(Documents):
    def compiled(self, *traces, status=GOOD, words=()):
        """Text of the PDF, without spaces; None without pdftotext."""
        if os.path.exists(self.path("report.tex")):
            os.remove(self.path("report.tex"))
        self.document(*traces, status=status, words=words)
        done = subprocess.run(["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
                              cwd=self.temporary.name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=200, check=False)
        said = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said[-3000:])
        with open(self.path("report.log"), encoding="latin-1") as file:
            log = file.read()
        too_wide = [float(pt) for pt in re.findall(r"Overfull \\hbox \(([0-9.]+)pt too wide", log)]
        self.assertEqual([pt for pt in too_wide if pt > kMostOverfull_pt], [])
        self.assertNotIn("Missing character", log)
        self.assertNotIn("undefined", log)
        self.pages = int(re.search(r"Output written on report.pdf \((\d+) page", log).group(1))
        self.assertNotIn("pwned", " ".join(os.listdir(self.temporary.name)))
        if shutil.which("pdftotext") is None:
            return None
        text = subprocess.run(["pdftotext", self.path("report.pdf"), "-"], check=True, capture_output=True, timeout=60)
        return plain(text.stdout.decode())

    def shows(self, part, text):
        self.assertTrue(plain(part) in text, "%r is not in the PDF" % part)

    def data(self, trace):
        return json.loads(refrain("report", trace, "--format", "json").stdout)

    def test_a_run_with_times(self):
        trace = self.corpus("heat-1.2-exact.rfn")
        text = self.compiled(trace)
        self.assertGreater(self.pages, 3)
        if text is None:
            self.skipTest("pdftotext (poppler-utils) is not installed: numbers in the PDF are not looked at")
        page = self.data(trace)
        info, verdict = page["info"], page["verdict"]
        self.shows("%dranks,%dcalls" % (info["ranks"], info["calls"]), text)
        for name in ("parallel", "load_balance", "communication", "serialisation", "transfer"):
            self.shows("%.1f%%" % (100 * verdict["efficiency"][name]), text)
        for wait in verdict["top"]:
            self.shows("%s in %s" % (wait["title"], wait["call"]), text)
            example = wait["example"]
            self.shows("refrain dump --rank %d --thread %d --from %d --first 1" %
                       (example["rank"], example["thread"], example["seq"]), text)
        self.shows("%dmessages" % page["matrix"]["messages"], text)
        for row in page["profile"]["functions"][:15]:
            self.shows(row["call"], text)
            self.shows("%.1f%%" % (100 * row["mpi_share"]), text)
        self.shows(info["started"], text)

    def pages_of(self, trace, word):
        """Pages of the PDF at a verbosity, by pdfinfo where it is there."""
        self.compiled(trace, words=["--verbosity", word])
        if shutil.which("pdfinfo"):
            said = subprocess.run(["pdfinfo", self.path("report.pdf")], check=True, capture_output=True, timeout=60)
            self.assertEqual(int(re.search(r"Pages:\s+(\d+)", said.stdout.decode()).group(1)), self.pages)
        return self.pages

    def test_verbosity(self):
        """A job of 16 ranks: a few pages, what the page has, and 20 to 70 pages."""
        trace = self.make("halo", 4, 4, 60, "exact")
        brief, normal, full = (self.pages_of(trace, word) for word in ("brief", "normal", "full"))
        print("pages: brief %d, normal %d, full %d" % (brief, normal, full))
        self.assertLessEqual(brief, 4)
        self.assertLess(brief, normal)
        self.assertLess(normal, full)
        self.assertLessEqual(full, 70)
        self.assertGreaterEqual(full, kLeastFullPages)
        self.assertGreater(self.pages_of(self.corpus("heat-1.5-exact.rfn"), "full"), normal)

    def test_without_times(self):
        text = self.compiled(self.make("halo", 4, 4, 20, "none"))
        self.assertGreater(self.pages, 1)
        if text is not None:
            self.shows("notimesofsinglecalls", text)

    def test_hostile_names(self):
        trace = self.make("hostile")
        text = self.compiled(trace, status=INCOMPLETE)
        if text is None:
            return
        info = self.data(trace)["info"]
        self.shows("Thistraceisincomplete", text)
        self.shows("<img src=x onerror=alert(1)></script>", text)
        self.shows(r"\end{document}\immediate\write18{touch pwned}\input{/etc/passwd} ^^5cinput %$&#_{}~^", text)
        self.shows("caf<U+00E9><U+20AC>", text)
        self.shows(r"\input{key}", text)
        self.assertGreater(info["calls"], 8 * 100)
        self.shows("8ranks,%dcalls" % info["calls"], text)

    def test_one_rank_and_many(self):
        one, many = self.make("halo", 1, 1, 0, "exact"), self.make("halo", 64, 64, 2, "exact")
        text = self.compiled(one, many)
        if text is not None:
            self.shows("2runs", text)
            self.shows("1rank,3calls", text)
            self.shows("4096ranks,86016calls", text)
            self.shows("Eachcellis64by64neighbouringranks", text)
            self.shows("Agraphofmorethan64nodes", text)


def why_no_tex():
    for tool in ("latexmk", "pdflatex"):
        if shutil.which(tool) is None:
            return tool + " is not installed"
    for style in ("tikz.sty", "hyperref.sty", "longtable.sty"):
        if subprocess.run(["kpsewhich", style], capture_output=True, check=False).returncode != 0:
            return "TeX has no " + style
    return ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for word in ("--refrain", "--maker", "--corpus"):
        parser.add_argument(word, required=True)
    parser.add_argument("--pdf", action="store_true", help="compile documents as well")
    common.options, rest = parser.parse_known_args()
    if common.options.pdf and why_no_tex():
        print("skip ", why_no_tex())
        sys.exit(77)
    tests = [] if rest else ["Pdf"] if common.options.pdf else ["Text"]
    unittest.main(argv=[sys.argv[0]] + rest + tests)
