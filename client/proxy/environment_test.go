package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// names are the variables that this package reads.
var names = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY",
	"all_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"}

// set sets the environment of a test: only the variables in settings.
func set(t *testing.T, settings ...string) {
	t.Helper()
	for _, name := range names {
		t.Setenv(name, "")
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

// hosts are servers of all kinds that an entry of NO_PROXY may name.
var hosts = []string{"broker", "broker:8443", "example.com", "sub.example.com", "notexample.com",
	"Example.COM:443", "a.b.example.com:4222", "192.0.2.7", "192.0.2.7:443", "192.0.3.7",
	"[2001:db8::7]", "[2001:db8::7]:443", "[2001:db9::7]", "127.0.0.1", "127.8.8.8:1", "[::1]:4222",
	"localhost:80", "localhost", "localhost.example.com", "10.1.2.3", "xn--bcher-kva.example"}

var environments = [][]string{
	{},
	{"HTTPS_PROXY=http://p:3128"},
	{"https_proxy=p:3128", "HTTP_PROXY=http://plain"},
	{"HTTPS_PROXY=http://upper", "https_proxy=http://lower", "NO_PROXY=example.com"},
	{"HTTP_PROXY=socks5://u:secret@p:1", "http_proxy=x"},
	{"HTTPS_PROXY=p", "NO_PROXY=.example.com"},
	{"HTTPS_PROXY=p", "no_proxy=*.example.com, broker:443"},
	{"HTTPS_PROXY=p", "no_proxy=EXAMPLE.com:443, ,:80, broker "},
	{"HTTPS_PROXY=https://p:1", "HTTP_PROXY=q", "NO_PROXY=192.0.2.0/24,2001:db8::/32"},
	{"HTTPS_PROXY=p", "NO_PROXY=192.0.2.7:443,[2001:db8::7]:443"},
	{"HTTPS_PROXY=p", "NO_PROXY=192.0.2.7,2001:db8::7,[::],10.0.0.0/8"},
	{"HTTPS_PROXY=p", "NO_PROXY=*"},
	{"HTTPS_PROXY=p", "NO_PROXY=a, *"},
	{"HTTPS_PROXY=p", "NO_PROXY=upper", "no_proxy=*"},
	{"HTTPS_PROXY=p", "NO_PROXY=.", "HTTP_PROXY=p"},
	{"HTTP_PROXY=p", "REQUEST_METHOD=GET"},
}

// TestAsNetHTTP: for wss:// and ws:// the proxy is that of net/http for https:// and http://. As
// net/http reads the environment once, each environment gets a process of its own.
func TestAsNetHTTP(t *testing.T) {
	if os.Getenv("ZOFL_TEST_NET_HTTP") != "" {
		for _, host := range hosts {
			for _, scheme := range []string{"https", "http"} {
				p, err := http.ProxyFromEnvironment(&http.Request{
					URL: &url.URL{Scheme: scheme, Host: host}})
				fmt.Println("want", p, err != nil)
			}
		}
		return
	}
	for _, environment := range environments {
		set(t, environment...)
		cmd := exec.Command(os.Args[0], "-test.run=TestAsNetHTTP")
		cmd.Env = append(os.Environ(), "ZOFL_TEST_NET_HTTP=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "want")
		})
		e := readEnvironment()
		for i, host := range hosts {
			for j, scheme := range []string{"wss", "ws"} {
				p, err := e.For(&url.URL{Scheme: scheme, Host: host})
				var found *url.URL
				if p != nil {
					found = p.URL
				}
				says := want[2*i+j]
				if got := fmt.Sprintln("want", found, err != nil); got != says+"\n" {
					t.Errorf("%v: %s://%s: %snet/http: %s", environment, scheme, host, got, says)
				}
			}
		}
	}
}

// TestAllProxy: ALL_PROXY is for each scheme, and for ws:// and wss:// only if their own variable
// is empty. NO_PROXY holds for all.
func TestAllProxy(t *testing.T) {
	for _, c := range []struct{ environment, server, want string }{
		{"ALL_PROXY=socks5://p:1", "wss://broker", "socks5://p:1"},
		{"all_proxy=socks5://p:1", "ws://broker", "socks5://p:1"},
		{"ALL_PROXY=socks5://p:1", "tls://broker", "socks5://p:1"},
		{"ALL_PROXY=p:1", "nats://broker:4222", "http://p:1"},
		{"ALL_PROXY=p HTTPS_PROXY=q", "wss://broker", "http://q"},
		{"ALL_PROXY=p HTTPS_PROXY=q", "ws://broker", "http://p"},
		{"ALL_PROXY=p HTTP_PROXY=q REQUEST_METHOD=GET", "tls://broker", "http://p"},
		{"HTTPS_PROXY=q HTTP_PROXY=q", "tls://broker", ""},
		{"HTTPS_PROXY=q HTTP_PROXY=q", "nats://broker", ""},
		{"ALL_PROXY=p NO_PROXY=broker:4222", "tls://broker", ""},
		{"ALL_PROXY=p NO_PROXY=broker:443", "tls://broker", "http://p"},
		{"ALL_PROXY=p NO_PROXY=broker:443", "wss://broker", ""},
		{"ALL_PROXY=p", "nats://localhost:4222", ""},
		{"ALL_PROXY=p", "tls://[::1]:4222", ""},
	} {
		set(t, strings.Fields(c.environment)...)
		u, _ := url.Parse(c.server)
		p, err := readEnvironment().For(u)
		got := ""
		if p != nil {
			got = p.String()
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %s goes through %q (%v), want %q", c.environment, c.server, got, err, c.want)
		}
	}
}

// TestNoProxyNamed: the error of a variable that names no proxy says which variable, and no
// password.
func TestNoProxyNamed(t *testing.T) {
	for value, want := range map[string]string{
		"ftp://bob:secret@p":      "ftp://bob:xxxxx@p: write it as http://HOST:PORT",
		"http://bob:sec%ret@p":    "names no proxy",
		"http://bob:secret@":      "names no proxy",
		"http://bob:secret@p:x y": "names no proxy",
		"http://":                 "names no proxy",
	} {
		set(t, "HTTPS_PROXY="+value)
		_, err := NewDialer([]string{"wss://broker"}, 0)
		if err == nil || !strings.Contains(err.Error(), "HTTPS_PROXY") ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", value, err)
		}
		if _, err := NewDialer([]string{"tls://broker"}, 0); err != nil {
			t.Errorf("%s: tls://broker: %v", value, err)
		}
	}
}
