"""What steering understands: one row for each operation, read by the parser and by the page that tells it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple


class Operation(StrEnum):
    """What somebody can want of a context; each either changes it or is answered."""

    NUMBERS = "numbers"
    FINISH = "finish"
    NOTHING = "nothing"
    UNDO = "undo"
    BUDGET = "budget"
    LEFT_OUT = "left out"
    WHY = "why"
    IMPACT = "impact"
    IMPORTERS = "importers"
    IMPORTS = "imports"
    HISTORY = "history"
    CLASSES = "classes"
    TESTS = "tests"
    CALLERS = "callers"
    USES = "uses"
    WHERE = "where"
    BACK = "back"
    OUTLINE = "outline"
    LESS = "less"
    ONLY = "only"
    OUT = "out"
    MORE = "more"
    WHOLE = "whole"
    SEARCH = "search"


class Row(NamedTuple):
    """One thing that is understood, and the ways to say it."""

    operation: Operation
    is_question: bool
    """It is answered, and changes nothing."""
    meaning: str
    """What it does, for the page."""
    say: str
    """The way to say it that is offered to who was not understood; ``{}`` is the name."""
    examples: tuple[str, ...]
    """Sentences of the tests' repository that mean it."""
    forms: tuple[str, ...]
    """Patterns of whole clauses: a blank is any white space, ``(`` opens an alternative, ``{}`` is what it is
    about, ``<word>`` stands for ``WORDS[word]``."""
    hints: str = ""
    """Words, of other languages too, by which it is offered where a clause is not understood."""


WORDS: Final = {
    "show": (
        "(?:show|display|give|print|get|fetch|open(?: up)?|include|add|read|see|view|expand|unfold|deepen|list"
        "|bring in|pull in|zoom in(?:to)?(?: on)?|zoom on|dive into|look at|look into|load|insert|inspect|provide"
        "|take a look at|have)(?: me| us)?"
    ),
    "drop": (
        "(?:drop|remove|exclude|ignore|skip|hide|omit|lose|discard|leave out|take out|throw out|forget(?: about)?"
        "|prune|never mind|get rid of|cut out|kick out|strip out|no need for|without|no|not|minus|stop (?:showing|including)(?: me)?"
        ")"
    ),
    "not": "(?:do not|don't|dont|did not|didn't|will not|won't|would not|wouldn't|never|you needn't|no need to)",
    "is": "(?:is|are|was|were|'s)",
    "isnt": "(?:is not|are not|isn't|aren't|is no|are no)",
    "outline": "(?:outlines?|structure|signatures?|interfaces?|api|skeleton|headers?|shape)",
    "callers": "(?:callers?|usages?|uses|users|call sites?|references|invocations)",
    "call": (
        "(?:calls?|uses?|invokes?|references?|refers? to|depends? on|needs?|(?:is|are) (?:calling|using|invoking))"
    ),
    "cover": "(?:cover|exercise|test|use|call|check|reach|hit)(?:s|es)?",
    "of": "(?:of|for|from|in|to|on)",
    "change": "(?:chang(?:e|ed|ing)|touch(?:ed|ing)?|edit(?:ed|ing)?|modif(?:y|ied|ying)|remov(?:e|ed|ing)|renam(?:e|ed|ing)|wrote|broke)",
    "whole": "(?:full|whole|complete|entire|all)",
    "source": "(?:source(?: code)?|body|bodies|code|text|file|implementation|contents?|definition)",
}

_NAME: Final = "{}"

