"""Questions: what is answered and changes nothing, and the ways to ask it."""

from __future__ import annotations

from typing import Final

from repo_map.feedback.operations import Operation, Row

QUESTIONS: Final = (
    Row(
        Operation.LEFT_OUT,
        True,
        "Tells the best files that are not shown.",
        "what did you leave out?",
        ("what did you leave out?", "what else is relevant?", "what is missing?"),
        (
            "what (did you (leave out|cut|drop|omit|skip)|(was|is|has been) (left out|cut|dropped|omitted|not shown|missing))",
            "what('s| is| are)? ?else( is| are)?( there| relevant| of interest| important| useful)?",
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
            "why( on earth)? (is|are|was|were|isn't|aren't|is not|did you (include|show|pick|add|choose|select|rank|leave out|drop|give me|send( me)?|return|put( in)?|bring( in| up)?)"
            "|do (you|i|we) (see|have|show|get)|(don't|do not|didn't|did not|can't) (you|i|we) (see|have|show|get|include)) {}",
            "why (is|are|was|were) {} (selected|chosen|picked|listed|included|part of (this|it|the (context|packet|map|answer)))",
            "why {} (is|are|was|were) (here|in here|selected|chosen|picked|listed|shown|included|part of (this|it|the (context|packet|map|answer)))",
            "why (not )?{}",
            "how come {} (is|are|was|were|isn't|aren't)( (here|in here|in there|there|shown|listed|included|selected|ranked first|part of (this|it|the (context|packet|map|answer))))?",
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
            "( if| when| by)( (i|we|you|one|someone))?( were to| would)? <change> {}( to <aside>)?",
            "((what is|what's|what are|what would be|tell me|show me) )?(the )?(impact|effects?|consequences|blast radius) of( <change>| a change (of|to|in))? {}",
        ),
    ),
    Row(
        Operation.IMPORTERS,
        True,
        "Tells which files import a file, with the lines.",
        "who imports {}?",
        ("who imports shop/utils.py?", "which files import src/shop/auth.py?"),
        ("(who|what|which (files?|modules?|packages?|code)) (imports?|includes?|requires?) {}",),
    ),
    Row(
        Operation.IMPORTS,
        True,
        "Tells what a file imports, with the lines.",
        "imports of {}",
        ("Give me the imports of sessions.py", "what does src/billing/invoices.py import?"),
        (
            "((list|show|give|tell|what are)( me)? )?(all )?(the )?imports (of|in|for|from) {}",
            "what (does|do) {} (import|include|require)( from)?",
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
            "((list|show|give|tell|what is|what's|what are)( me)? )?(the )?(recent |last |latest |git |(two|three|four|five|ten|\\d+) )*(history|commits?|changes|log) <of> {}",
            "(who|when|how often)( was| has| did| is)?( (last|recently))? <edit> {}( last| recently| lately| before)?",
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
            "(what|which (class|classes|type|types|trait|traits|interface|interfaces)) (does|do) {} (inherit( from)?|extend|implement|derive from|subclass)",
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
        ),
    ),
    Row(
        Operation.CALLERS,
        True,
        "Tells who calls or uses a definition, with the line of each call.",
        "who calls {}?",
        ("who calls Session.send?", "where is slug used?", "callers of Retry.backoff?"),
        (
            "(list|name)( all)?( the)? (functions?|methods?|places?|callers?|classes|files|definitions)( that| which| who) <call> {}",
            "(who|what( else)?|which( (functions?|methods?|code|files?|modules?|class(es)?|places?|definitions?|parts?|ones?))?)( actually| really| all)? <call> {}",
            "(from )?where( (else|exactly))? (is|are|do we|do they|does anybody) {} (used|called|invoked|referenced|needed|instantiated|created|constructed)( from)?",
            "where {} (is|are|gets) (used|called|referenced)",
            "(is|are) {}( still| actually| really)? (used|called|invoked|referenced)( anywhere| by (anybody|anyone|anything))?",
            "((list|find|name|tell|know|what are|who are)( me)? )?(all |every |each )?(the )?<callers> (of|to|for) {}",
        ),
        "aufruft ruft benutzt verwendet utilise appelle usa llama chi",
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
        Operation.WHERE,
        True,
        "Tells where a name is defined, or where a quoted text stands.",
        "where is {}?",
        ("where is slug defined?", "what is Retry?", 'locate "lb_retries"'),
        (
            "where( exactly)? (is|are) {}( defined| declared| implemented| located| found| set| assigned| written)?",
            "where's {}( defined| declared| implemented| located| found| set| assigned| written)?",
            "where (can|do|could|would|should) (i|we|one) (find|see|get) {}",
            "where (does|do) {} (come from|appear|occur|stand|live|show up)",
            "((find|show|give|get|what is|what's)( me)? )?(the )?(definition|location|place|declaration) of {}",
            "(find|locate|look for|search for|what is|what are|what's|who is) (?!in |inside ){}",
            "(in )?(which|what) (file|module|folder|class) (has|contains|defines|holds|declares) {}",
            "(in )?(which|what) (file|module|folder|class) (is|are) {}( defined| declared| implemented| located| in)?",
        ),
        "wo où dónde dove",
    ),
)
