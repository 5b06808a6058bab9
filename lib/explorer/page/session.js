// What the browser keeps: the token for as long as the tab lives, the theme for longer.

const TOKEN = "apiserver-explorer.token";
const THEME = "apiserver-explorer.theme";

// Takes a token out of the address (#token=…), so that neither history nor a bookmark keeps it.
// Returns whether there was one.
export function takeTokenFromAddress() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token");
  if (token === null) return false;
  fragment.delete("token");
  history.replaceState(null, "", `${location.pathname}#${fragment}`);
  setToken(token);
  return true;
}

export function getToken() {
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function setToken(token) {
  if (token) {
    sessionStorage.setItem(TOKEN, token);
  } else {
    sessionStorage.removeItem(TOKEN);
  }
}

// Returns "light", "dark" or "", which follows the system.
export function getTheme() {
  return localStorage.getItem(THEME) ?? "";
}

export function setTheme(theme) {
  localStorage.setItem(THEME, theme);
  showTheme();
}

export function showTheme() {
  document.documentElement.dataset.theme = getTheme();
}

// The place that is shown, kept in the address so that it can be linked to:
// {resource: "GROUP/VERSION/PLURAL", namespace, labels, object: "NAMESPACE/NAME", tab}.
export function getPlace() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const place = {};
  for (const name of ["resource", "namespace", "labels", "object", "tab"]) {
    place[name] = fragment.get(name) ?? "";
  }
  return place;
}

export function addressOf(place) {
  const set = Object.entries(place).filter(([, value]) => value);
  return `#${new URLSearchParams(set)}`;
}
