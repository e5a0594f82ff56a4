package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// The function read asks for batches of at most batchMessages messages and about batchBytes bytes.
// The limits are needed because a server sends a whole batch without waiting for the reader.
const (
	batchMessages = 1024
	batchBytes    = 1 << 20
	// ahead is how many single requests the reader sends at once to a server that does not support
	// batches.
	ahead = 64
)

// pendingHeader is a header of the messages in a batch. Servers support batches from version 2.11
// on. Older servers answer a request for a batch with one message.
const pendingHeader = "Nats-Num-Pending"

// A getRequest is the body of a request for messages. (The servers' API defines the field names.)
type getRequest struct {
	Seq      uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	Batch    int    `json:"batch,omitempty"`
	MaxBytes int    `json:"max_bytes,omitempty"`
}

func (r getRequest) body() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("jetlog: internal error: " + err.Error())
	}
	return b
}

// A storedMessage is a message in the form in which a stream's leader returns it.
type storedMessage struct {
	Seq    uint64 `json:"seq"`
	Header []byte `json:"hdrs"`
	Data   []byte `json:"data"`
}

// fromLeader asks the leader of a stream for a message. nats.go would use a direct get, and any
// server may answer a direct get, even a server that does not have the message yet. The error
// matches errNotStored if the leader has no such message.
func fromLeader(
	ctx context.Context, nc *nats.Conn, stream string, r getRequest,
) (storedMessage, error) {
	m, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, r.body())
	if err != nil {
		return storedMessage{}, err
	}
	var reply struct {
		Error   *jetstream.APIError `json:"error"`
		Message *storedMessage      `json:"message"`
	}
	err = json.Unmarshal(m.Data, &reply)
	switch {
	case err != nil:
		return storedMessage{}, fmt.Errorf("answer of stream %s: %w", stream, err)
	case reply.Error != nil && reply.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return storedMessage{}, errNotStored
	case reply.Error != nil:
		return storedMessage{}, reply.Error
	case reply.Message == nil:
		return storedMessage{}, fmt.Errorf("answer of stream %s has no message", stream)
	}
	return *reply.Message, nil
}

// get returns message seq from the stream's leader.
func (l *ledger) get(ctx context.Context, seq uint64) ([]byte, error) {
	m, err := l.message(ctx, seq)
	return m.Data, err
}

// message is get with the message's header.
func (l *ledger) message(ctx context.Context, seq uint64) (storedMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, l.attempt())
	defer cancel()
	m, err := fromLeader(ctx, l.nc, l.name, getRequest{Seq: seq})
	if err == nil && m.Seq != seq {
		err = fmt.Errorf("answer of stream %s is message %d, asked for %d", l.name, m.Seq, seq)
	}
	return m, err
}

// read calls each with messages from..to until each returns false. Any server with the stream may
// send the messages. read asks the leader for messages that such a server lacks. The error matches
// ErrCorrupt if the leader also lacks one of them.
func (l *ledger) read(ctx context.Context, from, to uint64, each func(data []byte) bool) error {
	if from > to {
		return nil
	}
	r := reader{ledger: l, ctx: ctx, inbox: l.nc.NewInbox(), next: from, to: to, each: each}
	sub, err := l.nc.SubscribeSync(r.inbox + ".*")
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	// NextMsg takes no context, so the end of ctx unsubscribes.
	defer context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })()
	r.sub = sub
	return r.run()
}

// A reader reads messages next..to.
type reader struct {
	*ledger
	ctx     context.Context
	sub     *nats.Subscription
	inbox   string // answers come to inbox.1, inbox.2, ...
	asked   uint64
	next    uint64
	to      uint64
	each    func(data []byte) bool
	stopped bool
	single  bool // the server does not support batches
}

