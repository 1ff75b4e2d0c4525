"""Wishes: what changes a context, and the ways to wish it."""

from __future__ import annotations

from typing import Final

from repo_map.feedback.operations import Operation, Row

WISHES: Final = (
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
            "(that|this)('ll| will| would| should) do",
            "(that|this)('s| is| should be| will be| would be) (enough|sufficient|all)( (context|code|information|detail))?( now)?"
            "( for (me|us))?( to <work>( <aside>)?| (i|we) need( to <work>( <aside>)?)?)?",
            "(finish|stop|end|accept)( it| here| up| now| the (context|navigation)| this)?",
            "(i'm |we're |i am |we are |all )?(done|finished)( here| now)?",
            "(i|we)( now)? have (everything|all|what|enough)( that)?( (i|we) (need|want|wanted))?( now| for now)?( to <work>( <aside>)?)?",
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
            "(it|this|that|(the |this |your )(packet|context|map|answer|selection))?\\s*(looks?|seems?|is|was|'s) (really |very |so |super |quite )?(an? )?(good|great|fine|nice|perfect|ok(ay)?|right|helpful|useful)( start| work| job)?( so far| overall| in general| to me| already)?",
            "(keep|stay|make|fit)( it| this| everything)*( fit)? (below|under|within|in|into|to) (that|it|this)",
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
            "(undo|revert|scrap|scratch|take back|roll ?back|reverse)( that| it| this)?( again)?",
            "(undo|revert|scrap|scratch|take back|roll ?back|cancel|reverse|forget)( the| my| your| that| this)? (last|previous|latest|recent)"
            "( (<count>))?( (changes?|steps?|one|ones))?( of (mine|yours))?",
            "(undo|revert|cancel|reset|roll ?back|take back) (everything|all|(all )?(of )?(the|my|your) changes)",
            "(undo|revert|reset|roll ?back|go back)( everything| all| it| that)? to (the )?(very )?(beginning|start|(first|original|initial) (version|state|packet|context))",
            "(go|step) back(( by)? (<count>|a) (steps?|changes?))?",
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
        Operation.TESTS,
        False,
        "Shows the source of the tests that reach a definition.",
        "show the tests of {}",
        ("show the tests for merge_cookies", "Please add the unit tests of Retry.backoff"),
        (
            "(?!(add|insert) (a |an |unit )*tests? )<show>( all| any)?( of)?( the)? (unit )?tests? (for|of|around|covering|that <cover>) {}",
        ),
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
        False,
        "Shows the source of what a definition calls or uses.",
        "show what {} uses",
        ("show what Session.send calls", "add the dependencies of Invoice.total"),
        (
            "<show>( everything| all)?( of)?( that)?( what| whatever)?( the things)? {} (calls|uses|needs|depends on|invokes|relies on)",
            "<show>( all)?( of)?( the)? (callees|dependencies) of {}",
        ),
    ),
    Row(
        Operation.BACK,
        False,
        "Shows again what you left out.",
        "bring back {}",
        ("bring back the tests", "show the tests again", "don't drop the docs"),
        (
            "(restore|bring back|put back|get back|add back|un-?hide|re-?add) {}",
            "(bring|put|get|take|add|give me) {} back( in)?",
            "<show> {} (again|after all)",
            "<not> (drop|remove|exclude|ignore|skip|hide|omit|leave out|forget|lose) {}",
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
            "(there is |there's |there are |it has |you show |that's )?(too|far too|way too) (much|many)( detail)?( of| about| from| on)? {}",
            "((i |we )?(don't|do not) (<show>|need|want)|not) (me )?(the )?<whole>( <source>)?( of)? {}",
            "(shrink|fold|shorten|trim|condense|reduce|cut down) {}",
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
            "(<show> )?((only|just) )?(<show> )?(an? |the )?((only|just) )?((method|function|class|type|public) )?<outline> <of> {}( (is|are|will be|would be) (enough|sufficient|fine|ok)| will do| would do| suffices?)?",
            "(reduce|shrink|cut|trim|fold|collapse) {}( down)? to (its |an |the |their |just |only )*<outline>",
            "{}\\s*[:,]\\s*(<outline> only|only (the )?<outline>|just (the )?<outline>)",
            "(collapse|outline|summari[sz]e) {}( to (its|an|the) <outline>| down)?",
            "(<show> )?(the rest of )?{}( only| just)?( in outline| (as|by) (an? |its )?<outline>)( only)?",
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
            "(<drop>|<not> <show>) (everything|anything|all|all files|the rest)( else)? (except|but|besides|other than|apart from|outside|outside of|not in|not under)( for)? {}",
            "(use |show |keep |include |take |see |give me |focus (only |just )?on )?(only|just|nothing but|nothing except|solely|exclusively) (keep )?{}(,? (and )?nothing else)?",
            "(limit|restrict|narrow|reduce)( it| this| that| yourself| the (context|map|packet|search))?( down)? to (only |just )?{}",
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
            "<drop> (all (of )?|any(thing)? (in |of |from |about |under |below )?)?{}",
            "(leave|take|throw|cut|keep|kick) {} (out|aside|away)( of (it|this|that|the (context|map|packet)))?",
            "(i|we) (don't|do not|no longer|won't|will not)( really| actually)? (need|want|care about|care for)( to see)?( any of| anything (in|from|about|under|of))? {}( (for|in) (this|that|it)( task| change| fix| bug)?)?",
            "(don't|do not|never|you needn't|no need to|please don't|no longer)( bother to)? (need|want|<show>|keep|use|consider)( me)?( any of| anything (in|from|about|under|of))? {}",
            "{} <isnt> ((very |really |so )?(needed|relevant|interesting|important|useful|necessary|required|involved|affected|concerned|of interest|part of (it|this|(the|my|this) (problem|issue|task|bug|change)))|noise|related( to (it|this|that|the (problem|issue|task|bug|change))))"
            "( here| any ?more| (for|to|in) (this|me|that|the|my|our)( task| issue| change| bug| question| fix)?)?",
            "(i'm |i am |we're |we are )?not (needing|using|show|include|display|add) {}",
            "{} (<is>|seems?|looks?|appears?)( to be)? (just |only |quite |completely |totally )?(irrelevant|unrelated|noise|unimportant|unneeded|unnecessary|useless|not needed|beside the point)"
            "( here| to <aside>| (for|in) (this|me|that|the|my|our)( task| issue| change| bug| question| fix)?)?",
            "{} can( safely| all)? (go|be (dropped|removed|left out|ignored|skipped|excluded|omitted|hidden|deleted|cut))",
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
            "<show> (how|where|what) {} (is |are |was |does )?(handle|do|work|implement|look|behave|throw|raise|return|send|store|check|parse)(s|es|d|ed|n)?( <aside>)?",
            "(explain|describe|what about|how about|also|and) {}",
            "what (does|do) {} do",
            "(?!list (?!them|those|these))<show>( more( of)?)? {}",
            "more( (context|code|source|text|info|information))? (of|around|from|on|for) {}",
            "(i'm|i am|we're|we are) (still |also )?missing {}",
            "{} (is|are) (still |also )?(missing|absent|lacking|not there|not shown)( here)?",
            "(i|we) (still |also |really )?(miss|lack) {}",
            "{} (would|will|could|might) (really )?(help|be (really |very |quite )?(helpful|useful|good to (see|have)|nice|great))( me| us)?( a lot| here)?",
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
        ),
        (
            "(?!.*<name>)(look|search|hunt) (also )?for {}",
            "(?!.*<name>)(i'm|i am|we're|we are)( also| still)? (looking|searching) for {}",
            "(?!.*<name>)(is|are) there( any| some)? (?=(code|logic|something|anything|function|place|helper)s? (that|which|for|to|about|on|around|like)\\b){}",
            "(?!.*<name>)(search|find) (?=((the |any |all |some )*<matter> (that|which|where|for|about|around)|where|how|anything|everything|whatever|something)\\b){}",
            "(show |give |tell )?(me )?more (about|on|around) {}",
            "(?!.*<name>.)<show> (?=(how|where) (?!to\\b)){}",
        ),
        "suche such cherche busca",
    ),
)
