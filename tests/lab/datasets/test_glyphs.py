"""`UnicodeGlyphs`: what is drawn, how it is kept, how it is labelled and split; and the augmentation."""

from __future__ import annotations

import hashlib
import unicodedata
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from ranklab.datasets import UnicodeGlyphs, augment, held_out, open_dataset, rendering
from ranklab.datasets.cache import cache_folder
from ranklab.datasets.glyphs import LEVELS, base_letter, card_markdown, script
from ranklab.datasets.rendering import Rendering, cached_rendering, drawn_with, render
from ranklab.datasets.unicode_tree import LETTERS, SCRIPTS, SHARES, VARIANTS, deal, halves, owners, with_variants
from ranklab.training import SuperClassSampler

ROOT = Path(__file__).resolve().parents[3]
PINNED_VERSION = drawn_with() == rendering.CHECKED_WITH


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A cache that holds the rendering, drawn once for all tests of this file."""
    folder = tmp_path_factory.mktemp("glyphs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if not PINNED_VERSION else "error")
        cached_rendering(folder)
    return folder


@pytest.fixture(scope="module")
def splits(root):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if not PINNED_VERSION else "error")
        return {name: UnicodeGlyphs(name, root=root) for name in ("train", "test", "all")}


def characters_of(data):
    return {data.names[2][leaf] for leaf in data.labels[:, 2].tolist()}


def small(text="ABÀЖ"):
    return render(text)


# --- what is drawn -------------------------------------------------------------------------------------------------


def test_counts(splits):
    assert len(splits["all"].names[2]) == 3277
    assert len(splits["all"]) == 35_690
    assert splits["all"].images.shape == (35_690, 32, 32)
    assert splits["all"].images.dtype == torch.uint8
    assert splits["all"].labels.shape == (35_690, len(LEVELS))
    assert int(splits["all"].faces.max()) == 11
    assert splits["all"].images.flatten(1).any(1).all()


def test_every_character_has_a_name_and_is_drawn_in_eight_faces(splits):
    sizes = splits["all"].labels[:, 2].bincount()
    assert sizes.min() >= 8 and sizes.max() == 12
    assert all(unicodedata.name(character) for character in characters_of(splits["all"]))


def test_the_box_for_a_missing_glyph_never_counts(splits):
    boxes = {rendering._draw(font, None).tobytes() for font in rendering._fonts()}
    assert len(boxes) > 1 and all(any(box) for box in boxes)
    assert len(render("中").images) == 0
    assert boxes.isdisjoint(image.tobytes() for image in splits["all"].images.numpy())


@pytest.mark.parametrize("invisible", [" ", "\u00a0", "\u200b", "\u2003", "\ufe00", "\n"])
def test_what_leaves_no_ink_is_left_out(invisible):
    assert len(render(invisible).images) == 0


def test_glyphs_keep_their_height_over_the_writing_line():
    drawn = small(",'")
    rows = {chr(c): image.any(1).nonzero()[0].mean() for c, image in zip(drawn.codepoints, drawn.images, strict=True)}
    assert rows["'"] + 8 < rows[","]


@pytest.mark.parametrize("wide", "Ǆ⟺")
def test_what_would_not_fit_is_drawn_smaller_not_cut(wide):
    images = render(wide).images
    assert len(images) >= 8
    assert all(image.any(0).sum() > 24 for image in images)


def test_rendering_is_deterministic():
    assert small().sha256() == small().sha256()
    assert small("AB").sha256() != small("AC").sha256()


@pytest.mark.skipif(not PINNED_VERSION, reason=f"the checksum is pinned for {rendering.CHECKED_WITH}")
def test_the_pinned_checksum(root):
    assert cached_rendering(root).sha256() == rendering.PINNED_SHA256


def test_characters_that_nothing_draws():
    with pytest.raises(ValueError, match="characters must hold one that at least eight of the faces draw, got none"):
        UnicodeGlyphs("all", characters="中")


def test_an_unknown_split():
    with pytest.raises(ValueError, match=r"split must be one of 'train', 'test', 'all', 'pretrain', .* got 'dev'"):
        UnicodeGlyphs("dev", characters="A")


# --- how it is kept ------------------------------------------------------------------------------------------------


@pytest.fixture
def cheap(monkeypatch):
    """Rendering of four characters in place of all; counts how often it is drawn."""
    drawn = []
    few = small()

    def fake() -> Rendering:
        drawn.append(1)
        return few

    monkeypatch.setattr(rendering, "render", fake)
    monkeypatch.setattr(rendering, "PINNED_SHA256", few.sha256())
    return drawn


def test_the_cache_is_one_file_and_is_used(cheap, tmp_path):
    first, second = cached_rendering(tmp_path), cached_rendering(tmp_path)
    assert len(cheap) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty"])
def test_a_damaged_cache_is_drawn_anew(cheap, tmp_path, damage):
    good = cached_rendering(tmp_path)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "garbage":
        path.write_bytes(content[:200] + bytes(200) + content[400:])
    else:
        path.write_bytes(b"")
    assert cached_rendering(tmp_path).sha256() == good.sha256()
    assert len(cheap) == 2
    assert cached_rendering(tmp_path).sha256() == good.sha256()
    assert len(cheap) == 2


def test_a_failed_write_leaves_nothing_behind(cheap, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.warns(UserWarning, match=r"could not be kept .*No space left on device.*root= or \$RANKEDU_DATA"):
        assert len(cached_rendering(tmp_path).images) == 48
    assert not list(tmp_path.iterdir())


def test_other_pixels_warn_and_work(cheap, tmp_path, monkeypatch):
    monkeypatch.setattr(rendering, "PINNED_SHA256", "f" * 64)
    with pytest.warns(UserWarning, match=r"draws other pixels .* than matplotlib 3\.11\.2 .*not comparable"):
        data = UnicodeGlyphs("all", root=tmp_path)
    assert len(data) == 48


def test_the_pinned_pixels_do_not_warn(cheap, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cached_rendering(tmp_path)


def test_where_the_cache_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
    assert cache_folder(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv("RANKEDU_DATA")
    assert "rankedu" in cache_folder().parts


# --- how it is labelled and split ----------------------------------------------------------------------------------


def test_the_hierarchy_is_a_tree(splits):
    labels = splits["all"].labels
    paths = labels.unique(dim=0)
    assert len(paths) == len(labels[:, 2].unique())  # one path for each character
    assert len(paths[:, :2].unique(dim=0)) == len(labels[:, 1].unique())  # one script for each base letter
    for level in range(len(LEVELS)):
        assert set(labels[:, level].tolist()) == set(range(len(splits["all"].names[level])))


def test_names_belong_to_labels(splits):
    data = splits["test"]
    for path in data.labels.unique(dim=0).tolist():
        names = [data.names[level][label] for level, label in enumerate(path)]
        assert names == [script(names[2]), base_letter(names[2]), names[2]]


def test_the_listed_scripts_are_those_of_twenty_characters(splits):
    words = Counter(unicodedata.name(character).split()[0] for character in characters_of(splits["all"]))
    assert sorted(word for word, count in words.items() if count >= 20) == sorted(SCRIPTS)


@pytest.mark.parametrize(
    ("character", "letter"),
    [("Ǻ", "a"), ("ά", "α"), ("ς", "σ"), ("Й", "и"), ("½", "1⁄2"), ("²", "2"), ("´", "\u0301"), ("\u0301", "\u0301")],
)
def test_base_letters(character, letter):
    assert base_letter(character) == letter


def test_the_splits_are_disjoint_halves(splits):
    train, test = characters_of(splits["train"]), characters_of(splits["test"])
    assert train.isdisjoint(test)
    assert train | test == characters_of(splits["all"])
    assert abs(len(train) - len(test)) < 0.01 * len(train)
    assert {base_letter(c) for c in train}.isdisjoint({base_letter(c) for c in test})


def test_no_picture_is_on_both_sides(splits):
    train, test = ({image.numpy().tobytes() for image in splits[side].images} for side in ("train", "test"))
    assert train.isdisjoint(test)


def test_all_levels_are_usable_on_both_sides(splits):
    for side in ("train", "test"):
        data = splits[side]
        assert set(data.labels[:, 0].tolist()) == set(range(len(data.names[0])))
        characters_per_letter = data.labels[:, 1:].unique(dim=0)[:, 0].bincount()
        assert (characters_per_letter > 1).sum() > 150


def test_the_split_does_not_depend_on_the_order():
    drawn = render("aàAbBЖжñN")
    characters = [chr(code) for code in np.unique(drawn.codepoints)]
    forward, backward = halves(characters, owners(drawn)), halves(characters[::-1], owners(drawn))
    assert forward.tolist() == backward[::-1].tolist()
    assert forward.any() and not forward.all()


# --- the splits of the protocol ------------------------------------------------------------------------------------

SALTS = [0, 1, 2, 17]


@pytest.fixture(scope="module")
def drawn(root):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cached_rendering(root)


@pytest.fixture(scope="module")
def characters(drawn):
    return [chr(code) for code in np.unique(drawn.codepoints)]


@pytest.fixture(scope="module")
def dealt(drawn, characters):
    return {salt: deal(characters, owners(drawn), salt) for salt in SALTS}


@pytest.mark.parametrize("salt", SALTS)
def test_no_letter_and_no_picture_is_in_two_splits(drawn, characters, dealt, salt):
    split_of = dict(zip(characters, dealt[salt], strict=True))
    letters, pictures = ({}, {})
    for character, split in split_of.items():
        letters.setdefault(base_letter(character), set()).add(split)
    for image, code in zip(drawn.images, drawn.codepoints.tolist(), strict=True):
        pictures.setdefault(image.tobytes(), set()).add(split_of[chr(code)])
    assert all(len(splits) == 1 for splits in [*letters.values(), *pictures.values()])


@pytest.mark.parametrize("salt", SALTS)
def test_the_splits_have_their_shares_also_of_the_letters_only_tree(characters, dealt, salt):
    tree = with_variants(characters)
    for split, share in SHARES.items():
        held = dealt[salt] == split
        assert abs(held.mean() - share) < 0.02
        assert abs(held[tree].mean() - share) < 0.05
        letters = {(script(c), base_letter(c)) for c, kept in zip(characters, held & tree, strict=True) if kept}
        assert {name for name, _ in letters} == set(LETTERS) and len(letters) >= 7


def test_the_salt_alone_decides(drawn, characters, dealt):
    forward = dealt[1]
    assert (deal(characters, owners(drawn), 1) == forward).all()
    assert (deal(characters[::-1], owners(drawn), 1)[::-1] == forward).all()
    assert (dealt[0] != forward).mean() > 0.4
    large = [i for i, c in enumerate(characters) if c in "aioeuhy"]  # the largest groups of letters are dealt anew, too
    assert len({tuple(splits[large]) for splits in dealt.values()}) > 1


def test_the_halves_are_those_that_committed_results_were_made_with(drawn, characters):
    train = "".join(c for c, kept in zip(characters, halves(characters, owners(drawn)), strict=True) if kept)
    assert hashlib.sha256(train.encode()).hexdigest()[:16] == "c48836c772a21f1c"


def test_the_letters_only_tree(root, splits):
    data = UnicodeGlyphs("val", letters=True, salt=1, root=root)
    assert data.names[0] == LETTERS and len(data.names[2]) == 939
    paths = data.labels.unique(dim=0)
    assert paths[:, 1].unique(return_counts=True)[1].min() >= VARIANTS
    whole = UnicodeGlyphs("val", salt=1, root=root)
    assert characters_of(data) < characters_of(whole) < characters_of(splits["all"])
    for path in paths.tolist():
        assert [script(data.names[2][path[2]]), base_letter(data.names[2][path[2]])] == [
            data.names[level][label] for level, label in enumerate(path[:2])
        ]


@pytest.mark.parametrize("split", ["pretrain", "fit", "val"])
def test_two_scripts_a_batch(root, split):
    data = UnicodeGlyphs(split, letters=True, root=root)
    for batch in SuperClassSampler(data.labels, 64, 4, batches=6):
        assert data.labels[batch, 0].unique(return_counts=True)[1].tolist() == [32, 32]


def test_held_out_letters_are_behind_a_door(root):
    for open_it in (UnicodeGlyphs, partial(open_dataset, "glyphs")):
        with pytest.raises(PermissionError, match=r"split must not be 'held_out' before the end.*choose on 'val'"):
            open_it("held_out", root=root)
    with held_out.opened():
        assert len(UnicodeGlyphs("held_out", root=root)) > 8000
    with pytest.raises(PermissionError):
        UnicodeGlyphs("held_out", root=root)


def test_one_command_alone_opens_the_door():
    """Whoever selects can't without being named here: nothing else calls `opened`, or knows the variable."""
    door, command = "lab/ranklab/datasets/held_out.py", "lab/ranklab/cli/claims.py"
    files = [path for folder in ("rankedu", "lab", "book") for path in (ROOT / folder).rglob("*.py")]
    files += [
        path for folder in ("book", "notebooks") for path in (ROOT / folder).rglob("*.md") if "_build" not in path.parts
    ]
    files += [*(ROOT / "notebooks").rglob("*.ipynb"), *(ROOT / "notebooks").rglob("*.yaml"), ROOT / "Makefile"]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    opening = {name for name, text in texts.items() if "held_out.opened" in text or "import opened" in text}
    setting = {name for name, text in texts.items() if held_out.VARIABLE in text or "held_out.VARIABLE" in text}
    assert opening <= {command} and setting == {door}


