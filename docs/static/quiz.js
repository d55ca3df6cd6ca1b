// SPDX-License-Identifier: BSL-1.0
// Tells whether the chosen answer is right, and why.
"use strict";
document.querySelectorAll("form.quiz").forEach((quiz) => {
    const told = quiz.querySelector("output");
    quiz.addEventListener("submit", (event) => event.preventDefault());
    quiz.addEventListener("change", (event) => {
        const right = event.target.dataset.right === "true";
        quiz.dataset.answered = right ? "right" : "wrong";
        told.textContent = (right ? "✓ Right. " : "✗ Not right. ") + event.target.dataset.why;
    });
});
