def separated(text, words):
    """Text as the server must get it: with a separator after each word, if it cannot split the text itself."""
    if words is None:
        return text
    import regex  # The standard library knows no Unicode categories.

    parts = regex.split("(" + "|".join(map(regex.escape, words["tokens"])) + ")", text)
    pattern = regex.compile(words["pattern"])
    return "".join(
        part if index % 2 else pattern.sub(lambda found: found[0] + words["separator"], part)
        for index, part in enumerate(parts)
    )
