package device

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/offer"
)

// checkFetch returns an error if --fetch makes no sense.
func (d *deviceFlags) checkFetch() error {
	b, err := hex.DecodeString(d.fetch)
	switch {
	case d.fetch == "":
		return nil
	case err != nil || len(b) != 32:
		return cli.Usage(fmt.Errorf("--fetch %s: give the SHA-256 of the file, 64 hexadecimal digits, "+
			"as zofl plan --initial prints it", d.fetch))
	case d.initial.File == "":
		return cli.Usage(errors.New("--fetch: say where the file is to be, with --initial FILE"))
	}
	d.fetch = hex.EncodeToString(b) // in lower case
	return nil
}

// checkGiven checks the file of the initial parameters, unless the device fetches it later. So the
// command reports a wrong file before it connects to the broker.
func (d *deviceFlags) checkGiven() error {
	if err := d.checkFetch(); err != nil || d.fetch != "" {
		return err
	}
	return d.initial.CheckFinite()
}

// fetchGiven fetches the file of --initial if it does not exist, and checks it.
func (d *deviceFlags) fetchGiven(ctx context.Context, nc *nats.Conn, log *slog.Logger) error {
	request := offer.Request{Conn: nc, Run: d.run, ID: d.id, Name: d.initial.File, SHA256: d.fetch,
		Most:    min(d.fetchLimit, 1<<40) << 20,
		Waiting: func(reason string) { log.Warn("waiting for the model", "reason", reason) }}
	err := request.Get(ctx)
	if errors.Is(err, offer.ErrOther) {
		return cli.Usage(fmt.Errorf("--fetch %s: %w: compare it with what zofl plan printed, and "+
			"with the file of zofl serve --offer", d.fetch, err))
	}
	if err != nil {
		return err
	}
	return d.initial.CheckFinite()
}