def test_twins():
    data = UnicodeGlyphs("all", characters="AАΑg")
    assert data.names[2] == ("A", "g", "Α", "А")  # Latin, Latin, Greek, Cyrillic
    assert data.twins.view(4, 12).any(1).tolist() == [True, False, True, True]
    assert not UnicodeGlyphs("all", characters="Ag").twins.any()


def test_items(splits):
    images, labels = splits["train"][torch.tensor([0, 5])]
    assert images.shape == (2, 32, 32) and labels.shape == (2, 3)
    assert "train" in repr(splits["train"])


def test_card(root, splits):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = card_markdown(root)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    images = [cells for name, *cells in rows if name == "images" and cells != ["characters"]]
    halved, protocol, letters = ([int(cell.replace(",", "")) for cell in cells] for cells in images)
    assert halved[0] + halved[1] == halved[2] == sum(protocol) == len(splits["all"]) > sum(letters)
    assert "| LATIN |" in text and rendering.PINNED_SHA256 in text


# --- augmentation --------------------------------------------------------------------------------------------------


def pictures(count=16):
    return torch.from_numpy(small().images[:count])


@pytest.mark.parametrize("shape", [(16, 32, 32), (16, 1, 32, 32)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64])
def test_augment_gives_pictures(shape, dtype):
    images = pictures().view(shape)
    images = images if dtype == torch.uint8 else images.to(dtype) / 255
    made = augment(images, generator=torch.Generator().manual_seed(0))
    assert made.shape == (16, 1, 32, 32)
    assert made.dtype == (torch.float32 if dtype == torch.uint8 else dtype)
    assert made.min() >= 0 and made.max() <= 1