TABLE: Final = (
    Row(
        Operation.NUMBERS,
        False,
        "Shows the source of places of the menu, by their numbers; `without tests` leaves tests aside.",
        "3, 7 and 12",
        ("3, 7 and 12", "2-5 without tests", "Please give me numbers 1, 4 and 6 from the menu."),
        (),
    ),
    Row(
        Operation.FINISH,
        False,
        "Takes the context as it is, and ends the navigation.",
        "that's enough",
        ("thanks, that's enough", "finish", "Perfect, I have what I need now."),
        (
            "(that|this)('s| is| will be| was) (enough|all|everything|it|sufficient|what i needed?)( that)?( (i|we) need(ed)?)?( for now| now)?",
            "(that|this) will do",
            "(good )?enough( already| now)?(,? stop( here| now)?)?",
            "(i'm |we're |i am |we are )?(good|ready|all set)( to (go|start|begin|proceed|code))( now| here)?",
            "wrap( (it|this|that))? up( here| now)?",
            "(finish|stop|end|accept)( it| here| up| now| the (context|navigation)| this)?",
            "(i'm |we're |i am |we are |all )?(done|finished)( here| now| with (it|this))?",
            "(i|we)( now)? have (everything|all|what|enough)( that)?( (i|we) (need|want|wanted))?( now| for now)?",
        ),
        "genug fertig assez basta suficiente",
    ),
    Row(
        Operation.NOTHING,
        False,
        "Small talk: nothing happens.",
        "thanks",
        ("thanks", "ok", "Looks good so far"),
        (
            "(thanks?( you| a lot| so much)*( very much)?|thx|ok(ay)?|good|great|nice|fine|perfect|yes|yep|sure|hi|hello|hey"
            "|cool|awesome|excellent|wonderful|got it|i see|understood|well done|nice work|good job|great work|continue|next|go on|proceed)( so far)?",
            "(it|this|that)?\\s*(looks?|seems?|is|was|'s) (really |very |so |super |quite )?(an? )?(good|great|fine|nice|perfect|ok(ay)?|right|helpful|useful)( start| work| job)?( so far| to me| already)?",
            "(very |super |really )?(helpful|useful)",
        ),
        "danke merci gracias",
    ),
    Row(
        Operation.UNDO,
        False,
        "Takes back the last change, the last few, or all of them.",
        "undo",
        ("undo that", "Undo the last two changes", "start over"),
        (
            "(undo|revert|scrap|take back|roll ?back|cancel|forget|reverse)"
            "( that| it| this| the| my| your| last| previous| latest| change| changes| step| steps| one| ones| two| three| four| five"
            "| six| seven| eight| nine| ten| all| everything| of| them| again| to| beginning| start| first| original| initial| version| state| \\d+)*",
            "(take|put|turn) (that|it|this) back",
            "(go|step) back(( by)? (one|a|two|three|four|five|six|seven|eight|nine|ten|\\d+) (steps?|changes?))?",
            "(go|step) back to (how|what|where) (it|things|we) (was|were)"
            "( (before|(one|a|two|three|four|five|six|seven|eight|nine|ten|\\d+) (steps?|changes?) ago))?",
            "(start over|start again|start from scratch|reset)( everything| all| it)?( to the (beginning|start))?",
        ),
        "rückgängig zurück annuler deshacer",
    ),
    Row(
        Operation.BUDGET,
        False,
        "Sets the tokens of the context, or makes it larger or smaller: by half and by a third, or twofold.",
        "use 16k tokens",
        ("use 16k tokens", "bigger budget", "halve it", "Make it a bit shorter, please"),
        (),
        "tokens token budget größer kleiner kürzer",
    ),
    Row(
        Operation.LEFT_OUT,
        True,
        "Tells the best files that are not shown.",
        "what did you leave out?",
        ("what did you leave out?", "what else is relevant?", "what is missing?"),
        (
            "what (did you (leave out|cut|drop|omit|skip)|(was|is|has been) (left out|cut|dropped|omitted|not shown|missing))",
            "what('s| is| are)? ?else( is| are)?( there| relevant| of interest| important| useful)?",
            "(is|are) (there )?(anything|something)( else)?( is)? (missing|relevant|left out|cut)",
            "what (more|else) (could|can|should|would) (you|i|we) (show|see|read|look at)",
            "what (am|are) (i|we) missing",
        ),
        "fehlt manque falta",
    ),
    Row(
        Operation.WHY,
        True,
        "Tells the evidence that put a file or a definition where it is.",
        "why is {} here?",
        (
            "why is src/shop/retry.py here?",
            "Why did you include web/cart.ts?",
            "why don't I see src/billing/invoices.py?",
        ),
        (
            "why( on earth)? (is|are|was|were|isn't|aren't|is not|did you (include|show|pick|add|choose|select|rank|leave out|drop)"
            "|do (you|i|we) (see|have|show|get)|(don't|do not|didn't|did not|can't) (you|i|we) (see|have|show|get|include)) {}",
            "why( on earth)? (did|does|do) {} (make|end|get|land|come|appear|show|belong|matter|count)( .+)?",
            "why {}",
            "how come {} (is|are|was|were|isn't|aren't)( .+)?",
            "(what is|what's|give me|what was) the reason (for (including|showing|picking|adding)?|of) ?{}",
            "(what|which) (makes?|evidence (is there |speaks )?for|speaks for) {}( relevant| interesting| important)?",
        ),
        "warum wieso pourquoi porque perché",
    ),
    Row(
        Operation.IMPACT,
        True,
        "Tells what a change of a definition reaches: who calls it, and the tests.",
        "what breaks if I change {}?",
        ("what breaks if I change Session.send?", "What is the impact of changing merge_cookies?"),
        (
            "what (else )?(breaks|would break|will break|could break|might break|is affected|would be affected|happens|would happen|depends)"
            "( if| when| by)( (i|we|you|one|someone))?( were to| would)? <change> {}",
            "(who|what)( else)? (is|would be|will be|could be|might be|gets) (affected|broken|hit) (by|in|if|when) (an? )?(change|changes|edit|edits|modification) (of|to|in) {}",
            "what (happens|would happen|will happen) (to|with|in) .+ (if|when)( (i|we|you|one|someone))?( were to| would)? <change> {}",
            "(would|will|does|do|could|might|can) (anything|something|it|any code|any tests?)( else)? (break|fail|change|stop working) (if|when)( (i|we|you))?( <change>)? {}( (is|are|was|were|gets?|<change>|returned|raised|took|had|became|went away|goes away)( .+)?)?",
            "((what is|what's|tell me|show me) )?(the )?(impact|effects?|consequences|blast radius) of( <change>| a change (of|to|in))? {}",
            "(who|what) (is|would be|will be) (affected|broken|hit) (by|if|when)( (i|we|you))? <change> {}",
        ),
    ),
    Row(
        Operation.IMPORTERS,
        True,
        "Tells which files import a file, with the lines.",
        "who imports {}?",
        ("who imports shop/utils.py?", "which files import src/shop/auth.py?"),
        (
            "(who|what|which (files?|modules?|packages?|code)) (imports?|includes?|requires?) {}",
            "where (is|are) {} (imported|included|required)( from)?",
            "((list|show|give|find)( me)? )?(all )?(the )?importers of {}",
        ),
    ),
    Row(
        Operation.IMPORTS,
        True,
        "Tells what a file imports, with the lines.",
        "imports of {}",
        ("Give me the imports of sessions.py", "what does src/billing/invoices.py import?"),
        (
            "((list|show|give|tell|what are)( me)? )?(all )?(the )?imports (of|in|for|from) {}",
            "what (does|do) {} (import|include|require)",
            "(which|what) (modules|files|packages) (does|do|is|are) {} (import|include|require|depend on|need|use)",
        ),
    ),
    Row(
        Operation.HISTORY,
        True,
        "Tells the last commits of a file.",
        "history of {}",
        (
            "history of src/shop/retry.py",
            "who changed retry.py last?",
            "show the recent commits to src/shop/retry.py",
        ),
        (
            "((list|show|give|tell|what is|what's|what are)( me)? )?(the )?(recent |last |latest |git )*(history|commits?|changes|log) <of> {}",
            "(who|when|how often)( was| has| did| is)?( (last|recently))? <change> {}( last| recently| lately| before)?",
            "(when|how often|by whom) (was|has|did|is) {}( been)?( last| recently)? <change>( last| recently)?",
            "(when|how often|by whom) (was|has|did|is) {}( been)?( last| recently)? <change>,? and by whom",
            "what (has )?changed( recently| last)? in {}( recently| lately| last)?",
        ),
    ),
    Row(
        Operation.CLASSES,
        True,
        "Tells what a class extends or implements, and what extends or implements it.",
        "class hierarchy of {}",
        ("class hierarchy of AuthBase", "who implements Backend?", "what are the base classes of BasicAuth?"),
        (
            "((list|show|give|tell|what is|what's|what are)( me)? )?(all )?(the )?((class|type|inheritance) (hierarchy|tree)|hierarchy|subclasses|subtypes"
            "|(base|super|parent|child|derived|sub) ?(classes|class|types?)|superclass(es)?|parents?|bases?|children|implementations"
            "|implement[eo]rs|ancestors|descendants) (of|for) {}",
            "(who|what|which (classes|types|structs|class|type|ones|code)) (implements?|extends?|inherits?( from)?|subclass(es)?|derives?( from)?) {}",
            "(does|do|is|are) {} (implement|extend|inherit( from)?|derive from|derived from|subclass|a subclass of) .+",
            "(is|are|does|do) (anything|something|any( other)? class(es)?|there (any|a|an|other) (class|type)(es|s)?)( that| which)?( (is|are))? (derived? from|extend(s|ing)?|implement(s|ing)?|inherit(s|ing)?( from)?|subclass(es|ing)?) {}",
            "what (does|do) {} (inherit( from)?|extend|implement|derive from)",
        ),
    ),
    Row(
        Operation.TESTS,
        True,
        "Tells which tests reach a definition, with the lines.",
        "which tests cover {}?",
        ("which tests cover Session.send?", "tests for merge_cookies?", "is LB.tryAgain tested?"),
        (
            "(are|is) there( any| a| some)? (unit )?tests? (for|of|that <cover>|covering) {}",
            "(which|what) (unit )?tests? (are there for|<cover>|exist for) {}",
            "(is|are) {} (tested|covered)( anywhere| by( any| the)? tests?)?",
            "((list|find|name|tell|what are)( me)? )?(all )?(the )?(unit )?tests? (for|of|covering|that <cover>) {}",
            "how is {} tested",
        ),
    ),
    Row(
        Operation.TESTS,
        False,
        "Shows the source of the tests that reach a definition.",
        "show the tests of {}",
        ("show the tests for merge_cookies", "Please add the unit tests of Retry.backoff"),
        (
            "<show>( all| any)?( of)?( the)? (unit )?tests? (for|of|around|covering|that <cover>) {}",
            "<show> (whatever|any|all|those|the|what) (unit )?tests?( that| which)? <cover> {}",
        ),
    ),
    Row(
        Operation.CALLERS,
        True,
        "Tells who calls or uses a definition, with the line of each call.",
        "who calls {}?",
        ("who calls Session.send?", "where is slug used?", "callers of Retry.backoff?"),
        (
            "(who|what|which( \\w+)?) <call> {}",
            "(from )?where( (else|exactly))? (is|are|do we|do they|does anybody) {} (used|called|invoked|referenced|needed|instantiated|created|constructed)( from)?",
            "(does|do|is|are) (anything|anybody|anyone|something|any code|any other code)( else)?( still| actually| really)? <call> {}",
            "(is|are) there( any| other| more| also| some)* <callers> (of|to|for) {}",
            "(is|are) {} (used|called|invoked|referenced)( anywhere| by (anybody|anyone|anything))?",
            "((list|find|name|tell|what are|who are)( me)? )?(all )?(the )?<callers> (of|to|for) {}",
        ),
        "aufruft ruft benutzt verwendet utilise appelle usa llama chi",
    ),
    Row(
        Operation.CALLERS,
        False,
        "Shows the source of what calls or uses a definition.",
        "show the callers of {}",
        ("also include the callers of Session.send", "Show me everything that calls Retry.backoff"),
        (
            "<show>( all)?( of)?( the)? <callers> (of|to|for) {}",
            "<show>( all)?( the)? (everything|anything|code|functions?|methods?|places?|whatever|what|all|those)( that| which| who)? <call> {}",
        ),
    ),
    Row(
        Operation.USES,
        True,
        "Tells what a definition calls or uses.",
        "what does {} use?",
        ("what does Session.send use?", "dependencies of OrderService.placeOrder?"),
        (
            "(what|which)( (functions?|methods?|helpers?|classes|definitions|types|code|things|modules))? (does|do) {} (call|use|need|depend on|refer to|invoke|rely on)",
            "((list|find|name|tell|what are)( me)? )?(all )?(the )?(callees|dependencies|calls) (of|in) {}",
        ),
    ),
    Row(
        Operation.USES,
        False,
        "Shows the source of what a definition calls or uses.",
        "show what {} uses",
        ("show what Session.send calls", "add the dependencies of Invoice.total"),
        (
            "<show>( everything| all)?( of)?( that)?( what)?( the things)? {} (calls|uses|needs|depends on|invokes|relies on)",
            "<show>( all)?( of)?( the)? (callees|dependencies) of {}",
        ),
    ),
    Row(
        Operation.WHERE,
        True,
        "Tells where a name is defined, or where a quoted text stands.",
        "where is {}?",
        ("where is slug defined?", "what is Retry?", 'locate "lb_retries"'),
        (
            "where( exactly)? (is|are) {}( defined| declared| implemented| located| found| set| assigned| written)?",
            "where's {}( defined| declared| implemented| located| found| set| assigned| written)?",
            "(is|are) there( an?| any| already| some)* (function|method|class|type|struct|trait|interface|file|constant|helper|module|definition)s? (called|named|for the name) {}",
            "where (can|do|could|would|should) (i|we|one) (find|see|get) {}",
            "where (does|do) {} (come from|appear|occur|stand|live|show up)",
            "((find|show|give|get|what is|what's)( me)? )?(the )?(definition|location|place|declaration) of {}",
            "(find|locate|look for|search for|what is|what are|what's|who is) (?!in |inside ){}",
            "(in )?(which|what) (file|module|folder|class) (has|contains|defines|holds|declares) {}",
            "(in )?(which|what) (file|module|folder|class) (is|are) {}( defined| declared| implemented| located| in)?",
        ),
        "wo où dónde dove",
    ),
    Row(
        Operation.BACK,
        False,
        "Shows again what you left out.",
        "bring back {}",
        ("bring back the tests", "show the tests again", "don't drop the docs"),
        (
            "(restore|bring back|put back|get back|add back|un-?hide|re-?add) {}",
            "(bring|put|get|take|add) {} back( in)?",
            "<show> {} (again|after all)",
            "<not> (drop|remove|exclude|ignore|skip|hide|omit|leave out|forget|lose) {}",
            "undo (the )?(removal|dropping|exclusion|hiding) of {}",
            "undo (removing|dropping|excluding|hiding) {}",
        ),
        "wieder",
    ),
    Row(
        Operation.LESS,
        False,
        "Shows a file or a definition by its definition lines; of many files, those that are shown.",
        "less of {}",
        ("less detail on sessions.py", "Too many tests", "I don't need the whole of sessions.py"),
        (
            "(show |give me )?(less|fewer|not so much|not as much)( (details?|code|text|source|lines?))?( of| about| from| on| in| for) {}",
            "(show |give me )?(less|fewer) {}",
            "(there is |there's |there are |it has |you show |that's )?(too|far too|way too) (much|many)( detail)?( of| about| from| on)? {}",
            "((i |we )?<not> (<show>|need|want)|not) (me )?(the )?<whole>( <source>)?( of)? {}",
            "(shrink|fold|shorten|trim|condense|reduce|cut down) {}",
            "{} <is> (too|far too|way too) (long|big|large|detailed|much)( for me)?",
        ),
        "weniger moins menos",
    ),
    Row(
        Operation.OUTLINE,
        False,
        "Shows a file or a definition by its definition lines.",
        "outline of {}",
        ("outline of web/cart.ts", "Show me just the API of Session", "src/shop/auth.py: signatures only"),
        (
            "(<show> )?((only|just) )?(<show> )?(an? |the )?((only|just) )?<outline> <of> {}( (is|are|will be|would be) (enough|sufficient|fine|ok)| will do| suffices?)?",
            "{}\\s*[:,]\\s*(<outline> only|only (the )?<outline>|just (the )?<outline>)",
            "(what is|what's|what are) (in|inside) {}",
            "(collapse|outline) {}( to (its|an|the) <outline>| down)?",
            "(<show> )?(the rest of )?{}( only| just)?( in outline| (as|by) (an? |its )?<outline>)( only)?",
            "for {},? (just |only )?(the |an? |its )?<outline> (is|are|will|would) (enough|sufficient|fine|ok|do|be enough)",
        ),
        "übersicht signaturen",
    ),
    Row(
        Operation.ONLY,
        False,
        "Shows nothing else.",
        "only {}",
        ("only src/shop", "Drop everything except proxy/", "keep only the Go code"),
        (
            "(<drop>|<not> <show>) (everything|anything|all|all files|the rest)( else)? (except|but|besides|other than|apart from)( for)? {}",
            "(everything|anything|all)( else)? (except|but|besides|other than|apart from) {}( can go| can be (dropped|removed|left out)| is (irrelevant|noise))",
            "(use |show |keep |include |take |see |give me |focus (only |just )?on )?(only|just|nothing but|nothing except|solely|exclusively) {}( (and )?nothing else)?",
            "focus (only|just|exclusively|solely) on {}",
            "(limit|restrict|narrow|reduce)( it| this| that| yourself| the (context|map|packet|search))?( down)? to {}",
            "(stay|keep|remain) (in|within|inside|to) {}",
        ),
        "nur seulement sólo solo",
    ),
    Row(
        Operation.OUT,
        False,
        "Leaves out files, folders, kinds of files or definitions, until you want them back.",
        "drop {}",
        ("drop the tests", "I don't need Provision and ServeHTTP", "src/billing is not needed."),
        (
            "(i'm |i am |we're |we are )?not interested in {}",
            "<drop> (all (of )?|any(thing)? (in |of |from |about |under |below )?)?{}",
            "(leave|take|throw|cut|keep|kick) {} (out|aside|away)( of (it|this|that|the (context|map|packet)))?",
            "(i |we )?<not> (need|want|care about|care for|ask for|<show>|keep|use|consider)( to see)?( me)?( any of| anything (in|from|about|under|of))? {}",
            "{} <isnt> ((very |really |so )?(needed|relevant|interesting|important|useful|necessary|required|of interest|part of (it|this))|noise)"
            "( here| any ?more| (for|to|in) (this|me|that|the|my|our)( task| issue| change| bug| question| fix)?)?",
            "{} <is> (just |only )?(irrelevant|noise|unimportant|unneeded|unnecessary|useless|not needed|beside the point)"
            "( here| (for|to|in) (this|me|that|the|my|our)( task| issue| change| bug| question| fix)?)?",
            "{} (has|have) nothing to do with .+",
            "{} can( safely| all)? (go|be (dropped|removed|left out|ignored|skipped|excluded))",
            "(everything|anything|all)( else)? (except|but|besides|other than|apart from) {} (can|may|should) (stay|remain|be kept)",
        ),
        "raus weg nimm ohne entferne lösche enlever enlève sans supprimer quita quitar sin elimina senza",
    ),
    Row(
        Operation.MORE,
        False,
        "Gives files more weight than all others.",
        "focus on {}",
        ("focus on src/shop/auth.py", "More weight on proxy/", "keep src/shop/config.py"),
        (
            "(show |give |tell )?(me )?more (about|on|around|detail (on|of|in|for)|details (on|of|in|for)|weight (on|to|for)) {}",
            "(focus|concentrate|zero in)( more| mainly| mostly)?( on)? {}",
            "(put|lay|place|give)( more| some| extra| the)? (emphasis|weight|focus|stress|attention) (on|to) {}",
            "(prefer|prioriti[sz]e|boost|emphasi[sz]e|keep|weigh|favou?r|everything about) {}",
        ),
        "mehr über plus más più",
    ),
    Row(
        Operation.WHOLE,
        False,
        "Shows a file, a definition, lines or what stands around a quoted text in full; a whole folder gets more weight.",
        "show {}",
        (
            "Show the full file src/shop/auth.py",
            "src/shop/sessions.py:13-20",
            'show where "lb_retry_match" is handled',
        ),
        (
            "(how|show( me)? how) (is|are|does|do|did) {} (implemented|work|working|done|defined|behave|look|look like)",
            "(<show> )?how {} (is|are|was|does|do) (implemented|work|works|working|done|defined|behave|look)",
            "(explain|describe|what about|how about|also|and) {}",
            "what (does|do) {} do",
            "<show>( more( of)?)? {}",
            "more( (context|code|source|text))? (of|around|from) {}",
            "(the |this |your )?(packet|context|map|answer) (lacks|misses|is missing|(doesn't|does not) (have|include|show|contain)) {}",
            "(use|take|need|want|pick) {}",
            "(i'm|i am|we're|we are) (still |also )?missing {}",
            "(i|we) (still |also |really )?(miss|lack) {}",
            "{} (is|are) (still |also )?(missing|absent|lacking|not there|not shown)( here)?",
            "{} (should|must|could|needs? to|has to|ought to) be (shown|visible|included|there|in there|in it|expanded)( completely| in full| fully| too| as well)?",
            "{} (would|will|could|might) (really )?(help|be (really |very |quite )?(helpful|useful|good to (see|have)|nice|great))( me| us)?( a lot| here)?",
            "(the )?<whole> (<source> )?(of )?{}",
            "you (forgot|missed|overlooked|left out|omitted) {}",
            "there('s| is| are)( also)? {}",
            "what (i|we)( still| also| really)? (need|want|miss)( to see)? (is|are) {}",
        ),
        "zeig zeige montre montre-moi muestra muéstrame mostra",
    ),
    Row(
        Operation.SEARCH,
        False,
        "Looks for what words describe and no name says: they are searched for beside the goal.",
        "look for {}",
        (
            "more about eviction of old entries",
            "find code about connection pooling",
            "Include tests for redirects",
        ),
        (
            "(look|search|hunt) (also )?for {}",
            "(is|are) there( any| some)? (?=(code|logic|something|function|place|helper)s? (that|which|for|to)){}",
            "(search|find) {}",
            "(show |give |tell )?(me )?more (about|on|around) {}",
            "(i'm|i am|we're|we are)( also| mainly| mostly| rather)* interested in {}",
            "(the |my )?(goal|task|question|issue) is( also| mainly| rather)* about {}",
            "<show> {}",
        ),
        "suche such cherche busca",
    ),
)


