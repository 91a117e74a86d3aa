"""Computes the identity of the record in vector.json with the standard library.

usage: identity.py vector.json
Fails when the canonical form, the semantic form or the id differ.
"""

import hashlib
import json
import math
import sys


def number(value):
    """ECMAScript's Number::toString, as RFC 8785 prescribes."""
    value = float(value)
    if value == 0:
        return "0"
    digits, exponent = repr(abs(value)), 0
    if "e" in digits:
        digits, power = digits.split("e")
        exponent = int(power)
    whole, _, fraction = digits.partition(".")
    if fraction == "0":
        fraction = ""
    mantissa = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    mantissa = mantissa.rstrip("0")
    k = len(mantissa)
    if k <= point <= 21:
        out = mantissa + "0" * (point - k)
    elif 0 < point <= 21:
        out = mantissa[:point] + "." + mantissa[point:]
    elif -6 < point <= 0:
        out = "0." + "0" * -point + mantissa
    else:
        e = point - 1
        out = mantissa[0] + ("." + mantissa[1:] if k > 1 else "") + "e" + ("+" if e > 0 else "-") + str(abs(e))
    return ("-" if math.copysign(1, value) < 0 else "") + out


SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def string(value):
    return '"' + "".join(SHORT.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 0x20 else c) for c in value) + '"'


def canonical(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(string(n) + ":" + canonical(value[n]) for n in names) + "}"


def main():
    vector = json.load(open(sys.argv[1], encoding="utf-8"))
    record = vector["record"]
    semantic = {k: v for k, v in record.items() if k not in ("evidence_id", "environment")}
    if semantic["subject"] is not None:
        semantic["subject"] = {k: semantic["subject"][k] for k in ("architecture", "digest", "format")}
    form = canonical(semantic)
    identity = "ev_" + hashlib.sha256(form.encode("utf-8")).hexdigest()
    assert form == vector["semantic"], form
    assert identity == vector["evidence_id"], identity
    complete = canonical(record | {"evidence_id": identity})
    assert complete == vector["canonical"], complete


main()
