"""What the scripts that answer `diad-bench` share: one JSON request a line in, one JSON object a line out."""

import json
import sys
import warnings


def serve(answer):
    """Says that it is ready, then answers every line of standard input with `answer(request)`."""
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not mix with the answers
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=answers, flush=True)
