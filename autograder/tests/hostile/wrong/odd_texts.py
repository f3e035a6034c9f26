# Returns texts with lone surrogates, NULs, right-to-left marks and HTML, and as keys and
# names: a result file and a page can hold them, as words.
def softmax(scores):
    text = "\ud800\x00\u202e<script>alert(1)</script>\ufdd0\x1b[2J" * 50
    if scores.numel() > 4:
        return {text: text}
    return type(text.replace("\x00", "").replace("\ud800", ""), (), {})() if scores.numel() > 2 else text