def test_augment_is_deterministic_by_generator():
    first, again, other = (augment(pictures(), generator=torch.Generator().manual_seed(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_augment_leaves_the_global_generator_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    augment(pictures(), generator=torch.Generator().manual_seed(1))
    assert torch.equal(torch.rand(3), expected)


def test_augment_moves_every_image_in_its_own_way():
    made = augment(pictures(1).expand(8, -1, -1), generator=torch.Generator().manual_seed(0))
    assert len({image.numpy().tobytes() for image in made}) == 8


def test_strength():
    clean = pictures().float()[:, None] / 255
    assert torch.equal(augment(pictures(), strength=0.0), clean)
    distance = [
        (augment(pictures(), generator=torch.Generator().manual_seed(0), strength=s) - clean).abs().mean().item()
        for s in (0.1, 0.5, 1.0)
    ]
    assert distance == sorted(distance)


def test_augment_keeps_the_ink():
    made = augment(pictures(), generator=torch.Generator().manual_seed(0), strength=0.2)
    ratio = made.mean() / (pictures().float().mean() / 255)
    assert 0.8 < ratio < 1.3


@pytest.mark.parametrize(
    ("images", "strength", "error", "message"),
    [
        (torch.zeros(4, 3, 32, 32), 1.0, ValueError, r"shape \(B, H, W\) or \(B, 1, H, W\), got \(4, 3, 32, 32\)"),
        (torch.zeros(4, 32, 32, dtype=torch.int64), 1.0, TypeError, "uint8 or floating point, got torch.int64"),
        (np.zeros((4, 32, 32)), 1.0, TypeError, "must be a torch.Tensor, got ndarray"),
        (torch.zeros(4, 32, 32), -1.0, ValueError, "strength must be finite and >= 0, got -1.0"),
    ],
)
def test_augment_refuses(images, strength, error, message):
    with pytest.raises(error, match=message):
        augment(images, strength=strength)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_generator_on_the_cpu_gives_the_same_draws_on_cuda():
    here, there = (
        augment(pictures().to(device), generator=torch.Generator().manual_seed(0)).cpu() for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(here, there, atol=1e-4, rtol=0)
