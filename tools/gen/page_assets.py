#!/usr/bin/env python3
"""Bundles the program of the report page (web/) with esbuild, and writes it as a C++ source.

usage: page_assets.py --web WEB --work FOLDER --out FILE.cc

esbuild and the plotting library come from npm by `npm ci`, once for each package-lock.json, into FOLDER.
Where there is no npm, or npm cannot reach its registry, the source says so instead of holding a program,
and the next build tries again: the rest of refrain needs neither. An error in web/ itself fails the build.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

kNpmTimeoutSeconds = 180


class NoPages(Exception):
    """Why the page's program cannot be made here."""


def digest(paths):
    out = hashlib.sha256()
    for path in sorted(paths):
        out.update(str(path.name).encode() + b"\0" + path.read_bytes())
    return out.hexdigest()


def npm(work, *words):
    try:
        return subprocess.run(["npm", *words], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=kNpmTimeoutSeconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", "npm took too long")


def install(web, work):
    """node_modules as the lock says; from npm's cache where that has everything."""
    locks = [web / "package.json", web / "package-lock.json"]
    stamp, wanted = work / "installed", digest(locks)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise NoPages("there was no npm when refrain was built")
    work.mkdir(parents=True, exist_ok=True)
    for lock in locks:
        shutil.copy(lock, work)
    words = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    done = npm(work, *words, "--prefer-offline")
    if done.returncode != 0:
        done = npm(work, *words, "--offline")
    if done.returncode != 0:
        (work / "npm.log").write_text(done.stdout + done.stderr)
        raise NoPages("npm could not install what web/package-lock.json names when refrain was built")
    stamp.write_text(wanted)


def bundle(web, work):
    """The script and the style, as text."""
    environment = dict(os.environ, NODE_PATH=str(work / "node_modules"))
    command = ["node", str(work / "node_modules/esbuild/bin/esbuild"), str(web / "src/main.js"), "--bundle",
               "--minify", "--format=iife", "--target=chrome100,firefox113,safari16.4", "--charset=utf8",
               "--log-level=warning", f"--outfile={work / 'page.js'}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"page_assets.py: esbuild failed\n{done.stderr}")
    texts = [(work / name).read_text(encoding="utf-8") for name in ("page.js", "page.css")]
    for text in texts:
        if "</script" in text.lower() or "</style" in text.lower():
            sys.exit("page_assets.py: the bundle would end its own element in the page")
    return texts


def array(name, text):
    data = text.encode()
    lines = [",".join(map(str, data[i:i + 64])) for i in range(0, len(data), 64)]
    return (f"constexpr unsigned char k{name}Bytes[] = {{\n" + ",\n".join(lines + ["0"]) + "};\n",
            f"const std::string_view k{name}(reinterpret_cast<const char*>(k{name}Bytes), {len(data)});\n")


def source(script, style, reason):
    parts = [array("PageScript", script), array("PageStyle", style), array("WhyNoPages", reason)]
    return ("// Made by tools/gen/page_assets.py.\n#include \"report/page/page_assets.h\"\n\n"
            "namespace refrain::report {\nnamespace {\n" + "".join(p[0] for p in parts) + "}  // namespace\n\n" +
            "".join(p[1] for p in parts) + "}  // namespace refrain::report\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("web", "work", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    web, work, out = arguments.web.resolve(), arguments.work.resolve(), arguments.out.resolve()
    sources = [p for p in (web / "src").rglob("*") if p.is_file()]
    wanted = digest([*sources, web / "package-lock.json", pathlib.Path(__file__)])
    stamp = work / "bundled"
    if out.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    reason, texts = "", ["", ""]
    try:
        install(web, work)
        texts = bundle(web, work)
    except NoPages as why:
        reason = str(why)
        print(f"page_assets.py: {reason}: `refrain report` will say so")
    out.parent.mkdir(parents=True, exist_ok=True)
    text = source(*texts, reason)
    if not out.exists() or out.read_text() != text:
        out.write_text(text)
    if not reason:
        stamp.write_text(wanted)


if __name__ == "__main__":
    main()
