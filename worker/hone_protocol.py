"""The table of the protocol: for every verb the members of its request and of its reply, with their types.

src/evaluation/protocol.h has the same table in C++, and a test there reads this file and compares the two. The tables below are
therefore JSON as well as Python: double quotes, no comments inside, no comma after the last entry.

Types: string, bool, int, count (an int from 0 on), number, json (anything but null), list, strings, counts, shapes (lists of
ints), numbers (by name), step (one of STEPS). A member with `?` is left out if it is empty. A member with `~` is a hint: no
decision of the parent depends on it, and the parent ignores an invalid one.
"""

# The worker's verbs (hone_worker.py): [request, reply].
WORKER = {
    "hello": [{}, {"facts": "json"}],
    "threads": [{"count": "int"}, {}],
    "load": [
        {"path": "string", "name": "string", "class": "string"},
        {"has_class": "bool?", "names": "strings~", "variants": "strings?", "has_stress": "bool?"}
    ],
    "init_inputs": [{}, {"tree": "json", "opaque": "bool"}],
    "build": [
        {"slot": "string", "class": "string", "seed": "count", "init": "json?", "init_file": "string?"},
        {"beside": "json?"}
    ],
    "weights": [{"slot": "string"}, {"names": "strings", "tree": "json"}],
    "take_weights": [
        {"slot": "string", "names": "strings", "tree": "json"},
        {"how": "string", "missing": "strings", "unexpected": "strings"}
    ],
    "snapshot": [{"slot": "string"}, {}],
    "drop": [{"slots": "strings?", "inputs": "strings?"}, {}],
    "make_inputs": [
        {
            "inputs": "string", "seed": "count", "slot": "string", "variant": "string?", "regime": "string?", "draw": "string?",
            "change": "string?", "output_shapes": "shapes?", "near": "count?", "hold": "bool?"
        },
        {"tree": "json?", "fixed": "counts?", "telling": "counts?"}
    ],
    "fetch": [{"bytes": "count", "on_device": "bool", "trim": "bool?"}, {}],
    "put_inputs": [
        {"inputs": "string", "tree": "json", "in_place": "bool?", "bytes": "count?", "on_device": "bool?"},
        {}
    ],
    "stress": [{"slot": "string", "regime": "string", "seed": "count", "inputs": "string"}, {}],
    "mutants": [
        {"slot": "string", "inputs": "string", "seed": "count", "gradient_from": "int"},
        {"names": "strings", "sensitivities": "numbers"}
    ],
    "run": [
        {
            "slot": "string", "inputs": "string", "seed": "count", "rung": "string?", "mutant": "string?", "poison": "bool?",
            "busy": "bool?", "output_bytes": "counts?", "hold": "bool?", "fresh": "bool?", "want_inputs": "bool?",
            "earlier": "count?"
        },
        {"tree": "json", "inputs_after": "json?", "inputs_changed": "bool?"}
    ],
    "truth": [
        {
            "slot": "string", "inputs": "string", "seed": "count", "keep": "bool", "mutant": "string?", "jitter": "number?",
            "jitter_seed": "count?", "hold": "bool?", "earlier": "count?"
        },
        {"tree": "json"}
    ],
    "rung": [{"slot": "string", "inputs": "string", "rung": "string"}, {}],
    "card": [{"slot": "string", "inputs": "string"}, {"card": "json"}],
    "graph": [{"slot": "string", "seed": "count", "limit_bytes": "count"}, {"graph": "json?", "declined": "string?"}],
    "profile": [
        {"slot": "string", "inputs": "string"},
        {"launches": "int~", "own_us": "number~", "library_us": "number~", "kernels": "json~"}
    ],
    "ceilings": [{}, {"rates": "json"}],
    "tampering": [{}, {"changed": "strings", "libraries": "strings~"}],
    "canary": [{}, {"right": "bool"}],
    "contract": [
        {
            "step": "step", "slot": "string?", "inputs": "string?", "as": "string?", "how": "string?", "names": "strings?",
            "tree": "json?", "seed": "count?", "dim": "count?", "full": "int?", "size": "int?"
        },
        {
            "failed": "string?", "not_applicable": "string?", "names": "strings?", "tree": "json?", "changed": "strings?",
            "draws": "bool?"
        }
    ]
}

