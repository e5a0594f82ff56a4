package broker

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// ErrWebSocket is in the error of Run if Run failed because of [Config.WebSocket].
var ErrWebSocket = errors.New("WebSocket")

// webSocket sets the address in opts at which browsers connect. Call it after guard, because both
// share one certificate.
func (c Config) webSocket(opts *server.Options) error {
	switch {
	case c.WebSocket == "" && len(c.Origins) > 0:
		return errors.New("broker: Origins are for WebSocket: give its address, or leave them out")
	case c.WebSocket == "":
		return nil
	case c.InProcess:
		return errors.New("broker: InProcess and WebSocket exclude each other: leave one out")
	case len(c.Origins) == 0: // the server takes no origins to mean all origins
		return errors.New("broker: WebSocket without Origins would serve every web page that a " +
			"browser on this machine shows: name those that may connect")
	}
	host, port, err := splitAddress("WebSocket", c.WebSocket)
	if err != nil {
		return err
	}
	opts.Websocket.Host, opts.Websocket.Port = host, port
	opts.Websocket.TLSConfig, opts.Websocket.NoTLS = opts.TLSConfig, opts.TLSConfig == nil
	opts.Websocket.AllowedOrigins = c.Origins
	return nil
}

// splitAddress returns host and port of a field of Config. For port 0 it returns RANDOM_PORT,
// because the server takes port 0 as its default port.
func splitAddress(field, address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf(`broker: %s must be "host:port": %w`, field, err)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("broker: %s has port %q: it must be 0 to 65535", field, text)
	}
	if n == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, int(n), nil
}

// WebSocketURL returns the address for browsers, such as ws://127.0.0.1:43210, or wss:// with TLS.
// The address is empty if no browser can connect.
func (b *Broker) WebSocketURL() string {
	if !b.webSocket {
		return ""
	}
	return b.server.WebsocketURL()
}
