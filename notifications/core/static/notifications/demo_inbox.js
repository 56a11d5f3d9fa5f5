// Sends the form without leaving the page, and shows the API's answer.
const form = document.getElementById("send");
const answer = document.getElementById("answer");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  answer.textContent = "…";
  try {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
    const body = await response.json();
    answer.textContent = response.ok ? `accepted: ${body.notification_id}` : body.detail;
  } catch {
    answer.textContent = "The service did not answer.";
  }
});
