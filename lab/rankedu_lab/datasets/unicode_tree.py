"""The hierarchy and the splits of characters, made from the Unicode character database."""

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rankedu_lab.datasets.rendering import Rendering

#: The levels of the hierarchy, from root to leaf.
LEVELS = ("script", "base letter", "character")
#: First words of at least 20 characters' names. All others are merged into ``OTHER``.
SCRIPTS = (
    *("ARMENIAN", "BLACK", "BOX", "BRAILLE", "COMBINING", "CYRILLIC", "GEORGIAN", "GREEK", "LAO", "LATIN"),
    *("LEFT", "LEFTWARDS", "MODIFIER", "RIGHT", "RIGHTWARDS", "ROMAN", "SQUARE", "UPWARDS", "WHITE"),
)
OTHER = "OTHER"
#: Of the letters-only tree: its scripts, and how many characters a base letter has at least.
LETTERS, VARIANTS = ("CYRILLIC", "GREEK", "LATIN"), 4
#: The splits of the protocol, and their shares of the characters.
SHARES = {"pretrain": 0.40, "fit": 0.25, "val": 0.10, "held_out": 0.25}


def script(character: str) -> str:
    """Name the script, LATIN for é: the first word of the character's Unicode name, ``OTHER`` if that word is rare."""
    word = unicodedata.name(character, OTHER).split()[0]
    return word if word in SCRIPTS else OTHER


def base_letter(character: str) -> str:
    """Take the marks and the case away, É to e: compatibility decomposition (NFKD) without marks, case-folded."""
    decomposed = unicodedata.normalize("NFKD", character)
    letters = "".join(part for part in decomposed if not unicodedata.category(part).startswith("M"))
    return (letters.strip() or decomposed.strip()).casefold()


def hierarchy(characters: Sequence[str]) -> tuple[npt.NDArray[np.int64], tuple[tuple[str, ...], ...]]:
    """Number the levels: labels (characters, 3) and the names of each level."""
    letters = [(script(character), base_letter(character)) for character in characters]
    scripts = sorted({name for name, _ in letters}, key=lambda name: (name == OTHER, name))
    bases = sorted(set(letters), key=lambda pair: (scripts.index(pair[0]), pair[1]))
    number = {pair: index for index, pair in enumerate(bases)}
    paths = [(scripts.index(pair[0]), number[pair], leaf) for leaf, pair in enumerate(letters)]
    return np.array(paths, dtype=np.int64), (tuple(scripts), tuple(base for _, base in bases), tuple(characters))


def owners(drawn: Rendering) -> dict[bytes, list[str]]:
    """The characters that own each picture, in order."""
    owning: dict[bytes, list[str]] = defaultdict(list)
    for image, code in zip(drawn.images, drawn.codepoints.tolist(), strict=True):
        characters = owning[image.tobytes()]
        if chr(code) not in characters:
            characters.append(chr(code))
    return owning


def halves(characters: Sequence[str], pictures: dict[bytes, list[str]]) -> npt.NDArray[np.bool_]:
    """Split in halves: base letters that share a picture stay together, and every script is halved.

    The largest groups are dealt first, each to the side that has fewer characters of its script so far.
    """
    is_train = np.zeros(len(characters), dtype=bool)
    balance: Counter[str] = Counter()  # train less test, in each script and in all
    groups = _linked(characters, pictures)
    for _, group in sorted(groups.items(), key=lambda item: (-len(item[1]), _shuffled(item[0]))):
        sizes = Counter(script(characters[index]) for index in group)
        main = sizes.most_common(1)[0][0]
        to_train = (balance[main], balance["all"]) <= (0, 0)
        is_train[group] = to_train
        for name, size in [*sizes.items(), ("all", len(group))]:
            balance[name] += size if to_train else -size
    return is_train


def deal(characters: Sequence[str], pictures: dict[bytes, list[str]], salt: int | str = 0) -> npt.NDArray[np.str_]:
    """Deal the characters to the splits of :data:`SHARES`, (characters,) names; another salt deals them anew.

    Base letters that share a picture stay together. Large groups come first, those of about a size in an order that the
    salt makes; each goes to the split that lacks most of its kind: of its script, within or beside the letters-only
    tree.
    """
    groups = _linked(characters, pictures)
    order = sorted(groups, key=lambda letter: (-len(groups[letter]).bit_length(), _shuffled(f"{salt} {letter}")))
    kinds = list(zip(map(script, characters), with_variants(characters).tolist(), strict=True))
    wanted, dealt = Counter(kinds), {split: Counter[tuple[str, bool]]() for split in SHARES}
    splits = np.empty(len(characters), dtype="U8")
    for letter in order:
        sizes = Counter(kinds[index] for index in groups[letter])
        main = max(sizes, key=lambda kind: (sizes[kind], kind))
        lacking = {
            split: (share * wanted[main] - dealt[split][main], share * len(characters) - dealt[split].total())
            for split, share in SHARES.items()
        }
        split = max(lacking, key=lambda name: lacking[name])
        splits[groups[letter]] = split
        dealt[split] += sizes
    return splits


def with_variants(characters: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which characters are of the letters-only tree: of three scripts, and of a base letter with four or more."""
    letters = [(script(character), base_letter(character)) for character in characters]
    sizes = Counter(letters)
    return np.array([pair[0] in LETTERS and sizes[pair] >= VARIANTS for pair in letters])


def _linked(characters: Sequence[str], pictures: dict[bytes, list[str]]) -> dict[str, list[int]]:
    """Indices of the characters, by groups of base letters that share pictures; its first letter names a group."""
    parent = {letter: letter for letter in map(base_letter, characters)}

    def root(letter: str) -> str:
        while parent[letter] != letter:
            letter = parent[letter]
        return letter

    for first, *others in pictures.values():
        for other in others:
            low, high = sorted((root(base_letter(first)), root(base_letter(other))))
            parent[high] = low
    members: dict[str, list[int]] = defaultdict(list)
    for index, character in enumerate(characters):
        members[root(base_letter(character))].append(index)
    return members


def _shuffled(text: str) -> bytes:
    """A sort key that looks random and is the same everywhere."""
    return hashlib.sha256(text.encode()).digest()
