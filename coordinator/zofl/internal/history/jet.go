package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/internal/subjects"
)

// jetPace is how long the keeper collects points for one message. The broker's servers sync every
// message to disk, as they do with records.
const jetPace = 100 * time.Millisecond

// jetMessage bounds the bytes of lines in a message, if the broker accepts messages of that size.
const jetMessage = 256 << 10

// StreamOf is the name of the stream that stores a run's history.
func StreamOf(run string) string { return "ZO_" + run + "_HISTORY" }

// Jet returns the store in the JetStream of a broker. The first process that stores a line creates
// the stream, on the given number of servers, for maxBytes bytes; 0 means any number.
func Jet(nc *nats.Conn, run string, replicas int, maxBytes int64) Store {
	return &jet{nc: nc, run: run, replicas: max(replicas, 1), most: cmp.Or(maxBytes, -1)}
}

// A jet is a store in a stream. Each message holds lines. A jet stores a message on the condition
// that the stream's last message is the last that the jet knows. So if two coordinators both
// believe to lead, neither overwrites the lines of the other.
type jet struct {
	nc       *nats.Conn
	run      string
	replicas int
	most     int64            // bytes of the stream
	stream   jetstream.Stream // nil: not found yet
	js       jetstream.JetStream
	last     uint64 // number of the last message that load returned, or append or replace stored
}

func (j *jet) pace() time.Duration { return jetPace }
func (j *jet) rest() error         { return nil }

// fault adds the name of the stream to an error. Where no server answered, fault says that.
func (j *jet) fault(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) {
		err = runlog.ErrUnavailable
	}
	return fmt.Errorf("stream %s: %w", StreamOf(j.run), err)
}

// find finds the stream. If the stream does not exist, find makes it if create is true, and
// otherwise leaves j.stream nil.
func (j *jet) find(ctx context.Context, create bool) (err error) {
	if j.stream != nil {
		return nil
	}
	if j.js == nil {
		if j.js, err = jetstream.New(j.nc); err != nil {
			return err
		}
	}
	s, err := j.js.Stream(ctx, StreamOf(j.run))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !create {
			return nil
		}
		s, err = j.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: StreamOf(j.run), Subjects: []string{subjects.History(j.run)},
			Description: "zofl: losses and metrics of a run's rounds",
			Storage:     jetstream.FileStorage, Replicas: j.replicas, MaxMsgs: -1, MaxBytes: j.most,
		})
	}
	if err != nil {
		return j.fault(err)
	}
	j.stream = s
	return nil
}

// load implements [Store].
func (j *jet) load(ctx context.Context, each func(line)) (damaged int, err error) {
	if err := j.find(ctx, false); err != nil || j.stream == nil {
		return 0, err
	}
	info, err := j.stream.Info(ctx)
	if err != nil {
		return 0, j.fault(err)
	}
	next, last := max(j.last+1, info.State.FirstSeq), info.State.LastSeq
	if info.State.Msgs > 0 && next <= last {
		damaged, err = j.read(ctx, next, last, each)
	}
	if err == nil {
		j.last = last
	}
	return damaged, err
}

// read reads the messages from next to last. Some of them may no longer exist.
func (j *jet) read(ctx context.Context, next, last uint64, each func(line)) (damaged int,
	err error) {
	c, err := j.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next})
	if err != nil {
		return 0, j.fault(err)
	}
	messages, err := c.Messages()
	if err != nil {
		return 0, j.fault(err)
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return damaged, j.fault(err)
		}
		got, err := readLines(bytes.NewReader(m.Data()), each)
		if err != nil {
			return damaged, err
		}
		if damaged += got.damaged; got.torn {
			damaged++
		}
		meta, err := m.Metadata()
		if err != nil {
			return damaged, j.fault(err)
		}
		if meta.Sequence.Stream >= last || meta.NumPending == 0 {
			return damaged, nil
		}
	}
}

// append implements [Store].
func (j *jet) append(ctx context.Context, lines []byte) error {
	if err := j.find(ctx, true); err != nil {
		return err
	}
	for len(lines) > 0 {
		n := j.part(lines)
		if err := j.publish(ctx, lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// part returns how many bytes from the beginning of lines go into the next message. These bytes are
// whole lines.
func (j *jet) part(lines []byte) int {
	most := jetMessage
	if p := j.nc.MaxPayload(); p > 0 {
		most = min(most, int(p)*3/4)
	}
	if len(lines) <= most {
		return len(lines)
	}
	if i := bytes.LastIndexByte(lines[:most], '\n'); i >= 0 {
		return i + 1
	}
	return bytes.IndexByte(lines, '\n') + 1 // the broker may refuse it
}

func (j *jet) publish(ctx context.Context, lines []byte) error {
	ack, err := j.js.Publish(ctx, subjects.History(j.run), lines,
		jetstream.WithExpectLastSequence(j.last), jetstream.WithExpectStream(StreamOf(j.run)))
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		return errBehind
	}
	if err != nil {
		return j.fault(err)
	}
	j.last = ack.Sequence
	return nil
}

// replace implements [Store].
func (j *jet) replace(ctx context.Context, lines []byte) error {
	before := j.last
	if err := j.append(ctx, lines); err != nil || before == 0 {
		return err
	}
	return j.fault(j.stream.Purge(ctx, jetstream.WithPurgeSequence(before+1)))
}

// SetAside moves the history of an earlier run in JetStream to another stream, whose name ends in
// _BEFORE_N. SetAside returns the name of that stream, or "" if there is no history.
func SetAside(ctx context.Context, nc *nats.Conn, run string) (name string, err error) {
	j := &jet{nc: nc, run: run}
	if err := j.find(ctx, false); err != nil || j.stream == nil {
		return "", err
	}
	info, err := j.stream.Info(ctx)
	if err != nil {
		return "", j.fault(err)
	}
	cfg := info.Config
	cfg.Subjects, cfg.Sources = nil, []*jetstream.StreamSource{{Name: cfg.Name}}
	for i := 1; ; i++ {
		cfg.Name = fmt.Sprintf("%s_BEFORE_%d", StreamOf(run), i)
		_, err := j.js.Stream(ctx, cfg.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("stream %s: %w", cfg.Name, err)
		}
	}
	aside, err := j.js.CreateStream(ctx, cfg)
	if err != nil {
		return "", fmt.Errorf("stream %s: %w", cfg.Name, err)
	}
	for {
		there, err := aside.Info(ctx)
		if err != nil {
			return "", fmt.Errorf("stream %s: %w", cfg.Name, err)
		}
		if there.State.Msgs >= info.State.Msgs {
			return cfg.Name, j.js.DeleteStream(ctx, StreamOf(run))
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
	}
}
