"""`UnicodeGlyphs`: what is drawn, how it is kept, how it is labelled and split; and the augmentation."""

import hashlib
import unicodedata
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rankedu_lab.datasets import UnicodeGlyphs, augment, rendering
from rankedu_lab.datasets.cache import cache_folder
from rankedu_lab.datasets.glyphs import base_letter, script
from rankedu_lab.datasets.rendering import cached_rendering, drawn_with, render
from rankedu_lab.datasets.unicode_tree import LETTERS, SCRIPTS, SHARES, VARIANTS, deal, halves, owners, with_variants

ROOT = Path(__file__).resolve().parents[3]
PINNED_VERSION = drawn_with() == rendering.CHECKED_WITH
SALTS = (0, 1, 17)
if not PINNED_VERSION:
    pytestmark = pytest.mark.filterwarnings("ignore:UnicodeGlyphs. .* draws other pixels")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """All characters, drawn once for this file, and the split of each by deals of the protocol, and in halves."""
    root = tmp_path_factory.mktemp("glyphs")
    with warnings.catch_warnings():
        warnings.simplefilter("error" if PINNED_VERSION else "ignore")
        drawn = cached_rendering(root)
    splits = {name: UnicodeGlyphs(name, root=root) for name in ("train", "test", "all")}
    letters = UnicodeGlyphs("val", letters=True, salt=1, root=root)
    characters, pictures = [chr(code) for code in np.unique(drawn.codepoints)], owners(drawn)
    dealt = {**{salt: deal(characters, pictures, salt) for salt in SALTS}, "halves": halves(characters, pictures)}
    return SimpleNamespace(root=root, drawn=drawn, splits=splits, letters=letters, characters=characters, dealt=dealt)


def characters_of(data):
    return {data.names[2][leaf] for leaf in data.labels[:, 2].tolist()}


def test_every_character_has_a_name_and_is_drawn_in_eight_faces_in_its_place_and_whole(known):
    data = known.splits["all"]
    assert len(data.names[2]) == 3277 and len(data) == 35_690 and int(data.faces.max()) == 11
    assert data.images.shape == (35_690, 32, 32) and data.images.dtype == torch.uint8
    assert data.images.flatten(1).any(1).all() and all(map(unicodedata.name, characters_of(data)))
    sizes = data.labels[:, 2].bincount()
    assert sizes.min() >= 8 and sizes.max() == 12
    boxes = {rendering._draw(font, None).tobytes() for font in rendering._fonts()}
    assert boxes.isdisjoint(image.tobytes() for image in data.images.numpy()), "the box for a missing glyph"
    assert len(render("中 \u00a0\u200b\u2003\ufe00\n").images) == 0
    comma, quote = (np.stack(render(text).images).any(2).argmax(1).mean() for text in (",", "'"))
    assert quote + 8 < comma and all(image.any(0).sum() > 24 for wide in "Ǆ⟺" for image in render(wide).images)
    assert not PINNED_VERSION or known.drawn.sha256() == rendering.PINNED_SHA256


@pytest.fixture
def cheap(monkeypatch):
    """Rendering of four characters in place of all; counts how often it is drawn."""
    times, few = [], render("ABÀЖ")
    monkeypatch.setattr(rendering, "render", lambda: times.append(1) or few)
    monkeypatch.setattr(rendering, "PINNED_SHA256", few.sha256())
    return times