def rows_of(operation: Operation) -> tuple[Row, ...]:
    """Return the rows of an operation."""
    return tuple(row for row in TABLE if row.operation is operation)


@cache
def pattern_of(form: str) -> re.Pattern[str]:
    """Return the pattern of a form's whole clauses; its group ``x`` is what the clause is about."""
    return re.compile(_expression(form), re.IGNORECASE | re.DOTALL)


@cache
def leads() -> re.Pattern[str]:
    """Return what every clause that has a form of its own begins with, as far as its name."""
    heads = {
        _expression(head.rstrip())
        for row in TABLE
        for form in row.forms
        if (head := form.partition(_NAME)[0]).strip() and head.count("(") == head.count(")")
    }
    told = sorted(head for head in heads if re.fullmatch(head, "") is None)
    return re.compile(rf"(?:{'|'.join(told)})(?:(?<=\s)|(?=\W|$))", re.IGNORECASE)


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words of all forms, sorted: what a misspelt word may have been meant as."""
    text = " ".join((*WORDS.values(), *(form for row in TABLE for form in row.forms)))
    text = re.sub(r"\\\w|<\w+>", " ", text)
    return tuple(sorted(set(re.findall(r"[a-z]{3,}", text))))


def _expression(form: str) -> str:
    for word, choices in WORDS.items():
        form = form.replace(f"<{word}>", choices)
    for word, choices in WORDS.items():
        form = form.replace(f"<{word}>", choices)
    form = re.sub(r"\((?!\?)", "(?:", form)
    return form.replace(_NAME, "(?P<x>.+?)", 1).replace(" ", r"\s+")
