package operate

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
)

const (
	// mostPage bounds a page in bytes. A message may be as long as the broker's max_payload, 1 MiB by
	// default and often less.
	mostPage = 32 << 10
	// leastPage is what a page may have if a longer one does not come: a broker on the way may take
	// less than this one.
	leastPage = 1 << 10
	// pageWithin is how long a page is waited for before a shorter one is asked for.
	pageWithin = 3 * time.Second
	// pageAgain is the wait before a short page is asked for again.
	pageAgain = 200 * time.Millisecond
)

// page returns how many bytes of entries an answer may have.
func (s *service) page(request Request) int {
	if request.Most > 0 {
		return min(request.Most, s.pageLen)
	}
	return s.pageLen
}

// A reader asks for pages.
type reader struct {
	nc   *nats.Conn
	run  string
	most int // bytes of a page; 0: as many as the coordinator likes
}

func newReader(nc *nats.Conn, run string) *reader {
	r := &reader{nc: nc, run: run}
	if most := nc.MaxPayload(); most > 0 && most < 2*mostPage {
		r.most = int(most / 2)
	}
	return r
}

// turn asks for a page. If none comes it asks for short ones. A broker that was sent too long a
// message drops the connection over which it came, so nobody may answer for a moment.
func (r *reader) turn(ctx context.Context, verb string, request Request, answer any) error {
	request.Most = r.most
	soon, cancel := context.WithTimeout(ctx, pageWithin)
	defer cancel()
	err := exchange(soon, r.nc, r.run, verb, request, answer)
	if soon.Err() == nil || !errors.Is(err, ErrNobody) {
		return err
	}
	for r.most, request.Most = leastPage, leastPage; ctx.Err() == nil; {
		if err = exchange(ctx, r.nc, r.run, verb, request, answer); !errors.Is(err, ErrNobody) {
			return err
		}
		_ = pause.For(ctx, pageAgain) // the loop looks at the context
	}
	return err
}
