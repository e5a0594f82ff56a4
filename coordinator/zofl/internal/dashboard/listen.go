package dashboard

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"

	"golang.org/x/term"
)

// An Address is where a server listens.
type Address struct {
	Listen string      // HOST:PORT; port 0 is any free one
	TLS    *tls.Config // nil: http
	File   string      // of the token; "": there is none
}

// Start serves at an address until stop is called, and logs the address. link is the page's address
// with the token.
func (s *Server) Start(a Address) (link string, stop func(), err error) {
	listener, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return "", nil, fmt.Errorf("--http %s: %w: give another address", a.Listen, err)
	}
	url := "http://" + listener.Addr().String() + "/"
	if a.TLS != nil {
		url = "https://" + listener.Addr().String() + "/"
		listener = tls.NewListener(listener, a.TLS)
	}
	s.announce(url, a.File)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx, listener); err != nil {
			s.cfg.Logger.Error("dashboard", "err", err)
		}
	}()
	return s.linkOf(url), func() { cancel(); <-ended }, nil
}

// linkOf returns an address of the page with its token.
func (s *Server) linkOf(url string) string { return url + "#token=" + s.cfg.Token }

// announce logs the address of the page. The address contains the token if a person reads the
// output or if no file holds the token. A stored log must not contain the token, because more
// people read the log than may command the run.
func (s *Server) announce(url, file string) {
	with := s.linkOf(url)
	switch {
	case s.cfg.Token == "":
		s.cfg.Logger.Info("dashboard", "url", url)
	case file == "":
		s.cfg.Logger.Info("dashboard", "url", with)
	case term.IsTerminal(int(os.Stderr.Fd())):
		s.cfg.Logger.Info("dashboard", "url", with, "token", slog.StringValue(file))
	default:
		s.cfg.Logger.Info("dashboard", "url", url, "token", slog.StringValue(file))
	}
}
