"""Reads every file of a folder and prints {name: value} as JSON."""
import json, os, re, sys, tomllib
import yaml

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.S)


def read(path):
    with open(path, "rb") as f:
        text = f.read().decode("utf-8-sig")
    if path.endswith(".toml"):
        return tomllib.loads(text)
    if path.endswith(".yaml"):
        return yaml.safe_load(text)
    text = TOKEN.sub(lambda m: m.group() if m.group()[0] == '"' else "", text)
    return json.loads(text) if text.strip() else None


def plain(v):
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, float) and v != v or isinstance(v, float) and abs(v) == float("inf"):
        return str(v)
    return v if isinstance(v, (str, int, float, bool, type(None))) else str(v)


out = {}
for name in sorted(os.listdir(sys.argv[1])):
    try:
        out[name] = plain(read(os.path.join(sys.argv[1], name)))
    except Exception as e:
        out[name] = "unreadable: %s" % e
json.dump(out, sys.stdout)
