package serve

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
)

// web holds the flags that say at which address and from which pages browsers may connect to the
// broker that serve starts.
type web struct {
	listen  string
	origins []string
}

// webFlags are the names of the flags of web.
var webFlags = []string{"websocket", "origin"}

func (w *web) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.listen, "websocket", "",
		"HOST:PORT at which browsers reach the broker that serve starts")
	f.StringArrayVar(&w.origins, "origin", nil,
		"with --websocket: address of pages that may connect; repeatable")
}

// check returns an error if anybody could connect to the broker with a browser on another machine,
// or if the flags contradict each other.
func (w *web) check(g guard, listen string) error {
	switch {
	case w.listen == "" && len(w.origins) > 0:
		return errors.New("--origin names pages for --websocket: give that as well")
	case w.listen == "":
		return nil
	case len(w.origins) == 0:
		// Otherwise any page that a browser on this machine shows could connect to the broker.
		return fmt.Errorf("--websocket %s: name the pages that may connect, such as "+
			"--origin http://127.0.0.1:8080: all others are turned away", w.listen)
	}
	for _, origin := range w.origins {
		if err := checkOrigin(origin); err != nil {
			return err
		}
	}
	_, port, err := connect.SplitAddress("--websocket", w.listen)
	switch {
	case err != nil:
		return err
	case port != 0 && w.listen == listen:
		return fmt.Errorf("--websocket %s: --listen has this address: give another port", w.listen)
	case g.auth == "":
		return loopback("--websocket", w.listen)
	case port == 0:
		return fmt.Errorf("--websocket %s: with --auth, give a port from 1 to 65535", w.listen)
	}
	return nil
}

// checkOrigin returns an error unless a text has the form of an origin that a browser sends.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		origin == (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() {
		if _, _, err = net.SplitHostPort(u.Host); err == nil || u.Port() == "" {
			return nil
		}
	}
	return fmt.Errorf("--origin %s: give scheme and host of a page, and its port if it has one, such "+
		"as http://127.0.0.1:8080 or https://example.org", origin)
}
