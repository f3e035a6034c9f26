# Displays HTML that takes a browser's parser hours to mend, and that would act when
# somebody opens it beside the gradebook: it is made plain in one pass.
from IPython.display import HTML, Markdown, SVG, Javascript, display

display(HTML("<i>" * 20_000 + "</b>" * 20_000))
display(HTML("<div " + "a=b " * 20_000 + "><p>" * 1000))
display(HTML("<script>alert(1)</script><img src=x onerror=alert(1)>"))
display(Javascript("alert(1)"), SVG("<svg xmlns='http://www.w3.org/2000/svg'/>"))
display({"text/html": ["<b>", 5, None], 5: "x", "image/png": {}}, raw=True)
display({"text/plain": "x", "text/html": "\ud800"}, raw=True, metadata={"a": {}})

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
