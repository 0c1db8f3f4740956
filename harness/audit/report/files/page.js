"use strict";
// The list of records, and one record opened. Text is set as text: nothing here makes HTML of data.
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
  const LOOKS = {refused: "no", failed: "no", critic_error: "no", missing: "no", unreadable: "no", open: "eh",
    completed: "yes", partial: "yes", begun: "plain"};
  const outcome = (row) => tag(said("is", row.is), LOOKS[row.is] || "plain");
  const unsound = (row) => row.check && row.check !== "open" && tag(row.check, "no");

  // ---- the list

  const filters = byId("filters"), body = byId("body"), matches = byId("matches");
  const field = (name) => byId(name).value;
  let found = rows.map((_, at) => at).reverse(), start = 0;
  for (const row of rows) {
    row.find = [row.seq, row.trace, row.key, row.said, row.mode, said("is", row.is), row.why, row.why && said("why", row.why),
      ...(row.tools || [])].join(" ").toLowerCase();
  }
  function options(name, values, label) {
    const seen = [...new Set(values)].sort();
    byId(name).append(...seen.map((value) => make("option", {value}, label(value))));
  }
  options("is", rows.map((row) => row.is), (code) => said("is", code));
  options("why", rows.flatMap((row) => row.why || []), (code) => said("why", code));
  options("tool", rows.flatMap((row) => row.tools || []), (name) => name);

  function filter() {
    const wanted = field("text").toLowerCase().split(/\s+/).filter(Boolean);
    const is = field("is"), why = field("why"), tool = field("tool"), from = field("from"), to = field("to");
    const fits = (row) => (!is || row.is === is) && (!why || row.why === why)
      && (!tool || (row.tools || []).includes(tool))
      && (!from || (row.at || "") >= from) && (!to || (row.at && row.at.slice(0, 10) <= to))
      && wanted.every((word) => row.find.includes(word));
    found = [];
    for (let at = rows.length - 1; at >= 0; at--) if (fits(rows[at])) found.push(at);
    start = 0;
    list();
  }
  function line(row) {
    const link = row.more ? make("a", {href: `#record-${row.seq}`, id: `link-${row.seq}`}, String(row.seq)) : String(row.seq);
    return make("tr", null,
      make("th", {scope: "row", class: "number"}, link),
      make("td", null, row.at && row.at.replace("T", " ").replace("Z", "")),
      make("td", null, outcome(row), " ", unsound(row), row.why && make("span", {class: "said"}, said("why", row.why))),
      make("td", null, row.trace, row.key && make("span", {class: "said"}, row.key)),
      make("td", null, (row.tools || []).flatMap((name, at) => [at > 0 && ", ", make("code", null, name)])),
      make("td", null, row.said));
  }
  function list() {
    const end = Math.min(start + PAGE, found.length);
    body.replaceChildren(...found.slice(start, end).map((at) => line(rows[at])));
    matches.textContent = found.length
      ? `${count(found.length)} of ${count(rows.length)} records match; showing ${count(start + 1)} to ${count(end)}, the newest first`
      : `None of ${count(rows.length)} records match`;
    byId("back").disabled = start === 0;
    byId("on").disabled = end === found.length;
    byId("pages").hidden = found.length <= PAGE;
  }
  let waiting = 0;
  filters.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  filters.addEventListener("reset", () => setTimeout(filter));
  filters.addEventListener("submit", (event) => event.preventDefault());
  function turn(by) {
    start += by;
    list();
    byId("records").focus({preventScroll: true});
    byId("matches").scrollIntoView();
  }
  byId("back").addEventListener("click", () => turn(-PAGE));
  byId("on").addEventListener("click", () => turn(PAGE));

  // ---- one record

  const opened = byId("opened"), overviews = [byId("overview"), byId("about")], title = document.title;
  const shared = (number) => read(`shared-${number}`);
  const facts = (pairs) => make("dl", {class: "facts"}, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .flatMap(([name, value]) => [make("dt", null, name), make("dd", null, value)]));
  const part = (name, ...children) => make("section", {"aria-label": name}, make("h2", null, name), children);
  const code = (text) => text && make("code", {class: "hash"}, text);
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
    return make("p", {class: "why"}, make("strong", null, said("why", one.kind)), ` (check: ${one.check}) — ${one.reason}`,
      one.approvable && " — a person's approval would clear this");
  }
  function call(one) {
    const spent = [one.duration_ms !== undefined && `${count(one.duration_ms)} ms`, one.tokens !== undefined && many(one.tokens, "token"),
      one.cost_micros !== undefined && `cost ${cost(one.cost_micros)}`].filter(Boolean);
    const other = one.other_tool || one.other_args;
    return make("div", null, tag(one.status, one.status === "completed" ? "yes" : "no"), " ",
      one.attempt > 1 && `attempt ${one.attempt}, `, spent.join(", "),
      one.other_tool && make("p", {class: "why"}, "Another tool was called than planned: ", make("code", null, one.other_tool)),
      other ? make("div", null, make("p", {class: "why"}, "Sent, and not as planned:"), pre(one.other_args, "Arguments as sent"))
        : make("p", null, "Sent as planned."),
      one.error && make("p", {class: "why"}, one.error),
      one.output !== undefined && make("details", null, make("summary", null, "Result"), pre(one.output, "Result")));
  }
  function step(one, at, detail) {
    const wrong = (detail.verdict && detail.verdict.violations || []).filter((it) => it.step === at);
    const tier = one.tier === null ? tag("not in the manifest", "no") : one.tier && [tag(one.tier, "plain"), ` ${said("more", one.tier)}`];
    const calls = one.calls || [];
    return make("li", {class: wrong.length ? "step offending" : "step"},
      make("h3", null, `Step ${at}: `, one.tool ? make("code", null, one.tool) : "reasoning, no tool", " ",
        wrong.length > 0 && tag("refused here", "no")),
      wrong.map(violation),
      one.tool && make("p", null, "Tier: ", tier || "not known"),
      one.summary && make("p", null, one.summary),
      make("div", {class: "sides"},
        one.args && make("div", null, make("h4", null, "Planned arguments"), pre(one.args, `Arguments of step ${at}`)),
        detail.run && one.tool && make("div", null, make("h4", null, "What ran"),
          calls.length ? calls.map(call) : make("p", null, tag("not called", "eh")))),
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
    return [make("p", null, tag("refused", "no"), " before any of it ran"),
      given.violations.map((one) => one.step === undefined || one.step >= steps ? violation(one)
        : make("p", {class: "why"}, make("strong", null, `Step ${one.step}: ${said("why", one.kind)}`), ` — ${one.reason}`))];
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
      facts([["Hash of the record", code(detail.hash)], ["Hash of the one before", code(detail.prev)],
        ...inputs.map(([name, digest]) => [`SHA-256 of ${name}`, code(digest)]),
        ["Permit", code(detail.permit)], ["Ends the execution", code(detail.begun)],
        ["Rules", `version ${detail.rules}`], ["Digest of the rules", code(detail.code)]]),
      make("p", null, "To check it yourself: ", make("code", null, "critic log verify"), " recomputes every hash, ",
        make("code", null, "critic replay"), " derives every verdict again from the record alone, and ",
        make("code", null, `critic log show LOG ${row.seq}`), " prints this record.")];
  }
  function context(detail, row) {
    const ctx = detail.ctx || {}, spec = detail.spec;
    return facts([["Outcome", outcome(row)], ["Said", row.said], ["Decided at", row.at], ["Trace", row.trace],
      ["Decision", row.key], ["Must produce", spec && listed(spec.outputs)], ["Judged as of", ctx.as_of],
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
    const at = found.indexOf(place.get(String(row.seq)));
    const near = (by) => { let to = at + by; while (at >= 0 && found[to] !== undefined && !rows[found[to]].more) to += by; return at >= 0 && rows[found[to]]; };
    const [newer, older] = [near(-1), near(1)];
    return make("nav", {class: "bar", "aria-label": "Records"}, make("a", {href: "#records"}, "← All records"),
      newer && make("a", {href: `#record-${newer.seq}`}, `Newer: ${newer.seq}`), older && make("a", {href: `#record-${older.seq}`}, `Older: ${older.seq}`));
  }
  function show(row) {
    const detail = read(`detail-${row.seq}`);
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

  // ---- which of the two is shown: the address says it, so Back and links work

  let from = null;
  function route() {
    const [, seq] = /^#record-(-?\d+)$/.exec(location.hash) || [];
    const row = rows[place.get(seq)];
    const opens = Boolean(row && row.more);
    if (opens && !byId(`detail-${seq}`)) {  // the list is there before all details are
      addEventListener("DOMContentLoaded", route, {once: true});
      return;
    }
    for (const node of overviews) node.hidden = opens;
    opened.hidden = !opens;
    if (opens) {
      const heading = show(row);
      document.title = `Record ${row.seq} — ${title}`;
      from = row.seq;
      scrollTo(0, 0);
      heading.focus({preventScroll: true});
      return;
    }
    document.title = title;
    opened.replaceChildren();
    if (from === null) return;
    const at = found.indexOf(place.get(String(from)));
    if (at >= 0 && (at < start || at >= start + PAGE)) { start = at - at % PAGE; list(); }
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
