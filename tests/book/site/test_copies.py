"""A reader's copies are pairs, and none that the reader has changed is ever overwritten."""

from tools import copies


def test_a_changed_pair_stays_until_it_is_renamed_and_the_others_are_renewed(tmp_path):
    repository, folder = tmp_path / "repository", tmp_path / "mine"
    names = [file.format(name) for name in ("01_a", "02_b") for file in ("notebooks/{}.ipynb", "book/chapters/{}.md")]

    def publish(words: str) -> None:
        for name in names:
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_text(words, encoding="utf-8")

    def texts() -> list[str]:
        return [(folder / name).read_text(encoding="utf-8") for name in names]

    publish("first")
    assert copies.renew(folder, repository) == [] and texts() == ["first"] * 4
    (folder / names[0]).write_text("mine", encoding="utf-8")
    assert copies.renew(folder, repository) == [], "there is nothing newer"
    publish("second")
    assert copies.renew(folder, repository) == [names[1], names[0]]
    assert texts() == ["mine", "first", "second", "second"], "the text of a changed notebook stays, too"
    publish("third")
    (folder / names[0]).rename(folder / "notebooks" / "my_01_a.ipynb")
    assert copies.renew(folder, repository) == [] and texts() == ["third"] * 4
    assert (folder / "notebooks" / "my_01_a.ipynb").read_text(encoding="utf-8") == "mine"
