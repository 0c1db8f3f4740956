"""Does another implementation judge as this one does? `python -m tests.conformance --command X`.

The cases of `fixtures/cases`, and large ones that are made, are put to a program in any language.
This is all it has to do.

Starting. The program is started once per command, with the command as its last argument:

    PROGRAM verify         each document is a Proposal
    PROGRAM score          each document is a Run
    PROGRAM consolidate    each document is a ConsolidateInput: trace_id, decision_key, verify,
                           score (optional) and decided_at

The JSON Schemas of these documents, and of the verdicts, are in `fixtures/schemas`. A `{}` in
`--command` is where the command goes, for a program that has more arguments after it:
`--command "critic {} --lines -"`. The command line is split as a POSIX shell splits words; no
shell runs it. Commands that a program does not have are left out by `--only`.

Reading. Standard input holds one document per line, in UTF-8. A line ends with one line feed,
the last one too, and with nothing else: a carriage return, U+0085, U+2028 or U+2029 ends no
line, and a byte-order mark belongs to its document (which it makes invalid). Lines may be long
(allow 64 KiB at least) and are in no particular order. After the last one comes the end of file.

Answering. Standard output holds one JSON value per line, in UTF-8: line n answers document n,
and there are as many lines as there were documents. (A carriage return before the line feed is
forgiven.) An answer is

    the verdict            if the document is valid: a VerifyVerdict (Verified or Refused), a
                           ScoreVerdict, a CriticReport
    {"error": {"path": P, "message": M}}
                           if it is not: P is the JSON pointer (RFC 6901) to the problem, "" for
                           the document as a whole, M is any text

The members `file`, `line`, `errors`, and `trace_id` beside a verdict of verify or score, may be
added to an answer and are not compared: `critic verify` says there where a document is from.

A document is invalid if it is not strict JSON (a duplicate key, a lone surrogate, NaN, trailing
text, a byte-order mark), or not of its schema, or breaks a rule that JSON Schema cannot state.
Answers may come at any time: each at once, or all when the input has ended. Standard error is for
people; its last line is shown where answers are missing. The exit status is not looked at.

Comparing. A verdict holds if it is equal to the expected one as RFC 8785 canonical JSON: the order
of members, white space, and 1 or 1.0 make no difference, and absent is not null. Where an error is
expected, any error holds; `--strict` also compares its path. Messages are never compared.

`--verdicts-only` compares what decides and leaves out what explains. Other members are ignored:

    verify         ok; of a refusal also kind, offending_step (or its absence), and of each
                   violation in order check, kind, offending_step
    score          ok, and in scorecard.scores the status and score of every evaluator
    consolidate    status and refused_at (or its absence)

What does not fit on a line. A document that is blank, holds a line feed or a carriage return, or
is not UTF-8 is not sent as a line. By default such cases are skipped and counted. With `--base64`
the program is started once more per command that has any, with `--base64` as one more argument
after all others, and each line of its input is the standard base64 (RFC 4648, padded) of the bytes
of one document; answers are as above. (An empty document is an empty line.)
"""
