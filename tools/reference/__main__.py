"""Write `docs/reference/` and `docs/pictures/` anew: `make reference`."""

from tools.reference.pages import ROOT, made_files


def main() -> None:
    """Write every file that is made; what people wrote beside them is left alone."""
    for place, content in made_files().items():
        file = ROOT / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
