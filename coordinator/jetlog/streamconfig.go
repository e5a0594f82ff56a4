package jetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// stream returns the configuration of a ledger's stream. With this configuration, a full stream
// refuses new messages and keeps the old ones.
func (l *ledger) stream(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: l.name, Subjects: []string{l.subject}, Description: "zofl: " + l.what +
			" of a run; must not lose any",
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
		Storage: jetstream.FileStorage, Replicas: replicas,
		MaxMsgs: -1, MaxBytes: l.most, MaxMsgsPerSubject: -1, MaxConsumers: -1,
		MaxMsgSize: wire.MaxFrame,
		DenyDelete: true, DenyPurge: true, AllowDirect: true,
	}
}

// startsWithin is how long after its start a server may not offer JetStream yet.
const startsWithin = 5 * time.Second

// open finds the stream, or creates the stream if create is set.
func (l *ledger) open(ctx context.Context, replicas int, create bool) error {
	var s jetstream.Stream
	began := time.Now()
	err := patiently(ctx, l.nc, func(ctx context.Context) (err error) {
		s, err = l.js.Stream(ctx, l.name)
		if errors.Is(err, jetstream.ErrStreamNotFound) && create {
			s, err = l.js.CreateStream(ctx, l.stream(replicas))
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				s, err = l.js.Stream(ctx, l.name) // another process has just created it
			}
		}
		if errors.Is(err, nats.ErrNoResponders) && time.Since(began) > startsWithin {
			return jetstream.ErrJetStreamNotEnabled
		}
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("stream %s: %w", l.name, runlog.ErrNoLog)
	case err != nil:
		return refused("stream "+l.name, err)
	}
	cfg := s.CachedInfo().Config
	l.replicas, l.most = cfg.Replicas, cfg.MaxBytes
	return l.checkConfig(&cfg, replicas)
}

// A setting is a field of a stream's configuration, and the value that the log needs.
type setting struct {
	field string
	got   any
	ok    bool
	want  string
}

// exists says whether open has found or created the stream.
func (l *ledger) exists() bool { return l.replicas > 0 }

// checkConfig returns an error if the stream's configuration would let it lose, drop or change
// messages.
func (l *ledger) checkConfig(c *jetstream.StreamConfig, replicas int) error {
	for _, s := range []setting{
		{"subjects", c.Subjects, slices.Equal(c.Subjects, []string{l.subject}),
			fmt.Sprint([]string{l.subject})},
		{"storage", c.Storage, c.Storage == jetstream.FileStorage, "file"},
		{"retention", c.Retention, c.Retention == jetstream.LimitsPolicy, "limits"},
		{"discard", c.Discard, c.Discard == jetstream.DiscardNew, "new"},
		{"num_replicas", c.Replicas, c.Replicas >= replicas, fmt.Sprint("at least ", replicas)},
		{"deny_delete", c.DenyDelete, c.DenyDelete, "true"},
		{"deny_purge", c.DenyPurge, c.DenyPurge, "true"},
		{"allow_rollup_hdrs", c.AllowRollup, !c.AllowRollup, "false"},
		{"max_age", c.MaxAge, c.MaxAge == 0, "0"},
		{"max_msgs_per_subject", c.MaxMsgsPerSubject, c.MaxMsgsPerSubject <= 0, "-1"},
		{"max_msg_size", c.MaxMsgSize, c.MaxMsgSize <= 0 || c.MaxMsgSize >= wire.MaxFrame,
			fmt.Sprint("at least ", wire.MaxFrame)},
		{"no_ack", c.NoAck, !c.NoAck, "false"},
		{"first_seq", c.FirstSeq, c.FirstSeq <= 1, "1"},
		{"persist_mode", c.PersistMode, c.PersistMode == jetstream.DefaultPersistMode, "default"},
		{"allow_msg_ttl", c.AllowMsgTTL, !c.AllowMsgTTL, "false"},
		{"allow_msg_counter", c.AllowMsgCounter, !c.AllowMsgCounter, "false"},
		{"mirror", c.Mirror, c.Mirror == nil, "none"},
		{"sources", len(c.Sources), len(c.Sources) == 0, "none"},
		{"subject_transform", c.SubjectTransform, c.SubjectTransform == nil, "none"},
	} {
		if !s.ok {
			return fmt.Errorf("%w: stream %s: %s is %v and must be %s: correct it with `nats "+
				"stream edit %s`, "+
				"or copy the log to a stream that zofl makes", runlog.ErrConfig, l.name, s.field,
				s.got, s.want, l.name)
		}
	}
	return nil
}
