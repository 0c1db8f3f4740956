"""Late plans: a step takes a value that an earlier step returns, or pins what it returns.

Theory of operation:

"Look up the order, then refund the amount found there" is one plan. Its second step takes the
amount from the output of the first:

    {"kind": "tool", "id": "pay", "adapter_id": "payments", "capability_id": "issue_refund",
     "args": {"id": "pay_8861"},
     "takes": [{"arg": "/amount", "step": "look", "at": "/payment/amount"}],
     "evidence_steps": ["look"]}

Law: a late value never grants what the same value given early would not.

Rule 1: a take is a field of its step. No text, object or key in arguments or in an output is ever
        read as one. A value is taken whole: there are no templates, defaults or conditions.
Rule 2: `verify` judges before anything runs. What can be judged is judged, what cannot is a
        condition of its step, by name, and what is seen never to pass is refused.
Rule 3: a faulty take is one violation for each fault, and nothing else is judged by it. Nor by one
        whose source is not in the manifest.
Rule 4: no approval before the run clears a doubt about a value that nobody has seen.
Rule 5: off unless `spec.late` says so, which whoever opens the steps sets.

From a step to its conditions:
1. Places (`late_steps`, `argument_places`). A take names an earlier tool step, and a place in the
   arguments that is free: its parent stands there, and is an object without that member or an array
   of just that length.
2. Types (`schema_ways`). A take never fits where the schemas of the output and of the arguments
   have no type in common. The early part of the arguments satisfies what its schema says of it.
3. Evidence (`promised_evidence`). A class is promised where a step of `evidence_steps` yields it.
4. Provenance (`critic.provenance.late_words`). A late value is judged as a word that stands at its
   place in the output of its source, and nowhere else.
"""
