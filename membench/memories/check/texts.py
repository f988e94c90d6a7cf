"""What the check writes. Texts are clearly different, so that a memory that refuses near-duplicates stores them."""

import unicodedata
from collections.abc import Iterator

SENTENCES = (
    "Marta planted purple tulips beside her chimney",
    "Kofi repaired an antique gramophone yesterday",
    "Our ferry to Bergen leaves at dawn",
    "Spicy dumplings need more ginger",
    "Astronomers photographed seven moons orbiting Saturn",
    "Chess club meets every Thursday evening",
    "My passport expires next February",
    "Lightning struck that old oak tree",
    "Dentist appointments make Paulo nervous",
    "She won bronze swimming two hundred metres butterfly",
    "Volcanic ash grounded flights across Iceland",
    "Bakers knead sourdough before sunrise",
    "Tax returns confuse self employed plumbers",
    "Wolves were heard howling near Yellowstone",
    "His violin teacher prefers Vivaldi over Mozart",
    "Recycling glass bottles saves energy",
    "Nadia adopted three stray kittens",
    "Coral reefs bleach when oceans warm",
    "Train strikes delayed commuters from Lyon",
    "Quantum computers factor large primes",
    "Bright yellow raincoats sold out quickly",
    "Archaeologists unearthed Roman coins under parking lot",
    "Football fans celebrated until midnight",
    "Carpenters sanded walnut shelves smooth",
)
"""No two share a word: diversification by shared words does not change their order."""

FEW = SENTENCES[:12]
"""Fewer than a search asks for, so that what is there can be found however it is ranked."""

SHORT = "Hm."
LONG = " ".join(f"{sentence}." for sentence in SENTENCES * 3)
"""About 3,000 characters, more than many a memory takes."""

HUGE_BYTES = 100_000
_HUGE_OPENING = "Whoever keeps bees learns patience in spring."
HUGE_QUERY = " ".join([SENTENCES[0]] * 220)
"""10 kB."""

_NAMES = "Aisha Bruno Chiara Dmitri Elena Farid Greta Hiro Ines Jamal Katya Luis Mina Noor Olaf Priya Quinn"
_VERBS = "sold painted lost borrowed photographed repaired dropped inherited wrapped measured burned hid weighed"
_THINGS = (
    "guitar telescope umbrella bicycle cactus teapot anchor mirror lantern sledge accordion carpet kayak "
    "beehive typewriter microscope saddle trumpet hammock compass wheelbarrow chandelier parachute"
)
_PLACES = (
    "airport castle bakery harbour desert library stadium cemetery vineyard prison lighthouse museum "
    "swamp monastery factory glacier circus orchard hospital"
)


def many(count: int) -> list[str]:
    """Different sentences that share few words: the lengths of the lists have no common divisor."""
    names, verbs, things, places = (words.split() for words in (_NAMES, _VERBS, _THINGS, _PLACES))
    return [
        f"{names[n % len(names)]} {verbs[n % len(verbs)]} a {things[n % len(things)]} at the {places[n % len(places)]}"
        for n in range(count)
    ]


def mixed_queries() -> Iterator[str]:
    """Queries that share words with several of the sentences, with the first of them most."""
    for place, sentence in enumerate(SENTENCES):
        second = SENTENCES[place - 5].split()[:3]
        third = SENTENCES[place - 9].split()[:1]
        yield " ".join([sentence, *second, *third])


def unusual() -> dict[str, tuple[str, str]]:
    """By what is unusual in it: a text, and a query that finds it."""
    texts = {
        "nothing but blanks": " \t\n ",
        "composed accents": unicodedata.normalize("NFC", "Zoë reçut une crème brûlée à l'hôtel près de Besançon"),
        "decomposed accents": unicodedata.normalize("NFD", "José pidió jamón ibérico según la tradición española"),
        "emoji": "Party at the beach \U0001f389\U0001f3d6\ufe0f with \U0001f469\u200d\U0001f469\u200d\U0001f467",
        "right-to-left writing": "القط الأسود ينام تحت الشجرة الكبيرة כל הלילה",
        "Chinese and Japanese": "我昨天在东京买了一把红色的雨伞、とても気に入っています",
        "control characters": "Morse code ticker:\x01\x02\x07 stop \x1b[31mred\x1b[0m\x7f stop\r\n\tend",
        "a NUL character": "Sector seven of the disk\x00was overwritten by the scheduler",
        "quotes and percent signs": 'O\'Brien said: "100% {off}; DROP TABLE memories; -- \\n" at the market',
        "line separators": "First verse of the ballad\u2028second verse\u2029refrain\x85coda",
    }
    huge = f"{_HUGE_OPENING} " * (HUGE_BYTES // len(_HUGE_OPENING))
    return {name: (text, text) for name, text in texts.items()} | {"a text of 100 kB": (huge, _HUGE_OPENING)}
