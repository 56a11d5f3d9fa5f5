// The page of the API: Swagger UI on the document of this installation.
"use strict";

(async () => {
  const place = document.getElementById("operations");
  const answer = await fetch(place.dataset.document, { headers: { Accept: "application/json" } });
  if (!answer.ok) {
    place.textContent = `The server answered ${answer.status}. Reload the page in a moment.`;
    return;
  }
  const spec = await answer.json();
  // The page's own policy lets it call the host that it came from, under whichever name.
  spec.servers = [{ url: location.origin }];
  // Notifications lead: a first message is sent there.
  spec.tags.sort((one, other) => (other.name === "Notifications") - (one.name === "Notifications"));
  SwaggerUIBundle({
    spec,
    domNode: place,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false, // a key stays in no browser's storage
    tryItOutEnabled: true,
    validatorUrl: null,
  });
})();
