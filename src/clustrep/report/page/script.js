"use strict";

(() => {
  const ROWS_SHOWN = 20;
  const PAPER_WIDTH = 680; // A4 less two margins of 15 mm, at 96 dots per inch
  const TOKEN = /^@(ink|muted|paper|grid|good|bad|c[0-6])(?:\/([01]?\.?\d+))?$/;
  // Under these keys a string is somebody's text: a sample may be called "@ink".
  const WORDS = new Set([
    "x", "y", "z", "text", "hovertext", "customdata", "name", "ids", "labels", "title", "legendgroup",
    "hovertemplate", "texttemplate", "ticktext", "tickvals", "categoryarray",
  ]);
  const CONFIG = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: [
      "sendDataToCloud", "sendChartToCloud", "editInChartStudio", "lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "autoScale2d",
    ],
  };

  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const facts = JSON.parse(byId("report-facts").textContent);
  const darkByDefault = matchMedia("(prefers-color-scheme: dark)");
  let printing = null;

  function say(text) {
    byId("report-status").textContent = text;
  }

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // Charts

  function colour(name, opacity) {
    const hex = getComputedStyle(root).getPropertyValue(`--${name}`).trim();
    if (opacity === undefined) return hex;
    const parts = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
    return `rgba(${parts.join(", ")}, ${opacity})`;
  }

  function coloured(value, key) {
    if (typeof value === "string") {
      const token = WORDS.has(key) ? null : TOKEN.exec(value);
      return token ? colour(token[1], token[2]) : value;
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, coloured(item, name)]));
  }

  function template() {
    const axis = {
      automargin: true,
      gridcolor: "@grid",
      linecolor: "@muted",
      zeroline: false,
      ticks: "outside",
      ticklen: 4,
      tickcolor: "@grid",
      tickfont: { color: "@muted" },
      title: { standoff: 10, font: { size: 13 } },
    };
    const whisker = { color: "@ink", thickness: 1.5, width: 5 };
    const bar = { thickness: 12, outlinewidth: 0, ticks: "", tickfont: { color: "@muted" }, title: { font: { size: 13 } } };
    return {
      layout: {
        font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: "@ink" },
        paper_bgcolor: "@paper", // as the page, so that a saved picture can be read
        plot_bgcolor: "rgba(0, 0, 0, 0)",
        colorway: ["@c0", "@c1", "@c2", "@c3", "@c4", "@c5", "@c6"],
        colorscale: { sequential: "Viridis" },
        coloraxis: { colorbar: bar },
        margin: { l: 8, r: 8, t: 36, b: 8 },
        xaxis: axis,
        yaxis: axis,
        legend: {
          orientation: "h",
          x: 0,
          xanchor: "left",
          y: 1.02,
          yanchor: "bottom",
          bgcolor: "rgba(0, 0, 0, 0)",
          title: { font: { size: 13 } },
        },
        hovermode: "closest",
        hoverlabel: { bgcolor: "@paper", bordercolor: "@muted", font: { color: "@ink" }, align: "left", namelength: -1 },
        modebar: { bgcolor: "rgba(0, 0, 0, 0)", color: "@muted", activecolor: "@ink" },
        dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      },
      data: {
        heatmap: [{ colorbar: bar, colorscale: "Viridis" }],
        scatter: [{ marker: { colorbar: bar } }],
        bar: [{ error_x: whisker, error_y: whisker, marker: { opacity: 0.8 } }],
      },
    };
  }

  // Plotly's texts are escaped, so cut what they say, not how they are written.
  function shortened(label, most) {
    const said = label.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
    if (said.length <= most) return label;
    const cut = `${said.slice(0, most - 1).trimEnd()}…`;
    return cut.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  function shortenTicks(data, layout, most) {
    const labels = {};
    for (const trace of data) {
      for (const letter of ["x", "y"]) {
        const axis = (trace[`${letter}axis`] ?? letter).replace(letter, `${letter}axis`);
        labels[axis] ??= new Set();
        for (const value of [trace[letter]].flat()) if (typeof value === "string") labels[axis].add(value);
      }
    }
    for (const [axis, names] of Object.entries(labels)) {
      const tickvals = [...names];
      if (layout[axis]?.ticktext || !tickvals.some((label) => label.length > most)) continue;
      layout[axis] = { ...layout[axis], tickvals, ticktext: tickvals.map((label) => shortened(label, most)) };
    }
  }

  function draw({ chart, plot, select }) {
    const view = chart.views[select ? Number(select.value) : 0];
    const data = coloured(view.data);
    const layout = coloured({ ...view.layout, template: template() });
    shortenTicks(data, layout, plot.clientWidth < 500 ? 14 : 28);
    layout.height = chart.height;
    layout.uirevision = view.name; // a zoom survives the change of theme, not that of view
    if (printing) layout.width = PAPER_WIDTH;
    else layout.autosize = true;
    const saved = { format: "svg", filename: chart.id };
    Plotly.react(plot, data, layout, { ...CONFIG, toImageButtonOptions: saved });
    // To a screen reader the chart is one picture, so nothing inside takes the focus.
    for (const button of plot.querySelectorAll(".modebar-btn")) button.tabIndex = -1;
  }

  const charts = facts.sections.flatMap((section) => section.charts).map((chart) => {
    const figure = byId(`chart-${chart.id}`);
    return { chart, plot: figure.querySelector(".plot"), select: figure.querySelector("select") };
  });
  const drawAll = () => charts.forEach(draw);

  for (const shown of charts.filter(({ select }) => select)) {
    shown.select.parentElement.hidden = false;
    shown.select.addEventListener("change", () => {
      draw(shown);
      say(`${shown.chart.title}: ${shown.select.selectedOptions[0].text}`);
    });
  }

  // Light and dark

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkByDefault.matches);
  const toggle = byId("report-theme");

  function themed() {
    toggle.textContent = isDark() ? "Light theme" : "Dark theme";
    drawAll();
  }

  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    themed();
  });
  darkByDefault.addEventListener("change", themed);

  // Paper

  function startPrinting() {
    if (printing) return;
    printing = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
    root.dataset.theme = "light";
    for (const details of printing.closed) details.open = true;
    drawAll();
  }

  function stopPrinting() {
    if (!printing) return;
    const { theme, closed } = printing;
    printing = null;
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const details of closed) details.open = false;
    drawAll();
  }

  addEventListener("beforeprint", startPrinting);
  addEventListener("afterprint", stopPrinting);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? startPrinting() : stopPrinting()));

  // Tables

  const collator = new Intl.Collator(undefined, { numeric: true });

  function sortKey(cell) {
    const raw = cell.dataset.value;
    if (raw === "") return null;
    return raw === undefined ? cell.textContent : Number(raw);
  }

  function compare(a, b) {
    const numbers = (typeof a === "number") + (typeof b === "number");
    if (numbers === 2) return a - b;
    if (numbers === 1) return typeof a === "number" ? -1 : 1;
    return collator.compare(a, b);
  }

  function sort(body, column, direction) {
    const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
    const present = keyed.filter(([key]) => key !== null).sort(([a], [b]) => direction * compare(a, b));
    const absent = keyed.filter(([key]) => key === null);
    body.append(...[...present, ...absent].map(([, row]) => row));
  }

  function sortable(table, redisplay) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const label = head.textContent;
      const button = make("button", { type: "button" }, label);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        sort(table.tBodies[0], column, order === "ascending" ? 1 : -1);
        redisplay();
        say(`${table.caption.textContent}: sorted by ${label}, ${order}.`);
      });
    });
  }

  function firstRows(box, body) {
    const total = body.rows.length;
    if (total <= ROWS_SHOWN) return () => {};
    let all = false;
    const note = make("span");
    const button = make("button", { type: "button" });
    const display = () => {
      [...body.rows].forEach((row, index) => row.classList.toggle("beyond", !all && index >= ROWS_SHOWN));
      note.textContent = `${(all ? total : ROWS_SHOWN).toLocaleString("en")} of ${total.toLocaleString("en")} rows`;
      button.textContent = all ? `Show the first ${ROWS_SHOWN} rows` : "Show all rows";
    };
    button.addEventListener("click", () => {
      all = !all;
      display();
      say(note.textContent);
    });
    below(box).append(note, button);
    display();
    return display;
  }

  function below(box) {
    if (!box.querySelector(".more")) box.append(make("div", { className: "more" }));
    return box.querySelector(".more");
  }

  function firstColumns(box, table) {
    const heads = [...table.tHead.rows[0].cells];
    const extra = heads.filter((head) => head.classList.contains("extra")).length;
    if (!extra) return;
    const button = make("button", { type: "button" });
    const display = (narrow) => {
      box.classList.toggle("narrow", narrow);
      box.classList.toggle("wide", !narrow);
      button.textContent = narrow ? `Show all ${heads.length} columns` : `Show the first ${heads.length - extra} columns`;
    };
    button.addEventListener("click", () => {
      display(!box.classList.contains("narrow"));
      say(`${table.caption.textContent}: ${box.classList.contains("narrow") ? "first" : "all"} columns.`);
    });
    below(box).append(button);
    display(true);
  }

  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    sortable(table, firstRows(box, table.tBodies[0]));
    firstColumns(box, table);
  }

  // Methods

  function select(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  async function copy(element, text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      select(element);
      return document.execCommand("copy");
    }
  }

  const copyButton = byId("report-copy");
  if (copyButton) {
    copyButton.hidden = false;
    copyButton.addEventListener("click", async () => {
      const copied = await copy(byId("report-methods-text"), facts.methods.join("\n\n"));
      copyButton.textContent = copied ? "Copied" : "Selected: copy it with the keyboard";
      say(copyButton.textContent);
    });
  }

  themed();
})();
