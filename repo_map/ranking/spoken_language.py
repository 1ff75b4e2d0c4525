"""Which natural language a goal is written in, told by scripts and by stop words; nothing is downloaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from repo_map.ranking.goal_places import URL


class SpokenLanguage(NamedTuple):
    """A language that is not the code's, and its words that say nothing."""

    name: str
    """In English: ``German``."""
    stop_words: frozenset[str]
    """In lower case; none for languages that are told by their script."""


_ENGLISH = frozenset(
    [
        "the",
        "and",
        "or",
        "not",
        "of",
        "to",
        "into",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "for",
        "from",
        "with",
        "as",
        "by",
        "at",
        "when",
        "where",
        "which",
        "what",
        "why",
        "how",
        "if",
        "then",
        "but",
        "does",
        "do",
        "did",
        "should",
        "would",
        "could",
        "can",
        "cannot",
        "have",
        "has",
        "had",
        "will",
        "there",
        "i",
        "we",
        "you",
        "they",
        "my",
        "our",
        "your",
        "an",
        "on",
        "no",
        "after",
        "before",
        "while",
        "than",
        "only",
        "also",
        "get",
        "gets",
        "more",
        "some",
        "any",
        "all",
    ]
)
_STOP_WORDS: Mapping[str, str] = {
    "German": """
    der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen ist
    sind war waren wird werden wurde wurden hat haben hatte kann können soll sollen sollte muss müssen
    darf mit von vom zu zum zur bei beim für auf aus nach vor über unter zwischen durch gegen ohne um im
    in an am als wie wenn dann dass daß weil damit auch noch nur schon immer nie nicht mehr sehr hier dort
    wo was wer warum ich wir man sie er es sich mir uns ihr ihre sein seine dieser diese dieses diesem
    diesen alle alles mein meine siehe bitte manche obwohl sondern jedoch bis seit ob so doch mal gibt
    geht
    """,
    "French": """
    le la les un une des du de et ou mais ne pas plus est sont était être été a ont avoir fait faire peut
    doit dans sur sous avec sans pour par chez vers entre depuis pendant comme quand lorsque si que qui
    quoi dont où ce cet cette ces son sa ses mon ma mes notre nos votre vos leur leurs il elle ils elles
    on je tu nous vous se au aux en y très aussi encore toujours jamais rien tout tous toute toutes même
    alors donc car puis ici c'est l'on n'est d'une d'un pourquoi comment après avant
    """,
    "Spanish": """
    el la los las un una unos unas y o pero no ni es son era fue ser está están estar hay ha han haber
    hace hacer puede debe en con sin por para de del al a desde hasta entre sobre como cuando donde que
    qué quien cual si este esta estos estas ese esa eso esto su sus mi mis nuestro se lo le les me te nos
    yo muy más menos también ya aún todo todos toda todas cada porque aunque pues entonces después antes
    cómo cuándo dónde
    """,
    "Portuguese": """
    o a os as um uma uns umas e ou mas não nem é são era foi ser está estão estar há tem têm ter faz fazer
    pode deve em no na nos nas com sem por para de do da dos das ao à aos às desde até entre sobre como
    quando onde que quem qual se este esta isto esse essa isso seu sua seus suas meu minha ele ela eles
    elas eu nós muito mais menos também já ainda todo todos toda todas cada porque embora então depois
    antes pelo pela
    """,
    "Italian": """
    il lo la i gli le un uno una e o ma non è sono era essere stato ha hanno avere fa fare può deve in con
    senza per di del della dei delle al alla ai alle da dal dalla nel nella nei nelle sul sulla tra fra
    come quando dove che chi cosa quale se questo questa questi queste quello quella suo sua si mi ci vi
    più meno anche già ancora tutto tutti tutte ogni perché quindi dopo prima
    """,
    "Dutch": """
    de het een en of maar niet geen is zijn was waren wordt worden werd heeft hebben had kan kunnen moet
    moeten zou met van voor op uit naar bij over onder tussen door tegen zonder om in aan als dan dat die
    dit deze wat wie waar waarom hoe wanneer ik wij we je jij hij zij ze er ook nog alleen altijd nooit
    meer veel hier daar
    """,
}
_LANGUAGES = tuple(SpokenLanguage(name, frozenset(text.split())) for name, text in _STOP_WORDS.items())
_OWN_LETTERS: Mapping[str, str] = {
    "German": "äöüß",
    "French": "éèêëàâçùûîïôœ",
    "Spanish": "áéíóúñ¿¡",
    "Portuguese": "ãõáéíóúâêôçà",
    "Italian": "àèéìòù",
    "Dutch": "ëï",
}
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # Kana and Hangul first: Japanese and Korean write Chinese characters too.
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("Chinese", re.compile(r"[\u3400-\u9fff]")),
    ("Ukrainian", re.compile(r"[іїєґІЇЄҐ]")),
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_FOREIGN_RUN = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LETTERS_OF_A_WORD = 2
"""Of a script without spaces, about so many letters make a word."""
_SHARE_OF_SCRIPT = 0.4
_LEAST_WORDS = 2
_SHARE_OF_STOP_WORDS = 0.2
_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|\"[^\"\n]{1,200}\"|[“„«][^”“»\n]*[”“»]|\S*[/\\_@#=<>{}()]\S*|\w+\.\w\S*",
    re.DOTALL,
)
"""What is code or a quotation wherever it stands, and tells no language."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ALONE = r"(?<![\w./\\:#@`'’\"“„«-])(?:{})(?![\w/\\#@`('’\"”»-]|[.:]\w)"


def spoken_language(text: str) -> SpokenLanguage | None:
    """Return the language of a goal where it is not English, None where nothing tells."""
    plain = _CODE.sub(" ", URL.sub(" ", text))
    return _by_script(plain) or _by_stop_words(plain)


def _by_script(plain: str) -> SpokenLanguage | None:
    runs = _FOREIGN_RUN.findall(plain)
    foreign = sum(max(1, len(run) // _LETTERS_OF_A_WORD) if _UNSPACED.search(run) else 1 for run in runs)
    latin = len(re.findall(r"[A-Za-z]{2,}", plain))
    if foreign < _LEAST_WORDS or foreign < _SHARE_OF_SCRIPT * (foreign + latin):
        return None
    script = "".join(runs)
    return next((SpokenLanguage(name, frozenset()) for name, own in _SCRIPTS if own.search(script)), None)


def _by_stop_words(plain: str) -> SpokenLanguage | None:
    said = [word.lower().replace("’", "'") for word in _WORD.findall(plain)]
    english = sum(word in _ENGLISH for word in said)
    best, most = None, 0
    for language in _LANGUAGES:
        own = _OWN_LETTERS[language.name]
        hits = sum(word in language.stop_words for word in said)
        if not english:
            # A letter that English lacks tells as much as a stop word, but English borrows: ``naïve``.
            hits += sum(any(each in own for each in word) for word in said if word not in language.stop_words)
        if hits > most:
            best, most = language, hits
    enough = most >= _LEAST_WORDS and most >= _SHARE_OF_STOP_WORDS * len(said)
    return best if enough and most > 1.5 * english else None


def without_stop_words(text: str, language: SpokenLanguage | None) -> str:
    """Return the text without the language's stop words, those in code, paths and quotations kept."""
    if language is None or not language.stop_words:
        return text
    alone = re.compile(
        _ALONE.format("|".join(map(re.escape, sorted(language.stop_words, key=len, reverse=True)))),
        re.IGNORECASE,
    )
    kept, last = [], 0
    for quoted in re.finditer(r"`[^`\n]*`|\"[^\"\n]*\"|[“„«][^”“»\n]*[”“»]", text):
        kept += [alone.sub(" ", text[last : quoted.start()]), quoted[0]]
        last = quoted.end()
    return "".join([*kept, alone.sub(" ", text[last:])])
