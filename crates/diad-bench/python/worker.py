"""What the scripts that answer `diad-bench` share: one JSON request a line in, one JSON object a line out."""

import argparse
import json
import sys
import warnings


def serve(answer, **defaults):
    """Says that it is ready, then answers every line of standard input with `answer(request, options)`. The options are
    whole numbers on the command line, with these defaults."""
    parser = argparse.ArgumentParser()
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not mix with the answers
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            found = answer(json.loads(line), options)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=answers, flush=True)