def test_the_cache_is_one_file_and_drawn_anew_only_where_it_is_damaged(cheap, tmp_path):
    good = cached_rendering(tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    assert path.suffix == ".npz"
    for broken in (whole, whole[: len(whole) // 2], whole[:200] + bytes(200) + whole[400:], b""):
        path.write_bytes(broken)
        cheap.clear()
        for _ in range(2):
            again = cached_rendering(tmp_path)
            assert all(np.array_equal(a, b) for a, b in zip(good, again, strict=True))
        assert len(cheap) == (broken != whole), len(broken)


@pytest.mark.usefixtures("cheap")
def test_the_cache_has_its_place_and_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named" and cache_folder(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv("RANKEDU_DATA")
    assert "rankedu" in cache_folder().parts

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.warns(UserWarning, match=r"could not be kept .*No space left on device.*root= or \$RANKEDU_DATA"):
        assert len(cached_rendering(tmp_path).images) == 48
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    monkeypatch.setattr(rendering, "render", lambda: render("ABÀЖ"))
    with pytest.warns(UserWarning, match=r"draws other pixels .* than matplotlib 3\.11\.2 .*not comparable"):
        assert len(UnicodeGlyphs("all", root=tmp_path)) == 48


def test_the_hierarchy_is_a_tree_whose_names_belong_to_its_labels(known):
    data = known.splits["all"]
    paths = data.labels.unique(dim=0)
    assert len(paths) == len(data.labels[:, 2].unique())  # one path for each character
    assert len(paths[:, :2].unique(dim=0)) == len(data.labels[:, 1].unique())  # one script for each base letter
    bases = [(script, data.names[1][base]) for script, base in paths[:, :2].unique(dim=0).tolist()]
    assert bases == sorted(bases), "their numbers do not hang on the order of a set"
    for level in range(3):
        assert paths[:, level].unique().tolist() == list(range(len(data.names[level])))
    for side in (*known.splits.values(), known.letters):
        for path in side.labels.unique(dim=0).tolist():
            names = [side.names[level][label] for level, label in enumerate(path)]
            assert names == [script(names[2]), base_letter(names[2]), names[2]]
    words = Counter(unicodedata.name(character).split()[0] for character in known.characters)
    assert sorted(word for word, count in words.items() if count >= 20) == sorted(SCRIPTS)
    letters = {"Ǻ": "a", "ά": "α", "ς": "σ", "Й": "и", "½": "1⁄2", "²": "2", "´": "\u0301", "\u0301": "\u0301"}
    assert {character: base_letter(character) for character in letters} == letters


def test_no_letter_and_no_picture_is_in_two_splits_and_each_has_its_share(known):
    for salt, split in known.dealt.items():
        split_of = dict(zip(known.characters, split.tolist(), strict=True))
        letters = {(base_letter(character), split) for character, split in split_of.items()}
        images = zip(known.drawn.images, known.drawn.codepoints.tolist(), strict=True)
        pictures = {(image.tobytes(), split_of[chr(code)]) for image, code in images}
        for found in (letters, pictures):
            assert len(found) == len({key for key, _ in found}), salt
    tree = with_variants(known.characters)
    for salt in SALTS:
        for split, share in SHARES.items():
            held = known.dealt[salt] == split
            assert abs(held.mean() - share) < 0.02 and abs(held[tree].mean() - share) < 0.05, (salt, split)
            kept = [c for c, inside in zip(known.characters, held & tree, strict=True) if inside]
            letters = {(script(c), base_letter(c)) for c in kept}
            assert {name for name, _ in letters} == set(LETTERS) and len(letters) >= 7, (salt, split)


def test_the_salt_alone_decides_and_halves_are_those_that_committed_results_were_made_with(known):
    dealt, characters = known.dealt, known.characters
    assert (deal(characters[::-1], owners(known.drawn), 1)[::-1] == dealt[1]).all()
    assert (dealt[0] != dealt[1]).mean() > 0.4
    large = [i for i, c in enumerate(characters) if c in "aioeuhy"]  # the largest groups of letters are dealt anew, too
    assert len({tuple(dealt[salt][large]) for salt in SALTS}) > 1
    few = render("aàAbBЖжñN")
    names = [chr(code) for code in np.unique(few.codepoints)]
    assert (halves(names, owners(few)) == halves(names[::-1], owners(few))[::-1]).all()
    train = "".join(c for c, kept in zip(known.characters, known.dealt["halves"], strict=True) if kept)
    assert hashlib.sha256(train.encode()).hexdigest()[:16] == "c48836c772a21f1c"
    assert characters_of(known.splits["train"]) == {*train}
    assert characters_of(known.splits["test"]) == {*known.characters} - {*train}
    images, labels = known.splits["test"][torch.tensor([0, 5])]
    assert images.shape == (2, 32, 32) and labels.shape == (2, 3)


def test_the_letters_only_tree(known):
    data = known.letters
    assert data.names[0] == LETTERS and len(data.names[2]) == 939
    assert data.labels.unique(dim=0)[:, 1].unique(return_counts=True)[1].min() >= VARIANTS
    kept = (known.dealt[1] == "val") & with_variants(known.characters)
    assert characters_of(data) == {c for c, inside in zip(known.characters, kept, strict=True) if inside}


def test_twins_have_the_same_picture():
    data = UnicodeGlyphs("all", characters="AAАΑg")
    assert data.names[2] == ("A", "g", "Α", "А")  # Latin, Latin, Greek, Cyrillic
    assert data.twins.view(4, 12).any(1).tolist() == [True, False, True, True]
    assert not UnicodeGlyphs("all", characters="Ag").twins.any()


def pictures(count=16):
    return torch.from_numpy(render("ABÀЖ").images[:count])


def augmented(images, seed=0, **settings):
    return augment(images, generator=torch.Generator().manual_seed(seed), **settings)


def test_augment_moves_every_image_in_its_own_way_as_far_as_it_is_told():
    for dtype in (torch.uint8, torch.float32, torch.float64):
        images = pictures() if dtype == torch.uint8 else pictures().to(dtype) / 255
        made = augmented(images)
        assert made.shape == (16, 1, 32, 32) and torch.equal(made, augmented(images[:, None])), dtype
        assert made.dtype == (torch.float32 if dtype == torch.uint8 else dtype)
        assert made.min() >= 0 and made.max() <= 1
    clean = pictures().float()[:, None] / 255
    assert torch.equal(augment(pictures(), strength=0.0), clean)
    distance = [(augmented(pictures(), strength=s) - clean).abs().mean().item() for s in (0.1, 0.5, 1.0)]
    assert distance == sorted(distance)
    assert 0.8 < augmented(pictures(), strength=0.2).mean() / clean.mean() < 1.3, "the ink is kept"
    state = torch.get_rng_state()
    first, again, other = (augmented(pictures(), seed) for seed in (3, 3, 4))
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.equal(state, torch.get_rng_state()), "the global one is left alone"
    assert len({image.numpy().tobytes() for image in augmented(pictures(1).expand(8, -1, -1))}) == 8
    if torch.cuda.is_available():
        torch.testing.assert_close(augmented(pictures().cuda()).cpu(), augmented(pictures()), atol=1e-4, rtol=0)


BAD = [
    (lambda: UnicodeGlyphs("all", characters="中"), ValueError, "characters must hold one that at least eig"),
    (lambda: augment(torch.zeros(4, 3, 8, 8)), ValueError, r"or \(B, 1, H, W\), got \(4, 3, 8, 8\)"),
    (lambda: augment(torch.zeros(4, 8, 8).long()), TypeError, "uint8 or floating point, got torch.int64"),
]


def test_the_error_names_the_parameter(refused):
    refused(BAD)