# Timed blocks (hone_clock.py).
CLOCK = {
    "draw": [{"seeds": "counts", "hold": "bool?"}, {"bases": "counts", "layout": "json?", "trees": "list?", "total": "count?"}],
    "block": [
        {
            "slot": "string", "bytes": "count", "on_device": "bool", "bases": "counts", "calls": "int", "rung": "string",
            "mode": "string", "seed": "count", "flush": "int", "form": "json?", "layout": "json?", "trees": "list?"
        },
        {"event_us": "number~", "answers": "json~", "numbers": "json~", "odd": "json~"}
    ],
    "collect": [
        {"slot": "string", "form": "json", "leaves": "json", "stride": "count", "bytes": "count", "on_device": "bool", "place": "int?"},
        {"numbers": "json~", "odd": "json~"}
    ],
    "clear": [{"slot": "string", "rung": "string", "mode": "string", "end": "bool?"}, {"reused": "bool~"}],
    "calls": [{"slot": "string", "inputs": "string", "count": "int", "rung": "string"}, {}],
    "keep_sample": [{"slot": "string", "inputs": "string"}, {}]
}

# Verbs of the zygote and the nursery (hone_worker.py, functions zygote and nursery).
ZYGOTE = {
    "fork": [{}, {}],
    "status": [{"fork": "int"}, {"running": "bool~", "code": "int~", "signal": "int~"}],
    "import": [{"libraries": "strings"}, {}],
    "join": [
        {
            "descriptors": "strings", "nested": "bool", "folder": "string", "environment": "strings", "filter": "string",
            "seccomp": "int", "limits": "strings"
        },
        {}
    ]
}

# Members of every reply in addition to its own, and its member `error`.
HEADER = {"ok": "bool", "compute_s": "number~", "error": "json~", "unreadable": "string~"}
ERROR = {"type": "string~", "message": "string~", "traceback": "string~"}

# Steps of the contract (hone_contract.py).
STEPS = ["set_weights", "deepcopy", "pickle", "slice", "gradients", "globals"]


class ProtocolError(Exception):
    """A message that the table does not contain. The parent sends none, so this is a bug in Hone."""


_PYTHON_TYPES = {
    "string": {str}, "bool": {bool}, "int": {int}, "count": {int}, "number": {int, float}, "list": {list}, "strings": {list},
    "counts": {list}, "shapes": {list}, "numbers": {dict}, "step": {str}, "json": {dict, list, str, int, float, bool},
}


def _rules(request):
    """The rules for check(): required members, and the allowed types of each member."""
    needed = frozenset(["verb"] + [name for name, kind in request.items() if not kind.endswith("?")])
    return needed, {"verb": {str}, **{name: _PYTHON_TYPES[kind.rstrip("?")] for name, kind in request.items()}}


_RULES = {verb: _rules(messages[0]) for table in (WORKER, CLOCK, ZYGOTE) for verb, messages in table.items()}


def check(message):
    """Checks a request against the table. It also checks messages of timed blocks, which takes one or two microseconds."""
    try:
        needed, types = _RULES[message["verb"]]
        if needed <= message.keys():
            for name in message:
                if type(message[name]) not in types[name]:
                    raise ProtocolError("'%s' has a member '%s' that is no %s" % (message["verb"], name, _expected(message["verb"], name)))
            return
    except KeyError as error:
        raise ProtocolError("no verb or member is called %s" % error) from None
    raise ProtocolError("'%s' lacks %s" % (message["verb"], ", ".join(sorted(needed - message.keys()))))


def _expected(verb, name):
    for table in (WORKER, CLOCK, ZYGOTE):
        if verb in table:
            return table[verb][0].get(name, "string")
    return "member"
