#!/usr/bin/python3
"""Runs a command that gets SIGPIPE for what it prints on stderr: nobody_reads.py COMMAND WORDS..."""
import os
import signal
import sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python has set to be ignored
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 2)
os.close(writer)
os.execvp(sys.argv[1], sys.argv[1:])
