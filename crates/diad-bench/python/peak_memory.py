"""Runs a command and prints its maximum resident set as JSON: python peak_memory.py COMMAND ARGUMENTS..."""

import json
import resource
import subprocess
import sys

subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"bytes": peak if sys.platform == "darwin" else peak * 1024}))
