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
	// leastPage is how many bytes an operator requests after a longer page did not come. A broker in
	// between may accept only shorter messages than the operator's broker.
	leastPage = 1 << 10
	// pageWithin is how long an operator waits for a page before it requests a shorter page.
	pageWithin = 3 * time.Second
	// pageAgain is the pause before an operator requests a short page again.
	pageAgain = 200 * time.Millisecond
)

// page returns how many bytes of entries an answer may have.
func (s *service) page(request Request) int {
	if request.Most > 0 {
		return min(request.Most, s.pageLen)
	}
	return s.pageLen
}

// A reader requests pages from a coordinator.
type reader struct {
	nc   *nats.Conn
	run  string
	most int // bytes of a page; 0: the coordinator decides
}

func newReader(nc *nats.Conn, run string) *reader {
	r := &reader{nc: nc, run: run}
	if most := nc.MaxPayload(); most > 0 && most < 2*mostPage {
		r.most = int(most / 2)
	}
	return r
}

// get requests a page. If no page comes, get requests short pages. A broker that receives too
// long a message closes the sender's connection, so the coordinator may be unreachable for a
// moment.
func (r *reader) get(ctx context.Context, verb string, request Request, answer any) error {
	request.Most = r.most
	soon, cancel := context.WithTimeout(ctx, pageWithin)
	defer cancel()
	err := exchange(soon, r.nc, r.run, verb, request, answer)
	if soon.Err() == nil || !unanswered(err) {
		return err
	}
	for r.most, request.Most = leastPage, leastPage; ctx.Err() == nil; {
		if err = exchange(ctx, r.nc, r.run, verb, request, answer); !unanswered(err) {
			return err
		}
		_ = pause.For(ctx, pageAgain) // the loop checks the context
	}
	return err
}

// unanswered says whether a request got no answer.
func unanswered(err error) bool { return errors.Is(err, ErrNobody) || errors.Is(err, ErrSilent) }
