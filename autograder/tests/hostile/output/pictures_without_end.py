# Draws without end: pictures count as well.
# limits: seconds=8
# says: far too much
import base64
from IPython.display import Image, display

picture = b"\x89PNG\r\n\x1a\n" + bytes(500_000)
while True:
    display(Image(data=picture, format="png"))
