"use strict";
// Checks everything in the pack, and only then shows it. Text is set as text: nothing here makes HTML of data.
(async () => {
  const byId = (id) => document.getElementById(id);
  const utf8 = new TextEncoder();
  const state = byId("state"), shelf = byId("decisions");

  class Altered extends Error {}
  const demand = (holds, what) => { if (!holds) throw new Altered(what); };

  // make("p", {class: "x"}, "text", node, ...): absent children are left out.
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }
  // What does not print becomes its \uXXXX; what is cut says how long it was.
  const HIDDEN = /[^\P{C}\n]|[\u2028\u2029]|(?! )\p{Z}/gu;
  const visible = (text, longest = 4000) => {
    const all = String(text), shown = all.length > longest ? `${all.slice(0, longest)}… (${all.length} characters)` : all;
    return shown.replace(HIDDEN, (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`);
  };
  const line = (text, longest = 400) => visible(text, longest).replaceAll("\n", "\\n");
  const json = (value) => visible(JSON.stringify(value, null, 2), 20000);
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const list = (value) => Array.isArray(value) ? value : [];
  const within = (value, name) => isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

  // ---- bytes

  const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const isDigest = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
  const join = (...parts) => new Uint8Array(parts.flatMap((part) => [...part]));
  function unbase64(text) {
    try {
      const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
      return btoa(String.fromCharCode(...bytes)) === text ? bytes : null;
    } catch { return null; }
  }
  const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const isEqual = (left, right) => hex(left) === hex(right);

  // The text that RFC 8785 gives for a value: no two texts stand for one.
  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (!isObject(value)) return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
  }
  function object(text, what) {
    let value = null;
    try { value = JSON.parse(text); } catch { /* said below */ }
    demand(isObject(value) && canonical(value) === text, `${what} is not canonical JSON`);
    return value;
  }

  // ---- the checkpoint, and who signed it

  function readNote(note) {
    demand(typeof note === "string", "the checkpoint is missing");
    const at = note.lastIndexOf("\n\n");
    demand(at > 0 && note.endsWith("\n"), "the checkpoint is not a signed note");
    const text = note.slice(0, at + 1), [origin, size, root] = text.split("\n");
    demand(/^(0|[1-9][0-9]{0,14})$/.test(size), "the checkpoint says no number of records");
    const bytes = unbase64(root || "");
    demand(origin && bytes && bytes.length === 32, "the checkpoint says no root");
    const signatures = note.slice(at + 2, -1).split("\n").map((one) => {
      const [dash, name, encoded, more] = one.split(" "), signature = unbase64(encoded || "");
      demand(dash === "\u2014" && name && signature && signature.length > 4 && more === undefined, "a signature is malformed");
      return {name, id: signature.slice(0, 4), made: signature.slice(4), known: false};
    });
    return {text, origin, size: Number(size), root: bytes, signatures};
  }
  async function readKey(key) {
    const found = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(key), bytes = found && unbase64(found[3]);
    demand(bytes && bytes.length === 33 && (bytes[0] === 1 || bytes[0] === 4), "a public key is malformed");
    const id = (await sha256(join(utf8.encode(`${found[1]}\n`), bytes))).slice(0, 4);
    demand(hex(id) === found[2], "a public key and its id do not belong together");
    return {text: key, name: found[1], id, kind: bytes[0], raw: bytes.slice(1)};
  }
  const LACKS = new Set(["NotSupportedError", "SyntaxError", "TypeError"]);
  async function imported(raw) {
    try {
      return await crypto.subtle.importKey("raw", raw, {name: "Ed25519"}, false, ["verify"]);
    } catch (error) {
      if (LACKS.has(error.name)) return null;
      throw new Altered("a public key is none");
    }
  }
  // Returns whether this browser could verify the signatures. One that does not hold is an error.
  async function checkSignatures(note, keys) {
    demand(keys.length > 0, "it names no key");
    let verified = true;
    for (const key of keys) {
      const own = note.signatures.filter((one) => one.name === key.name && isEqual(one.id, key.id));
      demand(own.length > 0, `the key ${line(key.text)} signed no checkpoint here`);
      demand(key.kind === 4 || key.name === note.origin, "the key of the log has another name than the log");
      const usable = await imported(key.raw);
      for (const one of own) {
        one.known = true;
        let message = utf8.encode(note.text), made = one.made;
        if (key.kind === 4) {
          demand(made.length === 72, "a signature is malformed");
          const seconds = new DataView(made.buffer, made.byteOffset, 8).getBigUint64(0);
          message = utf8.encode(`cosignature/v1\ntime ${seconds}\n${note.text}`);
          made = made.slice(8);
        }
        demand(made.length === 64, "a signature is malformed");
        if (usable === null) { verified = false; continue; }
        demand(await crypto.subtle.verify("Ed25519", usable, made, message), `the signature of ${line(key.name)} does not hold`);
      }
    }
    return verified;
  }

  // ---- records and inputs

  async function rootOf(ownHash, index, size, path) {
    let number = index, last = size - 1, root = await sha256(join([0], unhex(ownHash)));
    for (const encoded of path) {
      const beside = unbase64(encoded);
      if (!beside || beside.length !== 32 || last === 0) return null;
      if (number % 2 === 1 || number === last) {
        root = await sha256(join([1], beside, root));
        while (number !== 0 && number % 2 === 0) { number /= 2; last = Math.floor(last / 2); }
      } else {
        root = await sha256(join([1], root, beside));
      }
      number = Math.floor(number / 2);
      last = Math.floor(last / 2);
    }
    return last === 0 ? root : null;
  }
  // The record of its sealed form: what it names by digest is put in place, and each number of a text becomes the text.
  const SEALED = ["asked", "attempts", "carried", "run", "texts"], WITH_TEXTS = ["because", "error", "report", "where"];
  const WORDS = new Set(["check", "decided_at", "decision_key", "evaluator_id", "evaluator_version", "kind", "refused_at", "run_id", "severity", "status", "trace_id"]);
  const isWord = (name, text) => WORDS.has(name) || (name === "path" && !/^[0-9]+$/.test(text));
  function filled(value, name, texts, what) {
    if (typeof value === "string") {
      if (isWord(name, value)) return value;
      if (texts === null) return "redacted";
      demand(/^(0|[1-9][0-9]{0,6})$/.test(value) && typeof texts[Number(value)] === "string", `${what} numbers other texts`);
      return texts[Number(value)];
    }
    if (Array.isArray(value)) return value.map((one) => filled(one, name, texts, what));
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([own, one]) => [own, filled(one, own, texts, what)])) : value;
  }
  function opened(sealed, pack, what, named, gone) {
    const record = {...sealed};
    for (const name of SEALED.filter((one) => Object.hasOwn(sealed, one))) {
      const digest = sealed[name];
      demand(isDigest(digest), `${what} does not name its ${name} by digest`);
      named.add(digest);
      delete record[name];
      if (!Object.hasOwn(pack.inputs, digest)) {
        demand(list(pack.redacted).includes(digest), `${name} of ${what} is missing`);
        gone.push(name);
        continue;
      }
      const text = pack.inputs[digest];
      try { record[name] = JSON.parse(text); } catch { throw new Altered(`${name} of ${what} is not canonical JSON`); }
      demand(canonical(record[name]) === text, `${name} of ${what} is not canonical JSON`);
    }
    const texts = gone.includes("texts") ? null : list(record.texts);
    delete record.texts;
    for (const name of WITH_TEXTS) if (Object.hasOwn(record, name)) record[name] = filled(record[name], name, texts, what);
    return record;
  }
  async function checkRecord(one, pack, note, named) {
    const what = `record ${line(one.seq)}`;
    demand(Number.isSafeInteger(one.seq) && one.seq >= 1 && one.seq <= note.size, `${what} is not in the log that was signed`);
    let record = null, ownHash = one.hash;
    if (one.body !== undefined) {
      demand(typeof one.body === "string" && one.hash === undefined, `${what} is not a record`);
      record = object(one.body, what);
      demand(record.seq === one.seq && !Object.hasOwn(record, "hash"), `${what} is another record`);
      ownHash = hex(await sha256(utf8.encode(one.body)));
    }
    const sealed = record, inputs = {}, gone = [];
    if (record) record = opened(record, pack, what, named, gone);
    demand(isDigest(ownHash), `${what} is neither there nor redacted`);
    const root = await rootOf(ownHash, one.seq - 1, note.size, list(one.path));
    demand(root && isEqual(root, note.root), `${what} was altered, or is of another log: it does not lead to the checkpoint`);
    for (const [name, digest] of Object.entries(within(record, "inputs") || {})) {
      named.add(digest);
      if (Object.hasOwn(pack.inputs, digest)) inputs[name] = object(pack.inputs[digest], `input ${line(name)} of ${what}`);
      else { demand(list(pack.redacted).includes(digest), `input ${line(name)} of ${what} is missing`); gone.push(name); }
    }
    return {seq: one.seq, hash: ownHash, record, sealed, inputs, gone};
  }
  async function check(pack) {
    demand(isObject(pack) && isObject(pack.inputs) && list(pack.records).length > 0, "it holds no records");
    const note = readNote(pack.note), keys = [];
    for (const key of list(pack.keys)) keys.push(await readKey(String(key)));
    const verified = await checkSignatures(note, keys);
    for (const [digest, text] of Object.entries(pack.inputs)) {
      demand(typeof text === "string" && hex(await sha256(utf8.encode(text))) === digest, `an input was altered: ${line(digest, 12)}`);
    }
    const named = new Set(), decisions = [];
    let before = 0;
    for (const one of pack.records) {
      demand(isObject(one), "a record is none");
      decisions.push(await checkRecord(one, pack, note, named));
      demand(one.seq > before, "its records are not in order");
      before = one.seq;
    }
    for (const digest of [...Object.keys(pack.inputs), ...list(pack.redacted)]) {
      demand(named.has(digest), `it holds an input that no record names: ${line(digest, 12)}`);
    }
    return {note, keys, verified, decisions};
  }

  // ---- what is shown

  const facts = (...pairs) => make("dl", {class: "facts"}, pairs.filter((pair) => pair[1] !== undefined && pair[1] !== false && pair[1] !== "")
    .map(([name, value]) => [make("dt", null, name), make("dd", null, value)]));
  const code = (text) => make("code", {class: "hash"}, line(text));
  const scrolls = (text) => text.length > 1200 || text.split("\n").length > 14;
  const pre = (text, label) => make("pre", scrolls(text) ? {tabindex: "0", role: "region", "aria-label": label} : {}, text);
  const tag = (text, look) => make("span", {class: `tag ${look}`}, text);
  const folded = (title, ...inner) => make("details", null, make("summary", null, title), ...inner);
  const tool = (step) => `${line(step.adapter_id)}/${line(step.capability_id)}`;

  // The record that ends an execution at last: what a person settled, a result may overtake.
  function lastEnd(hash, ends) {
    let end = ends.get(hash);
    while (ends.has(end.hash)) end = ends.get(end.hash);
    return end.seq;
  }
  // What was ruled, and whether anything ran: two facts of the record, said as two.
  function outcome({record, hash, gone}, ends) {
    if (record === null) return ["redacted: its hash alone is proved", "plain"];
    if (record.kind === "critic_error") return ["the critic failed, and refused", "no"];
    if (record.kind === "begun") return ends.has(hash) ? [`an execution began; record ${lastEnd(hash, ends)} ends it`, "plain"] : ["an execution began; its end is not here", "eh"];
    if (record.kind === "settled") return [`a person settled an execution as ${line(record.outcome)}${ends.has(hash) ? `; overtaken by record ${lastEnd(hash, ends)}` : ""}`, "eh"];
    if (record.kind !== undefined) return [line(record.kind), "plain"];
    const ok = within(within(record.report, "verify"), "ok") === true, calls = list(within(record.run, "calls"));
    if (!ok && record.action === "shadow") return [`not allowed, and not enforced: the guard was a shadow${gone.includes("run") ? "; what ran is redacted" : calls.length ? ", and calls ran" : ""}`, "eh"];
    if (gone.includes("run")) return [`${ok ? "allowed" : "refused"}; what ran is redacted`, "eh"];
    if (!ok && calls.length) return ["refused, and calls ran all the same", "no"];
    if (!ok && record.action === "ask") return ["a person was asked; nothing ran in this record", "eh"];
    if (!ok) return ["refused; nothing ran in this record", "no"];
    if (!calls.length) return ["allowed; no run in this record", "yes"];
    const done = calls.filter((call) => call.status === "completed").length;
    return done === calls.length ? ["allowed, and ran", "yes"] : [`allowed; ${done} of ${calls.length} calls were completed`, "eh"];
  }
  function stepCard(step, at, record, tier) {
    const violations = list(within(within(record.report, "verify"), "violations")).filter((one) => one.offending_step === at);
    const calls = list(within(record.run, "calls")).filter((call) => call.step === at);
    if (step.kind !== "tool") return make("div", {class: "call"}, make("p", null, `Thought: ${line(step.summary ?? "")}`));
    return make("div", {class: "call"},
      make("p", null, make("code", null, tool(step)), " ", tier && tag(line(tier), "plain")),
      pre(json(step.args ?? {}), `Arguments of step ${at}`),
      violations.map((one) => make("p", {class: "why"}, `${line(one.kind)}: ${line(one.reason, 2000)}`)),
      calls.map((call) => make("p", {class: "small"}, `called: ${line(call.status)}`,
        canonical(call.args ?? {}) !== canonical(step.args ?? {}) || tool(call) !== tool(step) ? ", and not as planned: " : "",
        canonical(call.args ?? {}) !== canonical(step.args ?? {}) || tool(call) !== tool(step) ? make("code", null, `${tool(call)} ${line(canonical(call.args ?? {}), 2000)}`) : "",
        call.error !== undefined && `: ${line(call.error)}`)),
      calls.filter((call) => call.output !== undefined).map((call) => folded("what came back", pre(json(call.output), `Output of step ${at}`))));
  }
  function evidenceOf(compiled) {
    const items = list(within(within(compiled, "manifests"), "evidence_manifest"));
    if (!items.length) return null;
    return folded(`What was known: ${items.length} item${items.length === 1 ? "" : "s"}`, items.map((item) => make("div", {class: "evidence"},
      make("p", null, code(item.id), ` ${line(item.classification)}`, isObject(item.source) && `, written by ${line(item.source.author)}`),
      item.content !== undefined && pre(typeof item.content === "string" ? visible(item.content, 20000) : json(item.content), `Content of ${line(item.id)}`))));
  }
  function tierOf(step, compiled) {
    const tools = list(within(within(compiled, "manifests"), "tool_manifest"));
    const own = tools.find((one) => one.adapter_id === step.adapter_id && one.capability_id === step.capability_id);
    return own && own.approval_mode;
  }
  function answerText(answer) {
    const {answer: said, approver, ...more} = isObject(answer) ? answer : {more: answer};
    const rest = Object.keys(more).length ? [line(canonical(more), 2000)] : [];
    return [said !== undefined && line(said), approver !== undefined && `by ${line(approver)}`, ...rest].filter(Boolean).join(", ");
  }
  function requestOf(compiled) {
    const items = list(within(within(compiled, "manifests"), "evidence_manifest"));
    const words = items.find((item) => item.classification === "request" && typeof item.content === "string");
    return words && words.content;
  }
  function card(one, ends) {
    const {seq, record, inputs, gone} = one, [said, look] = outcome(one, ends);
    const heading = make("h2", null, `Record ${seq}`, tag(said, look));
    if (record === null) return make("article", {class: "decision"}, heading, make("p", {class: "hash"}, code(one.hash)));
    const report = record.report || {}, verdict = report.verify || {}, {ctx, compiled, plan} = inputs;
    const time = report.decided_at || record.begun_at || record.settled_at || record.failed_at;
    const whole = list(verdict.violations).filter((violation) => violation.offending_step === undefined);
    const words = requestOf(compiled);
    return make("article", {class: `decision ${look}`}, heading,
      facts(["time", time && make("time", null, line(time))],
        ["trace", line(record.trace_id ?? report.trace_id ?? "")],
        ["session", within(within(ctx, "session"), "id") !== undefined && `${line(ctx.session.id)}, turn ${line(ctx.session.turn)}`],
        ["ruling", report.status !== undefined && `${line(report.status)}${record.action === undefined ? "" : `; what was done: ${line(record.action)}`}`],
        ["why", report.rationale !== undefined && line(report.rationale, 2000)],
        ["settled by", record.by !== undefined && `${line(record.by)}: ${line(record.because)}`],
        ["error", record.error !== undefined && line(record.error)],
        ["the user said", words !== undefined && visible(words)],
        ["answer", record.answer !== undefined && answerText(record.answer)]),
      list(within(ctx, "approvals")).map((approval) => make("p", null, tag("approval", "yes"),
        ` ${line(approval.approver)}, ${line(approval.approval_id)}`, approval.expires_at !== undefined && `, until ${line(approval.expires_at)}`,
        ", of plan ", code(approval.plan_digest))),
      whole.map((violation) => make("p", {class: "why"}, `${line(violation.kind)}: ${line(violation.reason, 2000)}`)),
      list(within(plan, "steps")).map((step, at) => stepCard(step, at, record, tierOf(step, compiled))),
      record.kind === "critic_error" && pre(json({where: record.where, asked: record.asked}), "What was asked"),
      gone.length > 0 && make("p", null, `Taken out of the log, and so not shown: ${gone.map((name) => line(name)).join(", ")}.`),
      evidenceOf(compiled),
      folded("The record as it was hashed", facts(["hash", code(one.hash)],
        ...Object.entries(record.inputs || {}).map(([name, digest]) => [`input ${line(name)}`, code(digest)])), pre(json(one.sealed), `Record ${seq}`)));
  }
  function say(look, title, ...inner) {
    state.className = `verdict ${look}`;
    state.replaceChildren(make("h2", null, title), ...inner.flat());
    document.title = title;
  }
  function conclude({note, keys, verified, decisions}) {
    const count = decisions.length, noun = `${count} record${count === 1 ? "" : "s"}`;
    const unknown = note.signatures.filter((one) => !one.known).map((one) => one.name);
    say(verified ? "good" : "warn",
      verified ? "What this page shows is as it was signed" : "The hashes hold; the signature was not checked",
      make("p", null, `Checked just now, by this page: the hash of ${noun}, every input, and the place of each record among the ${note.size} of the signed checkpoint of `, code(note.origin), "."),
      verified ? make("p", null, "The signature holds.")
        : make("p", null, "This browser cannot verify Ed25519. Check it with ", make("code", null, "critic log check FILE --public-key KEY"), ", or open it in a newer browser: until then anybody could have made it."),
      make("p", null, verified ? "Trust it only if this is the key of the owner of the log, which you have from the owner and not from who gave you this page:" : "The key that is said to have signed:"),
      keys.map((key) => make("p", null, code(key.text))),
      make("h3", null, "What this page cannot check"),
      make("ul", {class: "plain"},
        make("li", null, "that what was recorded is true, that it is all that happened, and what came later;"),
        unknown.length > 0 && make("li", null, `signatures of others, whose keys are not here: ${unknown.map((name) => line(name)).join(", ")};`),
        make("li", null, "itself: who makes a page can make it say anything. ", make("code", null, "critic log check FILE --public-key KEY"), " checks this file, its script too, with a program that you have.")));
    const ends = new Map(decisions.filter((one) => one.record && one.record.begun).map((one) => [one.record.begun, one]));
    shelf.replaceChildren(...decisions.map((one) => card(one, ends)));
  }
  try {
    if (!globalThis.crypto || !crypto.subtle) {
      say("bad", "Not checked", make("p", null, "This browser lets no page of this address compute hashes, so nothing is shown. Open the file itself in a newer browser, or ask ", make("code", null, "critic log check"), "."));
      return;
    }
    let pack = null;
    try { pack = JSON.parse(byId("pack").textContent); } catch { throw new Altered("its data cannot be read"); }
    conclude(await check(pack));
  } catch (error) {
    shelf.replaceChildren();
    const why = error instanceof Altered ? error.message : `it could not be checked: ${line(error)}`;
    say("bad", "This pack does not hold", make("p", null, `Nothing of it is shown: ${why}.`));
  }
})();
