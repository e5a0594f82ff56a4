// The theme is set before the page is drawn. "auto" follows the system.
"use strict";
(function () {
  let theme = "auto";
  try {
    theme = localStorage.getItem("zofl-theme") || "auto";
  } catch { /* storage may be off */ }
  document.documentElement.dataset.theme = theme;
})();