func (r *reader) run() error {
	for r.next <= r.to && !r.stopped && r.ctx.Err() == nil {
		next := r.next
		// If the batch brought no message, ask the leader, whatever the error was.
		if err := r.batch(); r.next > next || r.stopped {
			continue
		} else if r.ctx.Err() != nil {
			break
		} else if errors.Is(err, nats.ErrConnectionClosed) {
			return err
		}
		if err := r.askLeader(); err != nil {
			return err
		}
	}
	return context.Cause(r.ctx)
}

// batch asks for a batch of the next messages, and takes messages until one is out of order.
func (r *reader) batch() error {
	if r.single {
		return r.several()
	}
	r.asked++
	inbox := r.inbox + "." + strconv.FormatUint(r.asked, 10)
	count := int(min(r.to-r.next+1, batchMessages))
	body := getRequest{Seq: r.next, Batch: count, MaxBytes: batchBytes}.body()
	if err := r.nc.PublishRequest("$JS.API.DIRECT.GET."+r.name, inbox, body); err != nil {
		return err
	}
	for {
		m, err := r.receive(inbox)
		if err != nil {
			return err
		}
		if !r.isNext(m) {
			return nil // the end of the batch, or a gap
		}
		r.single = m.Header.Get(pendingHeader) == ""
		if r.take(m.Data); r.stopped || r.next > r.to || r.single {
			return nil
		}
	}
}

// several sends one request for each of the next messages, and takes the answers in the order of
// the requests. several returns when an answer is missing.
func (r *reader) several() error {
	first, last := r.next, min(r.to, r.next+ahead-1)
	inbox := func(seq uint64) string {
		return r.inbox + "." + strconv.FormatUint(r.asked+seq-first+1, 10)
	}
	for seq := first; seq <= last; seq++ {
		err := r.nc.PublishRequest("$JS.API.DIRECT.GET."+r.name, inbox(seq), getRequest{Seq: seq}.body())
		if err != nil {
			return err
		}
	}
	defer func() { r.asked += last - first + 1 }()
	early := map[string]*nats.Msg{} // answers that came before their turn
	for !r.stopped && r.next <= last {
		want := inbox(r.next)
		m := early[want]
		for m == nil {
			got, err := r.sub.NextMsg(r.attempt())
			if err != nil {
				return err
			}
			if early[got.Subject] = got; got.Subject == want {
				m = got
			}
		}
		delete(early, want)
		if !r.isNext(m) {
			return nil
		}
		r.take(m.Data)
	}
	return nil
}

// isNext says whether a message is the next one.
func (r *reader) isNext(m *nats.Msg) bool {
	seq, _ := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	return m.Header.Get("Status") == "" && seq == r.next
}

// receive returns the next message that answers the last request, and drops answers to earlier
// requests.
func (r *reader) receive(inbox string) (*nats.Msg, error) {
	for {
		m, err := r.sub.NextMsg(r.attempt())
		if err != nil || m.Subject == inbox {
			return m, err
		}
	}
}

func (r *reader) take(data []byte) {
	r.next++
	r.stopped = !r.each(data)
}

// askLeader asks the leader for the next message, until the leader answers.
func (r *reader) askLeader() error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	var wait backoff
	var missing error
	for {
		data, err := r.get(ctx, r.next)
		switch {
		case err == nil:
			r.take(data)
			return nil
		case r.ctx.Err() != nil:
			return context.Cause(r.ctx)
		case errors.Is(err, errNotStored):
			missing = fmt.Errorf("%w: stream %s has no message %d", runlog.ErrCorrupt, r.name,
				r.next)
			// A server that no longer leads may lack the last messages of the stream, but no others.
			if _, err := r.get(ctx, r.to); r.replicas == 1 || err == nil && r.next < r.to {
				return missing
			}
		case !transient(err):
			return fmt.Errorf("stream %s: message %d: %w", r.name, r.next, err)
		}
		if !wait.sleep(ctx) {
			if r.ctx.Err() != nil {
				return context.Cause(r.ctx)
			}
			return errors.Join(missing, fmt.Errorf("stream %s: message %d: %w", r.name, r.next,
				unheard(r.nc, err)))
		}
	}
}
