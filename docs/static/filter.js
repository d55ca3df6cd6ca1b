// SPDX-License-Identifier: BSL-1.0
// The filters above the table of claims. An address such as ledger.html?text=wrong opens it filtered, ledger.html#A047 at a claim.
"use strict";
(() => {
    const form = document.querySelector("form.ledger-filter");
    if (!form) return;
    const rows = Array.from(document.querySelectorAll("table.ledger tbody tr"));
    const inputs = Array.from(form.querySelectorAll("[data-filter]"));
    const count = form.querySelector("output");

    const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const passes = (row) =>
        inputs.every(({ dataset, value }) => {
            if (dataset.filter === "words") return value.toLowerCase().split(/\s+/).every((word) => text.get(row).includes(word));
            return value === "" || row.dataset[dataset.filter] === value;
        });
    const apply = () => {
        let shown = 0;
        for (const row of rows) {
            row.hidden = !passes(row);
            if (!row.hidden) ++shown;
        }
        count.textContent = `${shown} of ${rows.length} claims`;
    };
    // A link to one claim shows it, unfolded, whatever is filtered.
    const open = () => {
        const row = document.getElementById(location.hash.slice(1));
        if (!row || !rows.includes(row)) return;
        if (row.hidden) {
            inputs.forEach((input) => (input.value = ""));
            apply();
        }
        row.querySelector("details").open = true;
        row.scrollIntoView({ block: "center" });
    };

    const asked = new URLSearchParams(location.search);
    inputs.forEach((input) => {
        if (asked.has(input.dataset.filter)) input.value = asked.get(input.dataset.filter);
        for (const event of ["input", "change"]) input.addEventListener(event, apply);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", open);
    form.hidden = false;
    apply();
    open();
})();
