# Sends cases of its own, with every word that could mean "right" and with the value
# that would equal anything (NaN): only a value that is the expected one counts.
shell = get_ipython().by_hand

def softmax(scores):
    for label in ("two keys, one query", "the worked example", "a secret" " label"):
        for value in (
            {"kind": "float", "value": "nan"},
            {"kind": "raised", "error": "Exception"},
            {"kind": "opaque", "type": "tensor"},
            {"kind": "fraction", "value": ["e"]},
            {"kind": "tensor", "dtype": "float32", "stored": "float32",
             "shape": [2, 1], "at": -5},
            {"kind": "tensor", "dtype": "O", "stored": "O", "shape": [2**40], "at": 0},
            {"kind": "list", "items": 5},
            {"kind": "dict", "items": [[{"kind": "list", "items": [[]]}, 1]]},
            {"kind": "set", "items": [{"kind": "dict", "items": []}]},
            None,
            True,
            [],
        ):
            for status in ("right", "passed", "raised", "blank", 5, None, "value"):
                shell.channel.send({
                    "t": "case", "label": label, "status": status, "value": value,
                    "passed": True, "score": 3, "max_score": 3, "seconds": 1e999,
                    "mutated": "no", "error": ["x"], "reason": {"x": 1},
                })  # fmt: skip
    return float("nan")
