# Displays tables of HTML without end.
# limits: seconds=8
# says: far too much
from IPython.display import HTML, display

while True:
    display(HTML("<table>" + "<tr><td>1</td></tr>" * 1000 + "</table>"))
