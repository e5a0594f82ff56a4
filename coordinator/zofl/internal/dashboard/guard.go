package dashboard

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is the page's Content-Security-Policy: the page may load from this server only and connect
// to this server only, and may contain no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// foreign says why a request does not come from this server's own page. foreign returns "" if the
// request may come from there. The page of another site could make a name of its own resolve to
// this address (DNS rebinding). So foreign accepts only localhost and the names in the Config.
// foreign accepts every IP address, because an address needs no DNS.
func (s *Server) foreign(r *http.Request) string {
	host := hostOf(r.Host)
	if !s.knows(host) {
		return "Host " + r.Host + ": this server has another name: ask it by its address, or as localhost"
	}
	origin := r.Header.Get("Origin")
	if origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) || (u.Scheme == "https") != (r.TLS != nil) {
			return "Origin " + origin + ": pages of others may not ask"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// A link on another site may open the page, because the site cannot read what the page shows.
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet ||
			strings.HasPrefix(r.URL.Path, "/api/") {
			return "pages of others may not ask"
		}
	}
	return ""
}

// hostOf returns the name in a Host header, without port and brackets.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	return strings.Trim(header, "[]")
}

func (s *Server) knows(host string) bool {
	return net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") ||
		slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
