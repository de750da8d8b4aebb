"""Decode lines of JSON with msgspec, numbers with a fraction as Decimals, in processor time; speak JSON lines as `decision_engines` does."""

import json
import sys
from decimal import Decimal
from time import process_time

import msgspec  # type: ignore[import-not-found]  # it is installed among the peers


def main() -> None:
    decode = msgspec.json.Decoder(float_hook=Decimal).decode
    lines: list[bytes] = []
    for line in sys.stdin:
        question = json.loads(line)
        if "lines" in question:
            lines = [text.encode() for text in question["lines"]]
            print(json.dumps(len(lines)), flush=True)
            continue
        start = process_time()
        for text in lines:
            decode(text)
        print(json.dumps((process_time() - start) / len(lines) * 1e6), flush=True)


main()
