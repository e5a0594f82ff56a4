package mobile

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// serve starts a server on this machine with options that package broker does not offer.
func serve(t *testing.T, opts *server.Options) *server.Server {
	t.Helper()
	if opts.Host == "" {
		opts.Host = "127.0.0.1"
	}
	opts.Port, opts.NoSigs, opts.NoLog = server.RANDOM_PORT, true, true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s
}
