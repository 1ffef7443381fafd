"""setuptools as the build backend, also without a network.

pip builds in an environment of its own into which it would download setuptools. This finds the one that
is installed: beside this Python, or the distribution's.
"""

import importlib.util
import os
import site
import sys
import sysconfig

_PLACES = [sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix})["purelib"],
           *site.getsitepackages([sys.base_prefix]), "/usr/lib/python3/dist-packages"]

try:
    import setuptools  # noqa: F401
except ImportError:
    sys.path += [place for place in _PLACES if os.path.isdir(os.path.join(place, "setuptools"))][:1]
    try:
        import setuptools  # noqa: F401
    except ImportError:
        sys.exit("refrain: setuptools is not installed; on Debian: apt-get install python3-setuptools python3-wheel")

# setuptools before 70.1 takes the command that makes wheels from `wheel`, which may stand elsewhere.
if not any(importlib.util.find_spec(name) for name in ("wheel", "setuptools.command.bdist_wheel")):
    sys.path += [place for place in _PLACES if os.path.isdir(os.path.join(place, "wheel"))][:1]

from setuptools.build_meta import *  # noqa: E402,F401,F403


def get_requires_for_build_wheel(config_settings=None):
    """`wheel` is found as setuptools is."""
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []
