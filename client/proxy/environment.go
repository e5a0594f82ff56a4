package proxy

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// An environment holds the variables that name proxies.
type environment struct {
	plain, secure, any variable // of ws://, of wss://, of all schemes
	around             []exception
	cgi                bool // the variables may be headers of a request
}

// A variable is a variable of the environment.
type variable struct{ name, value string }

// variableOf returns the first variable that is set. Otherwise its value is "".
func variableOf(names ...string) variable {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return variable{name, value}
		}
	}
	return variable{}
}

// readEnvironment returns what the environment says now.
func readEnvironment() *environment {
	return &environment{
		plain:  variableOf("HTTP_PROXY", "http_proxy"),
		secure: variableOf("HTTPS_PROXY", "https_proxy"),
		any:    variableOf("ALL_PROXY", "all_proxy"),
		around: exceptionsOf(variableOf("NO_PROXY", "no_proxy").value),
		cgi:    os.Getenv("REQUEST_METHOD") != "",
	}
}

// For returns the proxy for a server; nil: the program connects directly.
func (e *environment) For(server *url.URL) (*proxy, error) {
	v := e.any
	switch {
	case server.Scheme == "wss" && e.secure.value != "":
		v = e.secure
	case server.Scheme == "ws" && e.plain.value != "":
		v = e.plain
		if e.cgi { // a request with the header Proxy sets HTTP_PROXY
			return nil, fmt.Errorf("%s is set in a CGI program (REQUEST_METHOD): unset one of the two",
				v.name)
		}
	}
	if v.value == "" || e.excepts(server) {
		return nil, nil
	}
	return parse(v)
}

// excepts says whether a program reaches a server without a proxy.
func (e *environment) excepts(server *url.URL) bool {
	host := strings.ToLower(strings.TrimSpace(server.Hostname()))
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(e.around, func(x exception) bool {
		return x.covers(host, ip, portOf(server))
	})
}

// portOf returns the port of a server.
func portOf(server *url.URL) string {
	if port := server.Port(); port != "" {
		return port
	}
	switch server.Scheme {
	case "ws":
		return "80"
	case "wss":
		return "443"
	}
	return "4222"
}

// An exception is an entry of NO_PROXY.
type exception struct {
	all    bool // it covers all
	net    *net.IPNet
	ip     net.IP
	suffix string // of a domain, with a dot before it
	inside bool   // only subdomains of suffix
	port   string // "": each port
}

// exceptionsOf reads NO_PROXY. Entries without a host are left out, as net/http does.
func exceptionsOf(list string) (found []exception) {
	for _, entry := range strings.Split(strings.ToLower(list), ",") {
		if x, ok := exceptionOf(strings.TrimSpace(entry)); ok {
			found = append(found, x)
		}
	}
	return found
}

func exceptionOf(entry string) (x exception, ok bool) {
	if entry == "*" {
		return exception{all: true}, true
	}
	if _, block, err := net.ParseCIDR(entry); err == nil {
		return exception{net: block}, true
	}
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		host, port = entry, ""
	}
	if ip := net.ParseIP(host); ip != nil {
		return exception{ip: ip, port: port}, true
	}
	host = strings.TrimPrefix(host, "*")
	if host == "" {
		return exception{}, false
	}
	inside := host[0] == '.'
	return exception{suffix: "." + strings.TrimPrefix(host, "."), inside: inside, port: port}, true
}

func (x *exception) covers(host string, ip net.IP, port string) bool {
	switch {
	case x.all:
		return true
	case x.net != nil:
		return ip != nil && x.net.Contains(ip)
	case x.port != "" && x.port != port:
		return false
	case x.ip != nil:
		return x.ip.Equal(ip)
	}
	return strings.HasSuffix(host, x.suffix) || !x.inside && host == x.suffix[1:]
}
