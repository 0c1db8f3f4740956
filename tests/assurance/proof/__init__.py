"""What is proven of the five checks, and what is not.

Proven, by z3, of every plan of any length, over any manifest, spec and context: the lemmas of
`lemmas` (an arbitrary step of an accepted plan) and `laws` (what a change can do to a verdict).
They are about the formulas of `encoding`, whose docstring says what these model and what they
leave open. What they leave open may mean anything, so no lemma depends on it. Demands, bindings at
pointers, groups of arguments, outputs that a tool lists, confinement, repeats over turns, what an
approval clears and what a capped refusal says are among the formulas.

By hand, not by z3: that base and step make an induction (`sums`), and that a sum proven for
arbitrary terms may be said of the costs of a plan. That every lemma's premises can be met is shown
by a world of at most two steps for each.

Not proven: that the Python code of the engine is these formulas. That is tested. `validate` asks
the very formulas about random proposals and compares, step by step and check by check, with what
the engine says; it also shows that what the lemmas take for granted (`facts`) holds there.
`enumerate` compares the engine with a second model on every plan up to a size. Nor is anything
proven of JSON Schema, of token boundaries in text, of canonical JSON and SHA-256, of reading
input, of the order and wording of violations, of the evaluators, or of z3 itself.

Of provenance there are four facts about a step, which may be anything: that its tool or a value is
refused, that something asks, that two doubts meet. Proven is what the verdict makes of them. Not
proven is how texts are read (roles, tokens, days), nor what becomes of the findings when the
evidence, the spec or the session changes: a law about such a change holds for findings that stay
the same. The laws of provenance are tested instead. `worth_lemmas` proves of any value what its
origin is worth by the tables of the engine: what outsiders, a mention, an expired item, a yes and a
declared field can do and cannot. An approval that names a context is one fact
too: where a law changes the manifests or the spec, approvals are taken to be given again.

Many lemmas about a single step follow from the formulas at once. Their worth is in being stated
one by one in words, and in failing when a formula is changed. `falsehoods` are lemmas that look
true and are not: the solver must find a counterexample to each.

`python -m tests.assurance.proof` prints all of it.
"""
