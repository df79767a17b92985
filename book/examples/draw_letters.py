"""Draw letters of matplotlib's fonts into a folder a letter: pictures as you may have them, for `rankedu train`.

A number after the script's name sets the pictures of a letter.
"""

import random
import sys
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

each = int(sys.argv[1]) if len(sys.argv) > 1 else 40
families = ("DejaVuSans", "DejaVuSansMono", "DejaVuSerif", "STIXGeneral", "cmr10", "cmss10", "cmtt10")
fonts = sorted((Path(matplotlib.get_data_path()) / "fonts" / "ttf").glob("*.ttf"))
fonts = [str(font) for font in fonts if font.stem.split("-")[0] in families]
chance = random.Random(0)
for letter in "ABCDEFGHJKLMNPQRSTUVWXYZabdefghjkmnqrty2345678":
    folder = Path("letters") / f"{'capital' if letter.isupper() else 'small'} {letter}"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(each):
        paper, ink = chance.randint(190, 255), chance.randint(0, 90)
        picture = Image.new("L", (32, 32), paper)
        font = ImageFont.truetype(fonts[number % len(fonts)], chance.randint(18, 26))
        place = (16 + chance.uniform(-3, 3), 16 + chance.uniform(-3, 3))
        ImageDraw.Draw(picture).text(place, letter, fill=ink, font=font, anchor="mm")
        turned = picture.rotate(chance.uniform(-15, 15), resample=Image.Resampling.BILINEAR, fillcolor=paper)
        turned.save(folder / f"{number:03d}.png")
print(f"{len(list(Path('letters').glob('*/*.png')))} pictures in {len(list(Path('letters').iterdir()))} folders")
