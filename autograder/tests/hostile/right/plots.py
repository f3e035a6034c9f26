# Draws, shows a table as HTML and changes how plots are drawn: outputs are kept, and
# the answer is right.
import matplotlib.pyplot as plt
from IPython.display import HTML, display

plt.rcParams["figure.dpi"] = 50
plt.plot([1, 2, 3])
plt.show()
display(HTML("<table><tr><td>1</td></tr></table>"))

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
