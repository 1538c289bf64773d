"use strict";

(() => {
  const ROWS_SHOWN = 20;
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // Tables: sorted by a click on a header, and cut after twenty rows.

  const collator = new Intl.Collator(undefined, { numeric: true });
  const key = (cell) => (cell.dataset.value === undefined ? cell.textContent : cell.dataset.value && Number(cell.dataset.value));

  function compare(a, b) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
  }

  for (const table of document.querySelectorAll("table:has(thead)")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    let all = body.rows.length <= ROWS_SHOWN;
    body.addEventListener("mouseover", ({ target }) => {
      const cell = target.closest("td"); // a number is explained like its column
      if (cell) cell.title = heads[cell.cellIndex].title;
    });
    const cut = () => [...body.rows].forEach((row, i) => (row.hidden = !all && i >= ROWS_SHOWN));
    heads.forEach((head, column) => {
      const button = make("button", { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
        rows.sort(([a], [b]) => (a === "" || b === "" || !down ? compare(a, b) : compare(b, a)));
        body.append(...rows.map(([, row]) => row));
        cut();
      });
    });
    if (all) continue;
    const more = make("button", { type: "button", className: "more", textContent: `Show all ${body.rows.length} rows` });
    more.addEventListener("click", () => {
      all = true;
      cut();
      more.remove();
    });
    table.parentElement.after(more);
    cut();
  }

  // What is to be copied.

  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = [...source.children].map((paragraph) => paragraph.textContent).join("\n\n");
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: copy it with the keyboard";
      }
    });
  }
})();
