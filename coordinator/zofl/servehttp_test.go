package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/dashboard"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// A browser asks a dashboard.
type browser struct {
	t           *testing.T
	home, token string
	client      http.Client
}

// ask sends a request, and returns the code and the body of the answer.
func (b *browser) ask(method, path, body string) (int, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.home+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// tokenOf reads the token that serve keeps in the directory of its log.
func tokenOf(t *testing.T, log string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(log, dashboard.TokenFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

// TestServeHTTP: the page and Prometheus see the run; a command needs the token, and does what the
// operator's does.
func TestServeHTTP(t *testing.T) {
	address := freeport.Address(t)
	k := newKitchen(t, "--http", address, "--tag", "rate=0.1", "--tag", "team a")
	k.device("a")
	k.device("b")
	k.reach(8)
	b := &browser{t: t, home: "http://" + address}
	for path, want := range map[string]string{
		"/": "<title>Zofl</title>", "/api/runs": `"tags":["rate=0.1","team a"],"led":true`,
		"/api/runs/kitchen/devices?sort=id": `"id":"a"`, "/metrics": "zofl_",
	} {
		if code, body := b.ask("GET", path, ""); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s, want %s in it", path, code, body, want)
		}
	}
	const pause = "/api/runs/kitchen/pause"
	if code, body := b.ask("POST", pause, "{}"); code != 401 || !strings.Contains(body, "token") {
		t.Errorf("a command without the token: %d %s", code, body)
	}
	b.token = tokenOf(t, k.log)
	code, body := b.ask("POST", pause, `{"reason":"tea"}`)
	var s operate.Status
	if err := json.Unmarshal([]byte(body), &s); err != nil || code != 200 || s.State != "paused" {
		t.Errorf("a command with the token: %d %s %v", code, body, err)
	}
	if s, err := k.ask("status"); err != nil || s.State != "paused" || s.Reason != "tea" ||
		len(s.Tags) != 2 {
		t.Errorf("the operator sees %+v %v", s, err)
	}
	_, err := zofl(t, "serve", k.plan, "--store", filepath.Join(k.dir, "other"), "--listen",
		freeport.Address(t), "--http", address)
	if err == nil || !strings.Contains(err.Error(), "--http "+address) {
		t.Errorf("a taken address gives %v, want --http named", err)
	}
}

// TestServeHTTPEnrolled: with users, other machines may see the page under TLS, and reading needs
// the token.
func TestServeHTTPEnrolled(t *testing.T) {
	_, port, _ := strings.Cut(freeport.Address(t), ":")
	k := newEnrolled(t, "--http", "0.0.0.0:"+port, "--host", "pi.example")
	authority, err := os.ReadFile(filepath.Join(k.auth, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	b := &browser{t: t, home: "https://127.0.0.1:" + port, client: http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}}
	for _, path := range []string{"/api/runs", "/metrics"} {
		b.token = ""
		if code, _ := b.ask("GET", path, ""); code != 401 {
			t.Errorf("%s without the token: %d", path, code)
		}
		b.token = tokenOf(t, k.log)
		if code, body := b.ask("GET", path, ""); code != 200 {
			t.Errorf("%s with the token: %d %.200s", path, code, body)
		}
	}
}

// TestHTTPRefuses: serve refuses flags that would show a run to anybody on the network.
func TestHTTPRefuses(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--run", "r", "--dim", "7", "--write", plan); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", plan, "--store", dir}
	for i, c := range []struct{ args, want []string }{
		{append(serve, "--http", "0.0.0.0:8080"), []string{"--http 0.0.0.0:8080", "--tls", "ssh -L"}},
		{append(serve, "--traces", "127.0.0.1:4318"), []string{"--traces", "http://127.0.0.1:4318"}},
		{append(serve, "--tag", " "), []string{`--tag " "`, "rate=0.1"}},
		{append(serve, "--tag", "a\x1b[2J"), []string{"--tag", "printable"}},
		{append(serve, "--tag", strings.Repeat("x", 65)), []string{"--tag", "64"}},
		{[]string{"dashboard", "--http", "0.0.0.0:8080"}, []string{"--http 0.0.0.0:8080", "ssh -L"}},
		{[]string{"dashboard", filepath.Join(dir, "none")}, []string{"DIR", "none", "name one"}},
		{append(serve, "--http", ":8080"), []string{"--http :8080", "127.0.0.1:8080"}},
		{append(serve, "--http", "8080"), []string{"--http 8080"}},
		{append(serve, "--http", "127.0.0.1:x"), []string{"--http", "65535"}},
		{[]string{"demo", "--http", "0.0.0.0:8080"}, []string{"--http 0.0.0.0:8080", "127.0.0.1"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(fmt.Sprint(i), func(t *testing.T) { refused(t, err, c.want) })
	}
}

// TestDemoHTTP: a demo's page stays when the demo is over, with a token that its log has.
func TestDemoHTTP(t *testing.T) {
	p := start(t, "demo", "--method", "decomfl", "--rounds", "12", "--devices", "3",
		"--http", "127.0.0.1:0")
	line := p.says(&p.stderr, "dashboard", "#token=")
	p.says(&p.stderr, "stays until Ctrl-C")
	_, url, _ := strings.Cut(line, `url="`)
	home, token, _ := strings.Cut(url, "/#token=")
	token, _, _ = strings.Cut(token, `"`)
	b := &browser{t: t, home: home, token: token}
	if code, body := b.ask("GET", "/api/token", ""); code != 200 {
		t.Errorf("the token of the log: %d %s in %s", code, body, line)
	}
	if code, body := b.ask("GET", "/api/runs", ""); code != 200 || !strings.Contains(body, `"demo"`) {
		t.Errorf("the runs: %d %s", code, body)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
}
