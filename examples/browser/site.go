package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A site is the page's server. The site also leads the run, unless another process does.
type site struct {
	host, nats, run string
	server          *http.Server
	lead            *lead // nil: somebody else's
	ended           chan error
}

// open begins to serve the page, and to lead the run.
func open(ctx context.Context, o Options, p *program, w io.Writer) (*site, error) {
	listener, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}
	s := &site{host: listener.Addr().String(), run: o.Run, ended: make(chan error, 2)}
	about := config{Address: o.Broker, Run: o.Run}
	if o.Broker == "" {
		if s.lead, err = begin(ctx, o, "http://"+s.host, w); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		s.nats, s.run = s.lead.broker.URL(), s.lead.run
		about = config{Address: s.lead.broker.WebSocketURL(), Run: s.run}
		go func() { s.ended <- s.lead.wait() }()
	}
	handler, err := pages(s.host, p, about)
	if err != nil {
		s.close()
		return nil, errors.Join(err, listener.Close())
	}
	s.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s, nil
}

// listen listens on loopback only. Without TLS, browsers do not let a page from another machine
// use the functions that a device needs.
func listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("-listen %s: %w", address, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("-listen %s: give 127.0.0.1 and a port: the page and its broker let "+
			"everybody in", address)
	}
	return net.Listen("tcp", address)
}

// wait returns when the context is done, or when the server or the lead has failed.
func (s *site) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *site) close() {
	if s.server != nil {
		_ = s.server.Close()
	}
	if s.lead != nil {
		s.lead.close()
	}
}
