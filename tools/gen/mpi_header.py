"""What an mpi.h declares: every prototype with its types, and every name that it defines."""

import re
import subprocess
from dataclasses import dataclass, field

PROTOTYPE = re.compile(
    r'(?:(?<=[;}])|\A)\s*((?:extern\s+)?[A-Za-z_][\w\s*]*?[\s*])(P?MPIX?_\w+)\s*'
    r'\(((?:[^();{}]|\((?:[^();{}]|\([^();{}]*\))*\))*)\)\s*(?=;)')
# No C++ bindings: the recorder speaks C.
DEFINES = ['-DOMPI_SKIP_MPICXX=1', '-DMPICH_SKIP_MPICXX=1']


@dataclass
class CParam:
    type: str    # with an empty place for the name: "int {}[][3]", "const void *{}"
    name: str
    is_pointer: bool

    def declare(self, name):
        return ' '.join(self.type.format(name).split())


@dataclass
class Prototype:
    name: str
    returns: str
    params: list
    varargs: bool = False

    def declare(self, names):
        text = [p.declare(n) for p, n in zip(self.params, names)]
        return ', '.join(text + (['...'] if self.varargs else [])) or 'void'

    def pointer(self, name):
        """A variable of that name that points to such a function."""
        return f'{self.returns} (*{name})({self.declare([""] * len(self.params))})'


def strip_attributes(text):
    result, at = [], 0
    for m in iter(lambda: re.compile(r'__attribute__\s*\(').search(text, at), None):
        result.append(text[at:m.start()])
        depth, at = 1, m.end()
        while depth and at < len(text):
            depth += {'(': 1, ')': -1}.get(text[at], 0)
            at += 1
    return ''.join(result) + text[at:]


def split_params(text):
    parts, depth, part = [], 0, ''
    for c in text:
        depth += {'(': 1, '[': 1, ')': -1, ']': -1}.get(c, 0)
        if c == ',' and depth == 0:
            parts.append(part.strip())
            part = ''
        else:
            part += c
    return parts + ([part.strip()] if part.strip() else [])


def parse_param(text):
    m = re.fullmatch(r'(.*\(\s*\*\s*)(\w*)(\s*\).*)', text)  # pointer to a function
    if m:
        return CParam(m[1] + '{}' + m[3], m[2], True)
    m = re.fullmatch(r'(.*?)\b(\w+)\s*((?:\[[^\]]*\]\s*)*)', text)
    words = re.findall(r'\w+', text.split('[')[0])
    unnamed = not m or not m[1].strip() or all(w in ('const', 'struct') for w in words[:-1]) or (
        m[2] in ('int', 'long', 'char', 'void', 'unsigned', 'short', 'double', 'float'))
    if unnamed:
        return CParam(text + ' {}', '', '*' in text)
    return CParam(m[1] + '{}' + m[3], m[2], '*' in m[1] or '[' in m[3])


def parse_prototypes(text):
    """Name -> Prototype, of MPI_*, MPIX_* and their PMPI twins; functions with a body are not there.

    A second declaration of a name is an overload that C++ has beside C's: SimGrid 4's MPI_Init().
    """
    text = re.sub(r'^\s*#.*$', '', strip_attributes(text), flags=re.M)
    text = re.sub(r'extern\s+"C"\s*\{', ';', text)
    found = {}
    for m in PROTOTYPE.finditer(text):
        returns = ' '.join(re.sub(r'\bextern\b', '', m[1]).split())
        if re.match(r'(typedef|return)\b', returns) or m[2] in found:
            continue
        params = split_params(m[3])
        varargs = bool(params) and params[-1] == '...'
        params = [p for p in params if p not in ('void', '...')]
        found[m[2]] = Prototype(m[2], returns, [parse_param(p) for p in params], varargs)
    return found


def run_preprocessor(compiler, flags, headers=()):
    command = list(compiler) + DEFINES + list(flags) + ['-x', 'c++', '-E', '-']
    text = ''.join(f'#include {name}\n' for name in ['<mpi.h>'] + [f'"{path}"' for path in headers])
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f'mpi.h cannot be read by `{" ".join(command)}`: {first_error(done.stderr)}')
    return done.stdout


def first_error(text):
    """What a compiler says is wrong, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if 'error' in line), lines[0] if lines else 'no reason given')


@dataclass
class Header:
    prototypes: dict
    macros: set
    words: set  # every identifier after preprocessing: enumerators, variables
    values: dict = field(default_factory=dict)  # of the macros that are one word
    variables: set = field(default_factory=set)  # objects of the library

    def defines(self, name):
        return name in self.macros or name in self.words

    def functions(self):
        return [n for n in self.prototypes if not n.startswith('P')]


def undeclared_objects(macros, words):
    """Names that SMPI's mpi.h gives to objects that it does not declare."""
    pointers = re.findall(r'^#define (\w+) SMPI_PREDEFINED_POINTER\(\w+, *(\w+)\)', macros, flags=re.M)
    return {name for name, variable in pointers if variable not in words}


def library_objects(text):
    """Variables that an mpi.h declares: predefined handles of Open MPI are their addresses."""
    return set(re.findall(r'extern\b[^;(){}]*?\b(\w+)(?:\[[^\]]*\])?\s*;', strip_attributes(text)))


def read_header(compiler, headers=()):
    """`compiler`: command with the include flags of the MPI, as a list; `headers`: more than mpi.h."""
    text = run_preprocessor(compiler, ['-P'], headers)
    macros = run_preprocessor(compiler, ['-dM'], headers)
    # A removed name may still be a macro: one that stops the compiler.
    removed = set(re.findall(r'^#define (\w+) \w*REMOVED', macros, flags=re.M))
    names = set(re.findall(r'^#define (\w+)', macros, flags=re.M))
    values = dict(re.findall(r'^#define (\w+) +(\S+)$', macros, flags=re.M))
    words = set(re.findall(r'\b[A-Za-z_]\w*', text))
    prototypes = parse_prototypes(text)
    if 'MPI_Init' not in prototypes:
        raise OSError(f'no prototype of MPI_Init in the mpi.h of `{" ".join(compiler)}`: is it one?')
    return Header(prototypes, names - removed - undeclared_objects(macros, words), words, values,
                  library_objects(text))


def read_undeclared(path):
    with open(path, encoding='utf-8') as text:
        return parse_prototypes(';' + re.sub(r'//.*', '', text.read()))


def exported_names(library):
    """The functions that a shared library exports."""
    done = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise OSError(f'nm {library}: {done.stderr.strip()}')
    rows = (line.split() for line in done.stdout.splitlines())
    return {row[-1].split('@')[0] for row in rows if len(row) >= 3 and row[-2] in 'TtWwVvi'}
