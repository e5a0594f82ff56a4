// The token that commands need. It comes in the fragment of the address, which no browser sends, and
// stays in this tab.

const key = "zofl-token";
let token = "";

// takeToken reads the token from the address, and removes it there.
export function takeToken() {
  const found = /(?:^#|&)token=([A-Za-z0-9_-]+)/.exec(location.hash);
  if (found) {
    keepToken(found[1]);
    history.replaceState(null, "", location.pathname + location.search);
    return true;
  }
  try {
    token = sessionStorage.getItem(key) || "";
  } catch { /* storage may be off */ }
  return false;
}

// keepToken keeps a token; "" forgets it.
export function keepToken(text) {
  token = text.trim();
  try {
    if (token) sessionStorage.setItem(key, token);
    else sessionStorage.removeItem(key);
  } catch { /* storage may be off */ }
}

export function hasToken() { return token !== ""; }

// headers are those of a request, with the token if there is one.
export function headers(more = {}) {
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}
