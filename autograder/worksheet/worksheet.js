/* By Hand: worksheets that answer. A classic script without imports; it defines

     ByHand.mount(element, sheet, options) -> {state, setVariant, clear, reveal}

   element : holds the steps as draw.py draws them, or `options.html` does
   sheet   : the worksheet as data (data.py)
   options : {steps: [names] or null, show: "blank" or "filled", variant: 0, html,
              store: {load(): object, save(object)}, onChange(state)}
   state() : {variant, filled: {step: [[text, ...], ...]}}

   On a page every <div class="bh-sheet" data-sheet=...> is mounted by itself; blocks
   of one sheet share what is filled in. All numbers, sums and variants come from the
   data; the arithmetic here only compares what was typed with what is right. */
(() => {
  "use strict";

  const EPS = 1e-9;
  const NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:\/([+-]?(?:\d+\.?\d*|\.\d+)))?$/;

  /** What a text says: a number, null for nothing, NaN for no number. */
  function parse(text) {
    const plain = text.replace(/[−–—]/g, "-").replace(/,/g, ".").replace(/⁄/g, "/")
      .replace(/\s+/g, "");
    if (!plain) return null;
    const found = NUMBER.exec(plain);
    return found ? Number(found[1]) / Number(found[2] ?? 1) : NaN;
  }

  const words = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value != null) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }

  const button = (text, act, more = {}) =>
    make("button", { type: "button", class: "bh-button", onclick: act, ...more }, text);

  /** A name or formula with its indices: the same rule as in draw.py. */
  function formula(text) {
    const out = make("span");
    let at = 0;
    for (const found of text.matchAll(/_([\p{L}\p{N}_]+)|\^(?:\(([^()]*)\)|([\p{L}\p{N}_.]+))/gu)) {
      out.append(text.slice(at, found.index),
        make(found[1] ? "sub" : "sup", {}, found[1] ?? found[2] ?? found[3]));
      at = found.index + found[0].length;
    }
    out.append(text.slice(at));
    return out;
  }

  /* ---- the model */

  /** What has been filled in, of every set of numbers; views listen to it. */
  class Model {
    constructor(sheet, store) {
      this.sheet = sheet;
      this.store = store;
      this.views = new Set();
      this.open = new Set(); // steps that the page shows filled in from the start
      this.read();
      this.steps = sheet.variants[0].steps;
      this.asked = this.steps.filter((s) => s.asked).map((s) => s.name);
    }

    /** Take up what is kept: at the start, and when another tab has written. */
    read() {
      let kept;
      try { kept = this.store?.load(); } catch { /* then nothing is kept */ }
      this.kept = kept?.sets instanceof Object ? kept : { sets: {} };
      this.undo = null;
    }

    step(name, n) {
      return this.sheet.variants[n].steps.find((s) => s.name === name);
    }

    /** The cell's data; what all variants share stands in the first only. */
    cell(name, i, j, n) {
      const own = this.step(name, n).cells[i][j];
      return own.s ? own : { ...own, s: this.step(name, 0).cells[i][j].s };
    }

    set(n) {
      const set = (this.kept.sets[n] ??= {});
      set.filled ??= {};
      set.shown ??= {};
      return set;
    }

    text(name, i, j, n) {
      return this.set(n).filled[name]?.[i]?.[j] ?? "";
    }

    write(name, i, j, n, text) {
      // made anew: what is kept may come from a sheet of another shape
      const filled = this.step(name, n).cells.map((row, r) => row.map((_, c) => this.text(name, r, c, n)));
      filled[i][j] = text;
      this.set(n).filled[name] = filled;
      this.changed();
    }

    /** "blank", "right", "wrong" or "unreadable". */
    verdict(name, i, j, n) {
      const value = parse(this.text(name, i, j, n));
      if (value === null) return "blank";
      if (!Number.isFinite(value)) return "unreadable";
      const cell = this.cell(name, i, j, n);
      const near = this.step(name, n).tolerance + EPS;
      // computed from the numbers as the page rounds them, `r`, is right as well
      const [low, high] = [cell.x, cell.r ?? cell.x].sort((a, b) => a - b);
      return value >= low - near && value <= high + near ? "right" : "wrong";
    }

    isShown(name, n) {
      return this.set(n).shown[name] ?? (this.open.has(name) || this.open.has(`${name} ${n}`));
    }

    /** How far a step is: {right, total, typed, shown, done}. */
    progress(name, n) {
      const all = this.step(name, n).cells.flatMap((row, i) =>
        row.map((_, j) => this.verdict(name, i, j, n)));
      const right = all.filter((v) => v === "right").length;
      const isShown = this.isShown(name, n);
      return {
        right, total: all.length, typed: all.some((v) => v !== "blank"),
        shown: isShown, done: isShown || right === all.length,
      };
    }

    /** Whether the reader knows a number: given, found, or shown. */
    known(name, i, j, n) {
      return !this.step(name, n).asked || this.isShown(name, n)
        || this.verdict(name, i, j, n) === "right";
    }

    /** How many steps the reader has found alone. */
    own(n) {
      return this.asked.map((name) => this.progress(name, n)).filter((p) => p.right === p.total).length;
    }

    finished(n) {
      return this.asked.every((name) => this.progress(name, n).done);
    }

    show(name, n, yes) {
      this.set(n).shown[name] = yes;
      this.changed();
    }

    /** Clear some steps, or with no names everything; once more by the same, undo it. */
    clear(by, names, n) {
      const undo = this.undo;
      this.undo = null;
      if (by && undo?.by === by) this.kept = JSON.parse(undo.kept);
      else {
        this.undo = { by, kept: JSON.stringify(this.kept) };
        if (!names) this.kept = { sets: {} };
        for (const name of names ?? []) {
          delete this.set(n).filled[name];
          this.set(n).shown[name] = false;
        }
      }
      this.changed();
    }

    state(n) {
      return { variant: n, filled: JSON.parse(JSON.stringify(this.set(n).filled)) };
    }

    changed() {
      try { this.store?.save(this.kept); } catch { /* private window: not kept */ }
      this.paint();
    }

    paint() {
      for (const view of this.views) view.paint();
    }
  }

  /* ---- the hints */

  /** The terms of a sum, with their values; empty when it is no plain sum. */
  function terms(text) {
    const parts = text.split(" + ");
    const all = parts.map((part) => {
      const numbers = part.split("·").map((f) => parse(f.replace(/[()]/g, "")));
      const whole = part.split("(").length === part.split(")").length;
      const good = whole && numbers.every((x) => x !== null && Number.isFinite(x));
      return { text: part, value: good ? numbers.reduce((a, b) => a * b) : NaN };
    });
    return all.length > 1 && all.every((t) => Number.isFinite(t.value)) ? all : [];
  }

  /** What to look at again. */
  function hint(step, cell, i, j, value) {
    const near = Math.max(step.tolerance, 1e-6);
    const same = (a, b) => Math.abs(a - b) <= near;
    if (cell.x && same(value, -cell.x)) return "Look at the sign.";
    const close = step.tolerance && Math.abs(value - cell.x) < Math.min(15 * step.tolerance, Math.abs(cell.x) / 4);
    const sum = terms(cell.t).filter((t) => t.value);
    if (sum.length) {
      const off = value - cell.x;
      const one = (kind) => sum.find((t) => same(off, kind * t.value));
      let term;
      if (sum.length > 1 && (term = one(-1))) return `Look at ${term.text} again: it seems to be missing.`;
      if ((term = one(1))) return `Look at ${term.text} again: it seems to count twice.`;
      if ((term = one(-2))) return `Look at ${term.text} again: its sign.`;
    }
    const mirror = i !== j && step.op === "product" && step.cells[j]?.[i];
    if (mirror && same(value, mirror.x)) {
      return `That is row ${j + 1}, column ${i + 1}: rows and columns are swapped.`;
    }
    if (close) return `Close, but not within ${step.digits} decimal${step.digits === 1 ? "" : "s"}.`;
    if (sum.length) return `Look at ${words(sum.map((t) => t.text))} again; every other term is 0.`;
    if (terms(cell.t).length) return "Look again: every term is 0.";
    const tips = {
      floor: "⌊ ⌋ rounds down, below 0 too.",
      power: cell.x < 1 ? "A negative exponent gives less than 1." : "",
      normalise: "Divide by the sum that stands in the brackets.",
    };
    return `Look at ${cell.t} again. ${tips[step.op] ?? ""}`.trim();
  }

  /* ---- one step */

  let count = 0;

  class StepView {
    constructor(block, figure) {
      this.block = block;
      this.model = block.model;
      this.figure = figure;
      this.name = figure.dataset.step;
      this.step = this.model.step(this.name, 0);
      this.tables = [...figure.querySelectorAll("table[data-of]")].map((table) => ({
        name: table.dataset.of,
        turned: "turned" in table.dataset,
        own: table.classList.contains("bh-own"),
        cells: [...table.tBodies[0].rows].map((r) => [...r.querySelectorAll("td")]),
      }));
      this.inputs = [];
      this.at = null;
      if (this.step.asked) this.build();
    }

    get n() { return this.block.variant; }

    build() {
      const id = `bh-${++count}`;
      this.sum = this.figure.querySelector(".bh-sum");
      this.sum.id = `${id}-sum`;
      this.said = make("p", { class: "bh-verdict", role: "status" });
      this.needs = make("p", { class: "bh-needs", hidden: true });
      this.reveal = button("Show", () => this.model.show(this.name, this.n, !this.progress.shown));
      this.wipe = button("Clear", () => this.clear());
      this.keys = make("div", { class: "bh-keys", "aria-hidden": "true" });
      for (const key of ["−", "/"]) {
        this.keys.append(make("button", {
          type: "button", class: "bh-button", tabindex: -1,
          onpointerdown: (event) => { event.preventDefault(); this.insert(key); },
        }, key));
      }
      this.figure.prepend(make("div", { class: "bh-head" },
        this.figure.querySelector(".bh-part") ?? make("span"),
        make("div", { class: "bh-tools" }, this.wipe, this.reveal)));
      this.sum.before(this.needs);
      this.figure.append(make("div", { class: "bh-foot" }, this.said, this.keys));
      const own = this.tables.find((t) => t.own);
      this.from = own.cells.map((row) => row.map((td) => td.dataset.from));
      this.inputs = own.cells.map((row, i) => row.map((td, j) => {
        const input = make("input", {
          type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false",
          "aria-label": `${this.name}, row ${i + 1}, column ${j + 1}, from ${this.from[i][j]}`,
          "aria-describedby": this.sum.id,
        });
        input.addEventListener("input", () => this.typed(i, j));
        input.addEventListener("focus", () => this.entered(i, j));
        input.addEventListener("blur", () => this.left(i, j));
        input.addEventListener("keydown", (event) => this.key(event, i, j));
        td.addEventListener("pointermove", (event) => {
          // only a mouse that moves: one at rest sees cells pass as the page scrolls
          const moved = event.movementX || event.movementY;
          if (event.pointerType === "mouse" && moved) this.point(i, j, true);
        });
        td.classList.remove("bh-hit");
        td.replaceChildren(input);
        return input;
      }));
      this.figure.addEventListener("pointerleave", () => this.rest());
      this.rest();
    }

    get progress() { return this.model.progress(this.name, this.n); }

    /* ---- moving and typing */

    key(event, i, j) {
      const input = this.inputs[i][j];
      const whole = input.selectionEnd - input.selectionStart === input.value.length;
      const ends = {
        ArrowLeft: whole || input.selectionEnd === 0,
        ArrowRight: whole || input.selectionStart === input.value.length,
      };
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (move && ends[event.key] !== false) {
        const next = this.inputs[i + move[0]]?.[j + move[1]];
        event.preventDefault();
        next?.focus();
      } else if (event.key === "Enter") {
        event.preventDefault();
        this.enter(i, j, event.shiftKey);
      }
    }

    /** Enter: judge this cell; when it is right, go on to the next open one. */
    enter(i, j, back) {
      const flat = this.inputs.flat();
      const width = this.inputs[0].length;
      const here = i * width + j;
      this.judged(i, j);
      if (this.verdict(i, j) === "wrong" || this.verdict(i, j) === "unreadable") {
        this.inputs[i][j].select();
        return;
      }
      for (let k = 1; k < flat.length; k++) {
        const at = (here + (back ? -k : k) + flat.length) % flat.length;
        const [r, c] = [Math.floor(at / width), at % width];
        if (this.verdict(r, c) !== "right") return flat[at].focus();
      }
      if (this.again) this.block.onward();
      else if (this.progress.done) this.tell(this.block.leave(this), "right");
      this.again = this.progress.done;
    }

    insert(key) {
      const input = document.activeElement;
      if (!this.inputs.flat().includes(input) || input.readOnly) return;
      input.setRangeText(key, input.selectionStart, input.selectionEnd, "end");
      input.dispatchEvent(new Event("input"));
    }

    entered(i, j) {
      this.point(i, j);
      this.inputs[i][j].select();
      if (this.inputs[i][j].getAttribute("aria-invalid") === "true") this.blame(i, j);
    }

    typed(i, j) {
      this.model.undo = null;
      this.again = false;
      this.fresh = `${i},${j}`;
      this.model.write(this.name, i, j, this.n, this.inputs[i][j].value);
      if (this.verdict(i, j) === "right") this.judged(i, j);
      else this.tell("");
    }

    left(i, j) {
      this.judged(i, j);
      setTimeout(() => this.rest());
    }

    verdict(i, j) { return this.model.verdict(this.name, i, j, this.n); }

    /** Say what became of a cell. A wrong one is told when the reader is done typing. */
    judged(i, j) {
      if (this.fresh !== `${i},${j}`) return;
      const verdict = this.verdict(i, j);
      this.fresh = null;
      this.paint();
      if (verdict === "right") {
        const p = this.progress;
        this.tell(p.right === p.total ? `${this.name} is done.`
          : `Row ${i + 1}, column ${j + 1} is right.`, "right");
      } else if (verdict !== "blank") this.blame(i, j);
    }

    blame(i, j) {
      const place = `Row ${i + 1}, column ${j + 1}`;
      const value = parse(this.inputs[i][j].value);
      if (!Number.isFinite(value)) {
        return this.tell(`${place}: a number, please, such as 3, −1, 0.2 or 9/46.`, "wrong");
      }
      const cell = this.model.cell(this.name, i, j, this.n);
      const all = cell.s.every((s) => this.model.known(...s, this.n));
      const why = all ? hint(this.model.step(this.name, this.n), cell, i, j, value) : "";
      this.tell(`${place} is not right. ${why}`, "wrong");
    }

    tell(text, kind = "") {
      this.said.className = `bh-verdict ${kind && `bh-${kind}`}`;
      this.said.textContent = text;
    }

    clear() {
      this.model.clear(this, [this.name], this.n);
      this.tell("");
    }

    /* ---- looking */

    /** Light up what a cell is made of, and write its arithmetic out. */
    point(i, j, hover = false) {
      if (!hover) this.at = [i, j];
      const cell = this.model.cell(this.name, i, j, this.n);
      const lit = new Set([[this.name, i, j], ...cell.s].map(String));
      for (const table of this.tables) {
        table.cells.forEach((row, r) => row.forEach((td, c) => {
          const at = table.turned ? [table.name, c, r] : [table.name, r, c];
          td.classList.toggle("bh-hit", lit.has(String(at)));
        }));
      }
      const known = this.model.known(this.name, i, j, this.n);
      const open = cell.s.some((s) => !this.model.known(...s, this.n));
      const exact = /\//.test(cell.v) || Math.abs(Number(cell.v.replace("−", "-")) - cell.x) < EPS;
      const line = open ? this.from[i][j] : cell.t;
      this.sum.replaceChildren(
        make("span", { class: "bh-where" }, `row ${i + 1}, column ${j + 1}: `),
        ...line.split(/ (?=[+−] )/).flatMap((term, k) => {
          const part = formula(term);
          part.className = "bh-term";
          return k ? [" ", part] : [part];
        }),
        exact ? " = " : " ≈ ", make("strong", {}, known ? cell.v : "?"),
        known && cell.e ? make("span", { class: "bh-where" }, ` (more exactly ${cell.e})`) : "",
      );
      this.sum.classList.remove("bh-idle");
    }

    /** Back to the cell one is in, or was in: its sum stays to be read. */
    rest() {
      if (this.at) this.point(...this.at); else this.idle();
      if (this.inputs.flat().includes(document.activeElement)) return;
      for (const td of this.tables.flatMap((t) => t.cells.flat())) td.classList.remove("bh-hit");
    }

    idle() {
      this.sum.classList.add("bh-idle");
      this.sum.textContent = "Choose a cell to see what it is made of.";
    }

    paint() {
      for (const table of this.tables) {
        const step = this.model.step(table.name, this.n);
        table.cells.forEach((row, r) => row.forEach((td, c) => {
          const [i, j] = table.turned ? [c, r] : [r, c];
          const known = this.model.known(table.name, i, j, this.n);
          const cell = step.cells[i][j];
          if (step.role === "share") td.style.setProperty("--part", known ? cell.x : 0);
          if (table.own && step.asked) return this.paintInput(td, i, j, cell);
          const text = known ? cell.v : "·";
          if (td.textContent !== text) td.textContent = text;
          td.classList.toggle("bh-open", !known);
        }));
      }
      if (!this.step.asked) return;
      const p = this.progress;
      this.reveal.textContent = p.shown ? "Hide" : "Show";
      this.reveal.setAttribute("aria-label", `${this.reveal.textContent} ${this.name}`);
      this.reveal.hidden = p.right === p.total;
      const undo = this.model.undo?.by === this;
      this.wipe.textContent = undo ? "Undo" : "Clear";
      this.wipe.setAttribute("aria-label", `${this.wipe.textContent} ${this.name}`);
      this.wipe.hidden = !p.typed && !undo;
      this.paintNeeds();
      this.rest();
    }

    paintInput(td, i, j, cell) {
      const input = this.inputs[i][j];
      const verdict = this.verdict(i, j);
      const given = verdict !== "right" && this.progress.shown;
      const text = given ? cell.v : this.model.text(this.name, i, j, this.n);
      if (input.value !== text) input.value = text;
      input.readOnly = given;
      const typing = this.fresh === `${i},${j}` && verdict !== "right";
      const wrong = !given && !typing && (verdict === "wrong" || verdict === "unreadable");
      td.dataset.state = given ? "shown" : verdict === "right" ? "right" : wrong ? "wrong" : "blank";
      input.setAttribute("aria-invalid", String(wrong));
    }

    /** A step that uses numbers not found yet says so, and offers them. */
    paintNeeds() {
      const open = [...new Set(this.tables.filter((t) => !t.own).map((t) => t.name))]
        .filter((name) => this.model.step(name, this.n).asked && !this.model.progress(name, this.n).done);
      this.needs.hidden = !open.length || this.progress.done;
      if (this.needs.hidden) return;
      const key = words(open);
      if (this.needs.dataset.key === key) return;
      this.needs.dataset.key = key;
      this.needs.replaceChildren(`This needs ${key}: find them first, or `.replace(
        "them", open.length > 1 ? "them" : "it"), button(`show ${key}`, () => {
        for (const name of open) this.model.set(this.n).shown[name] = true;
        this.model.changed();
        this.inputs[0][0].focus();
      }));
    }
  }

  /* ---- one block */

  class Block {
    constructor(element, model, options) {
      this.element = element;
      this.model = model;
      this.options = options;
      const number = options.variant ?? 0;
      this.several = element.querySelectorAll("[data-step]").length > 1;
      const kept = this.several ? model.kept.variant : undefined;
      this.variant = model.sheet.variants[kept ?? number] ? (kept ?? number) : 0;
      this.views = [...element.querySelectorAll("[data-step]")].map((f) => new StepView(this, f));
      if (options.show === "filled") {
        const only = options.model ? ` ${number}` : "";
        for (const view of this.views) model.open.add(view.name + only);
      }
      this.end = element.querySelector(".bh-end");
      if (!this.end && this.several) element.append(this.end = make("div", { class: "bh-end", role: "status", hidden: true }));
      this.end?.prepend(this.score = make("strong"));
      if (this.several) this.build();
      if ("bar" in element.dataset) this.overview(element.dataset.bar);
      model.views.add(this);
    }

    /** Above the steps of a page: how far each of them is, all at once, and links. */
    overview(place) {
      this.links = this.model.asked.map((name) =>
        make("a", { class: "bh-button bh-chip", href: `#${place}-${name}` }));
      this.all = button("", () => {
        const yes = !this.model.finished(0);
        for (const name of this.model.asked) this.model.set(0).shown[name] = yes;
        this.model.changed();
      });
      this.element.prepend(this.chipList(this.links), make("div", { class: "bh-bar" },
        this.set = make("span", { class: "bh-set", role: "status" }), this.all, this.forgetter()));
      this.element.hidden = false;
    }

    chipList(chips) {
      return make("ol", { class: "bh-chips", "aria-label": "Steps" },
        ...chips.map((chip) => make("li", {}, chip)));
    }

    forgetter() {
      return (this.forgets = button("", () => this.model.clear(this)));
    }

    paintChip(chip, name) {
      const p = this.model.progress(name, this.variant);
      const full = p.right === p.total;
      const mark = full ? "✓" : p.shown ? "◇" : p.typed ? "◐" : "○";
      const how = full ? "done" : p.shown ? "shown" : `${p.right} of ${p.total} right`;
      chip.replaceChildren(formula(name), make("span", { class: "bh-mark" }, ` ${mark}`));
      chip.setAttribute("aria-label", `${name}: ${how}`);
    }

    /** Several steps: one at a time, with a row of names to go to each. */
    build() {
      this.chips = this.views.map((view, k) => button("", () => this.go(k), { class: "bh-button bh-chip" }));
      this.set = make("span", { class: "bh-set" });
      this.bar = make("div", { class: "bh-bar" }, this.set,
        button("New numbers", () => this.setVariant(this.variant + 1), {
          hidden: this.model.sheet.variants.length < 2 }),
        this.forgetter());
      this.back = button("← Back", () => this.go(this.now - 1, true));
      this.next = button("Next →", () => this.go(this.now + 1, true));
      this.element.prepend(this.chipList(this.chips));
      const after = this.views.at(-1).figure;
      after.after(make("div", { class: "bh-walk" }, this.back, this.next), this.bar);
      this.element.classList.add("bh-several");
      const open = this.views.findIndex((v) => !v.progress.done);
      this.now = Math.max(0, open);
    }

    go(k, focus = false) {
      this.now = Math.min(Math.max(k, 0), this.views.length - 1);
      this.paint();
      const view = this.views[this.now];
      view.rest();
      if (focus) (view.inputs.flat().find((input) => !input.value) ?? this.chips[this.now]).focus();
    }

    /** What to say when a step is done; another Enter goes on. */
    leave(view) {
      const next = this.several && this.views[this.now + 1];
      return `${view.name} is done.${next ? ` Enter goes on to ${next.name}.` : ""}`;
    }

    onward() {
      if (this.several && this.now < this.views.length - 1) this.go(this.now + 1, true);
    }

    setVariant(n) {
      const all = this.model.sheet.variants.length;
      this.variant = ((n % all) + all) % all;
      if (this.several) {
        this.model.kept.variant = this.variant;
        this.now = Math.max(0, this.views.findIndex((v) => !v.progress.done));
      }
      for (const view of this.views) if (view.step.asked) { view.at = null; view.tell(""); }
      this.model.changed();
    }

    paint() {
      for (const view of this.views) view.paint();
      if (this.several) this.paintBar();
      if (this.links) {
        this.model.asked.forEach((name, k) => this.paintChip(this.links[k], name));
        this.set.textContent = `${this.model.own(0)} of ${this.links.length} steps done`;
        this.all.textContent = this.model.finished(0) ? "Hide all" : "Show all";
      }
      if (this.forgets) this.forgets.textContent = this.model.undo?.by === this ? "Undo" : "Forget my answers";
      if (this.end) this.paintEnd();
      this.options.onChange?.(this.model.state(this.variant));
    }

    /** All is filled in, and not all by Show: say so. */
    paintEnd() {
      const all = this.model.asked.length;
      const own = this.model.own(this.variant);
      this.end.hidden = !own || !this.model.finished(this.variant);
      this.score.textContent = own === all ? `All ${all} steps are right. `
        : `${own} of ${all} steps are yours, the others were shown. `;
    }

    paintBar() {
      this.views.forEach((view, k) => {
        this.paintChip(this.chips[k], view.name);
        this.chips[k].setAttribute("aria-current", k === this.now ? "step" : "false");
        view.figure.classList.toggle("bh-paper", k !== this.now);
      });
      this.back.disabled = this.now === 0;
      this.next.disabled = this.now === this.views.length - 1;
      const all = this.model.sheet.variants.length;
      this.set.textContent = this.variant === 0 ? "The numbers of the text"
        : `Numbers ${this.variant} of ${all - 1}`;
    }
  }

  /* ---- mounting */

  function mount(element, sheet, options = {}) {
    if (options.html) element.innerHTML = options.html;
    if (options.steps) {
      for (const figure of element.querySelectorAll("[data-step]")) {
        if (!options.steps.includes(figure.dataset.step)) figure.remove();
      }
    }
    if (!element.querySelector("[data-step]") && !("bar" in element.dataset)) {
      throw new Error("ByHand.mount: no steps here");
    }
    element.classList.add("bh-sheet");
    const model = options.model ?? new Model(sheet, options.store);
    const block = new Block(element, model, options);
    if (options.model) block.paint(); else model.changed();
    return {
      state: () => model.state(block.variant),
      setVariant: (n) => block.setVariant(n),
      clear: () => model.clear(null, block.views.map((v) => v.name), block.variant),
      reveal: (name) => model.show(name, block.variant, true),
    };
  }

  /** What a page keeps: in this browser, under its own address. */
  function browserStore(name) {
    const key = `by-hand ${location.pathname} ${name}`;
    return {
      load: () => JSON.parse(localStorage.getItem(key)),
      save: (kept) => localStorage.setItem(key, JSON.stringify(kept)),
    };
  }

  function mountAll() {
    const models = new Map();
    for (const element of document.querySelectorAll(".bh-sheet[data-sheet]")) {
      const name = element.dataset.sheet;
      const source = document.getElementById(`sheet-${name}`);
      if (!source) continue;
      if (!models.has(name)) {
        models.set(name, new Model(JSON.parse(source.textContent), browserStore(name)));
      }
      mount(element, models.get(name).sheet, {
        model: models.get(name),
        show: element.dataset.show,
        variant: Number(element.dataset.variant ?? 0),
      });
    }
    for (const model of models.values()) {
      model.changed();
      addEventListener("storage", () => { model.read(); model.paint(); });
    }
  }

  globalThis.ByHand = { mount, parse };
  if (typeof document !== "undefined") {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
    else mountAll();
  }
})();
