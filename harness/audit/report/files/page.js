"use strict";
// The list of turns, one session as a conversation, and one record opened. Text is set as text: nothing here makes HTML of data.
(() => {
  const PAGE = 100;
  const byId = (id) => document.getElementById(id);
  const read = (id) => { const block = byId(id); return block && JSON.parse(block.textContent); };
  const words = read("words"), rows = read("rows");
  const place = new Map(rows.map((row, at) => [String(row.seq), at]));
  const said = (name, code) => Object.hasOwn(words[name], code) ? words[name][code] : code;

  // make("p", {class: "x"}, "text", node, ...): absent children are left out.
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }
  const count = (number) => number.toLocaleString("en");
  const many = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
  const cost = (micros) => many(micros, "millionth");
  // What may scroll can be reached by the keyboard; what cannot is no extra stop.
  const scrolls = (text) => text.length > 1200 || text.split("\n").length > 14;
  const pre = (text, label) => make("pre", scrolls(text) ? {tabindex: "0", role: "region", "aria-label": label} : {}, text);
  const tag = (text, look) => make("span", {class: `tag ${look}`}, text);
  const LOOKS = {refused: "no", denied: "no", lapsed: "eh", shadowed: "eh", asked: "eh", critic_error: "no", missing: "no", unreadable: "no",
    allowed: "yes", began: "plain", ran: "plain"};
  const TONES = {bad: "no", warn: "eh", good: "yes", plain: "plain"};
  const outcome = (row) => tag(said("is", row.is), LOOKS[row.is] || "plain");
  const unsound = (row) => row.check && row.check !== "open" && tag(row.check, "no");
  const NAMED = {yes: "yes", no: "no", lapsed: "it expired"};
  const answered = (turn) => turn.answer && (turn.by ? `${NAMED[turn.answer]} by ${turn.by}` : NAMED[turn.answer]);
  // A run that failed policy or safety did run as planned, and is not green for that.
  const toneOf = (turn) => turn.why === "score" && words.tone[turn.fate] === "good" ? "eh" : TONES[words.tone[turn.fate]];
  const settlements = (turn) => (turn.settled || []).map(([, said, by]) => by ? `${said} — overtaken by record ${by}` : said);
  const whom = (turn) => [turn.user, turn.tenant && `tenant ${turn.tenant}`].filter(Boolean).join(", ");
  const became = (turn) => turn.fate ? tag(said("fate", turn.fate), toneOf(turn)) : outcome(turn);

  // What is known of a record. No word stands here that says of a call which ran that it did not.
  function detailOf(seq) {
    const detail = read(`detail-${seq}`);
    const untrue = detail && detail.verdict && turnOf.get(seq).ran && !detail.shadow;
    for (const one of untrue && detail.verdict.violations || []) delete one.told;
    return detail;
  }

  // ---- the list: a line for each turn, and one for what is missing or cannot be read

  const filters = byId("filters"), body = byId("body"), matches = byId("matches");
  const field = (name) => byId(name).value;
  const turns = read("turns"), turnOf = new Map(), sessions = new Map();
  for (const turn of turns) {
    for (const seq of turn.of) turnOf.set(seq, turn);
    if (!sessions.has(turn.s)) sessions.set(turn.s, []);
    sessions.get(turn.s).push(turn);
  }
  const lost = rows.filter((row) => !turnOf.has(row.seq) && !words.apart.includes(row.is)).map((row) => ({...row, n: row.seq, of: [row.seq], tools: []}));
  const lines = [...turns, ...lost].sort((one, other) => one.n - other.n);
  const at = new Map(lines.map((turn, place) => [String(turn.n), place]));
  let found = lines.map((_, at) => at).reverse(), start = 0;
  const code = (turn) => turn.fate || turn.is;
  const label = (name) => Object.hasOwn(words.fate, name) ? words.fate[name] : said("is", name);
  for (const turn of lines) {
    turn.find = [...turn.of, turn.trace, turn.key, turn.said, label(code(turn)), turn.why, turn.why && said("why", turn.why), turn.by, turn.user, turn.tenant, ...settlements(turn),
      ...turn.tools].join(" ").toLowerCase();
  }
  function options(name, values, label) {
    const seen = [...new Set(values)].sort();
    byId(name).append(...seen.map((value) => make("option", {value}, label(value))));
  }
  options("is", lines.map(code), label);
  options("why", lines.flatMap((turn) => turn.why || []), (code) => said("why", code));
  options("tool", lines.flatMap((turn) => turn.tools), (name) => name);

  function filter() {
    const wanted = field("text").toLowerCase().split(/\s+/).filter(Boolean);
    const is = field("is"), why = field("why"), tool = field("tool"), from = field("from"), to = field("to");
    const fits = (turn) => (!is || code(turn) === is) && (!why || turn.why === why)
      && (!tool || turn.tools.includes(tool))
      && (!from || (turn.at || "") >= from) && (!to || (turn.at && turn.at.slice(0, 10) <= to))
      && wanted.every((word) => turn.find.includes(word));
    found = [];
    for (let at = lines.length - 1; at >= 0; at--) if (fits(lines[at])) found.push(at);
    start = 0;
    list();
  }
  const time = (one) => one.at && one.at.replace("T", " ").replace("Z", "");
  const spaced = (nodes) => nodes.flatMap((node, at) => [at > 0 && ", ", node]);
  const recordLink = (seq) => {
    const row = rows[place.get(String(seq))];
    return row && row.more ? make("a", {href: `#record-${seq}`}, String(seq)) : String(seq);
  };
  const records = (turn) => make("span", {class: "said"}, turn.of.length === 1 ? "record " : "records ", spaced(turn.of.map(recordLink)));
  function line(turn) {
    const link = turn.fate ? make("a", {href: `#turn-${turn.n}`, id: `link-${turn.n}`}, String(turn.n)) : String(turn.n);
    return make("tr", null,
      make("th", {scope: "row", class: "number"}, link),
      make("td", null, time(turn)),
      make("td", null, became(turn), " ", unsound(turn), answered(turn) && make("span", {class: "said"}, answered(turn)),
        settlements(turn).map((text) => make("span", {class: "said"}, text)),
        turn.why && make("span", {class: "said"}, said("why", turn.why))),
      make("td", null, turn.trace, turn.key && make("span", {class: "said"}, turn.key),
        whom(turn) && make("span", {class: "said"}, `for ${whom(turn)}`)),
      make("td", null, spaced(turn.tools.map((name) => make("code", null, name)))),
      make("td", null, turn.said, turn.fate && records(turn)));
  }
  function list() {
    const end = Math.min(start + PAGE, found.length);
    body.replaceChildren(...found.slice(start, end).map((at) => line(lines[at])));
    const shown = found.filter((at) => lines[at].fate).length, others = found.length - shown;
    matches.textContent = `${shown ? count(shown) : "None"} of ${many(turns.length, "turn")} match${others ? `, and ${many(others, "line")} of what is not there to be read` : ""}`
      + (found.length ? `; showing ${count(start + 1)} to ${count(end)}, the newest first` : "");
    byId("back").disabled = start === 0;
    byId("on").disabled = end === found.length;
    byId("pages").hidden = found.length <= PAGE;
  }
  let waiting = 0;
  filters.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  filters.addEventListener("reset", () => setTimeout(filter));
  filters.addEventListener("submit", (event) => event.preventDefault());
  function turnPage(by) {
    start += by;
    list();
    byId("records").focus({preventScroll: true});
    byId("matches").scrollIntoView();
  }
  byId("back").addEventListener("click", () => turnPage(-PAGE));
  byId("on").addEventListener("click", () => turnPage(PAGE));

  // ---- one record

  const opened = byId("opened"), overviews = [byId("overview"), byId("about")], title = document.title;
  const shared = (number) => read(`shared-${number}`);
  const facts = (pairs) => make("dl", {class: "facts"}, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .flatMap(([name, value]) => [make("dt", null, name), make("dd", null, value)]));
  const part = (name, ...children) => make("section", {"aria-label": name}, make("h2", null, name), children);
  const hash = (text) => text && make("code", {class: "hash"}, text);
  const listed = (texts) => texts && texts.length ? texts.join(", ") : undefined;

  function evidence(item, expired) {
    const origin = [item.author && said("more", item.author), item.standing && said("more", item.standing), item.web];
    return make("div", {class: "evidence"}, make("code", null, item.id), " ", expired && tag("expired at the time", "no"),
      facts([["Class", item.class], ["Where it comes from", listed(origin.filter(Boolean)) || "given with the manifest; no author is named"],
        ["Snapshot", item.snapshot], ["About", item.subject], ["Good until", item.expires]]),
      make("details", null, make("summary", null, "Content"), pre(item.content, `Content of ${item.id}`)));
  }
  const pin = (one) => one.item ? evidence(shared(one.item), one.expired)
    : make("div", {class: "evidence"}, make("code", null, one.ref), " ", tag("no such evidence", "no"));

  function violation(one) {
    const rule = [make("strong", null, said("why", one.kind)), ` (check: ${one.check}) — ${one.reason}`,
      one.approvable && " — a person's approval would clear this"];
    const words = one.asked || one.told;
    return make("p", {class: "why"}, words ? [words, make("span", {class: "said"}, rule)] : rule);
  }
  function call(one) {
    const spent = [one.duration_ms !== undefined && `${count(one.duration_ms)} ms`, one.tokens !== undefined && many(one.tokens, "token"),
      one.cost_micros !== undefined && `cost ${cost(one.cost_micros)}`].filter(Boolean);
    const other = one.other_tool || one.other_args;
    return make("div", null, tag(one.status, one.status === "completed" ? "yes" : "no"), " ",
      one.attempt > 1 && `attempt ${one.attempt}, `, spent.join(", "),
      one.other_tool && make("p", {class: "why"}, "Another tool was called than planned: ", make("code", null, one.other_tool)),
      other ? make("div", null, one.late ? make("p", null, "Sent, with the values that it took:")
          : make("p", {class: "why"}, "Sent, and not as planned:"), pre(one.other_args, "Arguments as sent"))
        : make("p", null, "Sent as planned."),
      one.error && make("p", {class: "why"}, one.error),
      one.output !== undefined && make("details", null, make("summary", null, "Result"), pre(one.output, "Result")));
  }
  const taken = (one) => one.takes && make("p", null, `Takes ${listed(one.takes)}`);
  const openedAs = (it) => make("p", it.ok ? null : {class: "why"}, tag(it.ok ? "opened" : "not opened", it.ok ? "yes" : "no"),
    ` after ${many(it.after, "call")}${it.by ? `, approved by ${listed(it.by)}` : ""}${it.ok ? "" : `: ${it.reasons.join("; ")}`}`);
  function step(one, at, detail) {
    const wrong = (detail.verdict && detail.verdict.violations || []).filter((it) => it.step === at);
    const tier = one.tier === null ? tag("not in the manifest", "no") : one.tier && [tag(one.tier, "plain"), ` ${said("more", one.tier)}`];
    const calls = one.calls || [];
    return make("li", {class: wrong.length ? "step offending" : "step"},
      make("h3", null, `Step ${at}: `, one.tool ? make("code", null, one.tool) : "reasoning, no tool", " ",
        wrong.length > 0 && (detail.shadow ? tag("would be refused here", "eh") : tag("refused here", "no"))),
      wrong.map(violation),
      one.tool && make("p", null, "Tier: ", tier || "not known"),
      one.summary && make("p", null, one.summary),
      make("div", {class: "sides"},
        one.args && make("div", null, make("h4", null, "Planned arguments"), pre(one.args, `Arguments of step ${at}`)),
        detail.run && one.tool && make("div", null, make("h4", null, "What ran"),
          calls.length ? calls.map(call) : make("p", null, tag("not called", "eh")))),
      taken(one),
      one.conditions && [make("h4", null, "Judged once its values were there"), make("ul", null, one.conditions.map((it) => make("li", null, it)))],
      (one.openings || []).map(openedAs),
      make("h4", null, "Evidence"),
      listed(one.demands) && make("p", null, `The tool requires: ${listed(one.demands)}`),
      listed(one.needs) && make("p", null, `The step requires: ${listed(one.needs)}`),
      one.pins.length ? one.pins.map(pin) : make("p", null, "None pinned."));
  }
  function verdict(detail) {
    const given = detail.verdict;
    if (given.ok) {
      return [make("p", null, tag("verified", "yes"), " ", given.reasons.join("; ")),
        given.caveats.length > 0 && [make("p", null, "Not checked:"), make("ul", null, given.caveats.map((it) => make("li", null, it)))]];
    }
    const steps = detail.plan ? detail.plan.steps.length : 0;
    return [make("p", null, tag("not allowed", detail.shadow ? "eh" : "no"),
      detail.shadow ? " by the critic, and not enforced: it ran in shadow" : " by the critic alone"),
      given.violations.map((one) => one.step === undefined || one.step >= steps ? violation(one)
        : make("p", {class: "why"}, make("strong", null, `Step ${one.step}: ${said("why", one.kind)}`), ` — ${one.asked || one.told || one.reason}`))];
  }
  const LIMITS = [["max_steps", (it) => many(it, "step")], ["bucket_tokens", (it) => many(it, "token")],
    ["wall_ms", (it) => `${count(it)} ms`], ["cost_micros", (it) => `cost ${cost(it)}`]];
  const budget = (limits) => limits && LIMITS.filter(([name]) => limits[name] !== undefined && limits[name] !== null)
    .map(([name, said]) => said(limits[name])).join(", ");

  function score(scores) {
    return make("table", {class: "small-table"},
      make("thead", null, make("tr", null, ["Evaluator", "Score", "Status", "Findings"].map((name) => make("th", {scope: "col"}, name)))),
      make("tbody", null, scores.map((one) => make("tr", null, make("th", {scope: "row"}, one.by),
        make("td", {class: "number"}, one.score.toFixed(2)), make("td", null, tag(one.status, {pass: "yes", fail: "no"}[one.status] || "eh")),
        make("td", null, one.findings.map((it) => make("div", null, it)))))));
  }
  function run(one) {
    return [facts([["Run", one.id], ["Time", one.wall_ms !== undefined ? `${count(one.wall_ms)} ms` : undefined],
      ["Tokens", one.tokens !== undefined ? count(one.tokens) : undefined],
      ["Cost", one.cost_micros !== undefined ? cost(one.cost_micros) : undefined]]),
      one.calls && [make("h3", null, "Calls of no step of the plan"), one.calls.map(call)],
      make("h3", null, "Outputs"), pre(one.outputs, "Outputs")];
  }
  function check(detail, row) {
    const inputs = Object.entries(detail.inputs || {});
    return [make("p", null, detail.check ? [tag(detail.check[0], detail.check[0] === "open" ? "eh" : "no"), " ", detail.check.slice(1).join("; ")]
      : `When this page was made, the hash of this record was that of its content, ${inputs.length ? "its inputs had the digests below, " : ""}and it followed the record before it.`),
      facts([["Hash of the record", hash(detail.hash)], ["Hash of the one before", hash(detail.prev)],
        ...inputs.map(([name, digest]) => [`SHA-256 of ${name}`, hash(digest)]),
        ["Permit", hash(detail.permit)], ["Ends the execution", hash(detail.begun)],
        ["Rules", `version ${detail.rules}`], ["Digest of the rules", hash(detail.code)]]),
      make("p", null, "To check it yourself: ", make("code", null, "critic log verify"), " recomputes every hash, ",
        make("code", null, "critic replay"), " derives every verdict again from the record alone, and ",
        make("code", null, `critic log show LOG ${row.seq}`), " prints this record. To prove it to others: ",
        make("code", null, `critic log prove LOG ${row.seq} --with-inputs`), ".")];
  }
  function context(detail, row) {
    const ctx = detail.ctx || {}, spec = detail.spec;
    const turn = turnOf.get(row.seq);
    return facts([["What it says", outcome(row)], ["What became of its turn", [became(turn), " ", answered(turn) || ""]], ["Said", detail.said],
      ["Overtaken by", (turn.settled || []).filter(([seq, , by]) => seq === row.seq && by).map(([, , by]) => ["record ", recordLink(by)])], ["Recorded at", row.at],
      ["Trace", turn.trace], ["For", whom(turn)], ["Decision", turn.key], ["Must produce", spec && listed(spec.outputs)], ["Judged as of", ctx.as_of],
      ["Safety mode", ctx.mode], ["Budget", budget(ctx.budget)],
      ["Spent before", ctx.spent && listed([ctx.spent.steps && many(ctx.spent.steps, "step"), ctx.spent.tokens && many(ctx.spent.tokens, "token")].filter(Boolean))],
      ["Approvals", ctx.approvals && listed(ctx.approvals.map((one) => `${one.id} by ${one.by}`))],
      ["Approvals used", listed(detail.used)], ["Ended early", detail.error]]);
  }
  function attempts(detail) {
    return detail.attempts.map((one, at) => make("details", null, make("summary", null, `Plan ${at + 1}: ${one.verdict.ok ? "verified" : "refused"}`),
      one.verdict.ok ? null : one.verdict.violations.map(violation), pre(one.plan, `Plan ${at + 1}`)));
  }
  function neighbours(row) {
    const turn = turnOf.get(row.seq), here = place.get(String(row.seq));
    const near = (by) => { let to = here + by; while (rows[to] !== undefined && !rows[to].more) to += by; return rows[to]; };
    const [newer, older] = [near(1), near(-1)];
    return make("nav", {class: "bar", "aria-label": "Records"}, make("a", {href: "#records"}, "← All turns"),
      make("a", {href: `#turn-${turn.n}`}, `Turn ${turn.n}, in its session`),
      newer && make("a", {href: `#record-${newer.seq}`}, `Newer: ${newer.seq}`), older && make("a", {href: `#record-${older.seq}`}, `Older: ${older.seq}`));
  }
  function show(row) {
    const detail = detailOf(row.seq);
    const others = detail.others || [];
    const later = make("details", null, make("summary", null, `${others.length} more that no step pins`));
    later.addEventListener("toggle", () => { if (later.childElementCount === 1) later.append(...others.map((one) => evidence(shared(one)))); });
    const heading = make("h1", {tabindex: "-1", id: "record"}, `Record ${row.seq}`);
    opened.replaceChildren(...[neighbours(row), heading, part("At a glance", context(detail, row)),
      (detail.faults || []).length > 0 && make("p", {class: "why"}, `Inputs: ${detail.faults.join("; ")}`),
      detail.verdict && part("Verdict on the plan", verdict(detail)),
      detail.plan && part(detail.run ? "Plan, evidence, and what ran" : "Plan and evidence",
        make("p", null, `Steps are counted from 0. Declared outputs: ${listed(detail.plan.outputs) || "none"}.`),
        make("ol", {class: "steps", role: "list"}, detail.plan.steps.map((one, at) => step(one, at, detail)))),
      others.length > 0 && part("Other evidence of the context", later),
      detail.run && part("The run", run(detail.run)), detail.score && part("Scorecard", score(detail.score)),
      detail.attempts && detail.attempts.length > 0 && part("Plans that were refused before", attempts(detail)),
      detail.asked && part("What it was asked", pre(detail.asked, "What it was asked")),
      part("The record, and how to check it", check(detail, row))].filter(Boolean));
    return heading;
  }

  // ---- one session, as a conversation

  // Marks the values that were doubted wherever a text holds them.
  function marked(text, values) {
    const parts = [];
    let rest = text;
    while (rest) {
      let first = rest.length, value = "";
      for (const one of values) { const place = rest.indexOf(one); if (place >= 0 && place < first) { first = place; value = one; } }
      parts.push(rest.slice(0, first), value && make("mark", null, value));
      rest = rest.slice(first + value.length);
      if (!value) break;
    }
    return parts;
  }
  const violations = (details) => details.flatMap((one) => one.verdict && !one.verdict.ok ? [one.verdict.violations] : []).pop() || [];
  function doubted(details) {
    const named = violations(details).flatMap((one) => [...one.reason.matchAll(/\[([^\[\]]{2,200})\]/g)].map((it) => it[1]));
    return [...new Set(named)].slice(0, 20);
  }
  const quoted = (text) => /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text;
  function bubble(look, who, text, values) {
    const shown = quoted(text);
    return make("div", {class: `bubble ${look}`}, make("p", {class: "small"}, who),
      make("pre", scrolls(shown) ? {tabindex: "0", role: "region", "aria-label": who} : {}, marked(shown, values)));
  }
  function spoken(item, values) {
    const origin = [item.author && said("more", item.author), item.standing && said("more", item.standing), item.web].filter(Boolean).join(", ");
    const user = item.author === "user" || item.author === "operator";
    return bubble(user ? "from-user" : "from-tool", `${item.id}${item.subject ? `: ${item.subject}` : ""} — ${origin || "no author is named"}`, item.content, values);
  }
  const itemsOf = (details) => details.flatMap((one) =>
    [...(one.others || []), ...(one.plan ? one.plan.steps.flatMap((step) => step.pins.flatMap((it) => it.item || [])) : [])]);
  // What was sent stands before what was planned, where it is not the same.
  const strayed = (it) => (it.other_tool || it.other_args) && !it.late;
  const ended = (it) => make("p", {class: "small"}, tag(it.status, it.status === "completed" ? "yes" : "no"), it.error && ` ${it.error}`);
  const args = (tool, text, values) => text && text !== "{}" && make("pre", scrolls(text) ? {tabindex: "0", role: "region", "aria-label": `Arguments of ${tool}`} : {}, marked(text, values));
  function sentCard(tool, it, values) {
    return make("div", {class: "call why"}, make("p", null, make("strong", null, "Sent, and not as planned: "), make("code", null, tool)),
      args(tool, it.other_args, values), ended(it));
  }
  function callCard(one, values, settled) {
    const calls = one.calls || [], others = calls.filter(strayed);
    return [others.map((it) => sentCard(it.other_tool || one.tool, it, values)),
      make("div", {class: "call"}, others.length > 0 && make("strong", null, "Planned: "), one.tool ? make("code", null, one.tool) : "reasoning, no tool", " ", one.tier && tag(one.tier, "plain"),
      one.summary && make("p", null, one.summary),
      args(one.tool, one.args, values), taken(one), (one.openings || []).filter((it) => !it.ok || it.by).map(openedAs),
      calls.filter((it) => !strayed(it)).map((it) => [it.late && args(one.tool, it.other_args, values), ended(it)]),
      one.tool && settled.map((text) => make("p", {class: "small"}, text)))];
  }
  function turnCard(turn, details, values) {
    const ran = details.filter((one) => one.run && one.plan).pop(), planned = ran || details.filter((one) => one.plan).pop();
    const policy = details.map((one) => one.spec && one.spec.id).find(Boolean), error = details.map((one) => one.error).find(Boolean);
    const unplanned = details.flatMap((one) => one.run && one.run.calls || []).map((it) => sentCard(it.other_tool, it, values));
    const proofs = turn.of.map((seq) => make("p", null, make("code", null, `critic log prove LOG ${seq} --with-inputs`)));
    return make("section", {class: `turn fate-${turn.fate}`, id: `turn-at-${turn.n}`, "aria-label": `Turn ${turn.n}`, tabindex: "-1"},
      make("h2", null, `Turn ${turn.n} `, became(turn), " ", answered(turn) && make("span", {class: "answered"}, answered(turn))),
      make("p", {class: "small"}, time(turn), policy && [", judged by ", make("code", null, policy)], ", ", records(turn)),
      details.length === 0 ? make("p", null, spaced(turn.tools.map((name) => make("code", null, name))), ` The details of this turn are left out: critic log show LOG ${turn.n} prints them.`)
        : planned ? [unplanned, planned.plan.steps.map((one) => callCard(one, values, settlements(turn)))] : unplanned.length ? unplanned : details.map((one) => one.said && make("p", null, one.said)),
      violations(details).map(violation), error && make("p", {class: "small"}, error),
      make("details", {class: "small"}, make("summary", null, "Prove this"), proofs), unsound(turn));
  }
  function cameBack(details, waiting, values) {
    const ran = details.filter((one) => one.run && one.plan).pop();
    const calls = ran ? ran.plan.steps.flatMap((step) => (step.calls || []).map((it) => [step.tool, it])) : [];
    return calls.filter(([, it]) => it.output !== undefined).map(([tool, it]) => {
      const known = [...waiting].find((number) => { const item = shared(number); return item.content === it.output && item.class === `result:${tool}`; });
      if (known === undefined) return bubble("from-tool", `what ${tool} returned`, it.output, values);
      waiting.delete(known);
      return spoken(shared(known), values);
    });
  }
  function converse(turn) {
    const all = sessions.get(turn.s);
    const read_ = all.map((one) => one.of.map(detailOf).filter(Boolean));
    const values = [...new Set(read_.flatMap(doubted))];
    const waiting = new Set(read_.flatMap(itemsOf));  // what is not shown yet
    const counts = new Map();
    for (const one of all) counts.set(one.fate, (counts.get(one.fate) || 0) + 1);
    const cards = all.flatMap((one, at) => {
      const mine = doubted(read_[at]), card = turnCard(one, read_[at], mine), back = cameBack(read_[at], waiting, values);
      const before = [...new Set(itemsOf(read_[at]))].filter((number) => waiting.delete(number)).map((number) => spoken(shared(number), values));
      return [...before, card, ...back];
    });
    const heading = make("h1", {tabindex: "-1", id: "record"}, "Session ", make("code", null, turn.trace || "without a trace"));
    const named = [...new Set(all.map(whom).filter(Boolean))].map((one) => `For ${one}. `);
    opened.replaceChildren(make("nav", {class: "bar", "aria-label": "Session"}, make("a", {href: "#records"}, "← All turns")), heading,
      make("p", {class: "lead"}, named, `${many(all.length, "turn")}: `, [...counts].map(([fate, number]) => `${number} × ${said("fate", fate)}`).join("; "), "."),
      make("nav", {class: "turns-bar", "aria-label": "Turns of this session"}, all.map((one) =>
        make("a", {class: `fate-${one.fate}`, href: `#turn-${one.n}`, title: `Turn ${one.n}: ${said("fate", one.fate)}`,
          "aria-label": `Turn ${one.n}: ${said("fate", one.fate)}`}))),
      ...cards);
    const card = byId(`turn-at-${turn.n}`);
    return turn === all[0] ? heading : card;
  }

  // ---- which of the three is shown: the address says it, so Back and links work

  let from = null;
  function opening() {
    const [, what, number] = /^#(record|turn)-(-?\d+)$/.exec(location.hash) || [];
    const row = what === "record" && rows[place.get(number)], turn = what === "turn" && lines[at.get(number)];
    if (row && row.more) return {n: turnOf.get(row.seq).n, title: `Record ${row.seq}`, last: row.seq, show: () => show(row)};
    if (!turn || !turn.fate) return null;
    const last = Math.max(...sessions.get(turn.s).flatMap((one) => one.of).filter((seq) => rows[place.get(String(seq))].more), -Infinity);
    return {n: turn.n, title: `Turn ${turn.n}`, last, show: () => converse(turn)};
  }
  function route() {
    const one = opening();
    if (one && one.last > -Infinity && !byId(`detail-${one.last}`)) {  // the list is there before all details are
      addEventListener("DOMContentLoaded", route, {once: true});
      return;
    }
    for (const node of overviews) node.hidden = Boolean(one);
    opened.hidden = !one;
    if (one) {
      const heading = one.show();
      document.title = `${one.title} — ${title}`;
      from = one.n;
      if (heading.tagName === "H1") scrollTo(0, 0); else heading.scrollIntoView();
      heading.focus({preventScroll: true});
      return;
    }
    document.title = title;
    opened.replaceChildren();
    const [, fate] = /^#fate-([a-z_]+)$/.exec(location.hash) || [];
    if (fate && Object.hasOwn(words.fate, fate)) {
      from = null;
      filters.reset();
      byId("is").value = fate;
      filter();
      byId("records").scrollIntoView();
      byId("records").focus({preventScroll: true});
      return;
    }
    if (from === null) return;
    const where = found.indexOf(at.get(String(from)));
    if (where >= 0 && (where < start || where >= start + PAGE)) { start = where - where % PAGE; list(); }
    const link = byId(`link-${from}`) || byId("records");
    from = null;
    link.scrollIntoView({block: "center"});
    link.focus({preventScroll: true});
  }
  addEventListener("hashchange", route);
  addEventListener("beforeprint", () => {
    for (const node of document.querySelectorAll("details:not([open])")) { node.open = true; node.dataset.closed = "1"; }
  });
  addEventListener("afterprint", () => {
    for (const node of document.querySelectorAll("details[data-closed]")) { node.open = false; delete node.dataset.closed; }
  });
  list();
  route();
})();
