package jetlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/internal/roster"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Defaults of a [Config].
const (
	DefaultLeaseTTL = 10 * time.Second
	DefaultTimeout  = 5 * time.Second
)

// minLeaseTTL is the shortest lease that a coordinator on a busy machine can renew in time, given
// the precision of the broker's timers.
const minLeaseTTL = time.Second

// A Config says where a log is and which process opens it.
type Config struct {
	// Conn is the connection to the broker. The caller closes Conn, after Close. Conn should reconnect
	// for ever, and have no reconnect buffer (nats.ReconnectBufSize(-1)), because the log itself
	// repeats a message until the broker has stored it.
	Conn *nats.Conn
	// Run is the run's name.
	Run string
	// Replicas is how many servers hold the log: 1, 3 or 5; 0 means 1. Replicas applies when the log
	// is created; an existing log must have at least as many.
	Replicas int
	// MaxBytes is how many bytes each stream of the log may have, for accounts that demand a limit.
	// MaxBytes applies when a stream is created. 0 means no limit; streams added to an existing log
	// then get the limit of the stream of records.
	MaxBytes int64
	// LeaseTTL is how long a coordinator still leads after its last renewal of the lease: at least one
	// second; 0 means DefaultLeaseTTL. LeaseTTL applies when the log is created.
	LeaseTTL time.Duration
	// Timeout is how long a call waits for a broker that does not answer. After a timeout the outcome
	// of the call is unknown. 0 means DefaultTimeout.
	Timeout time.Duration
	// Name is stored in the lease, so that people who read the lease know which process leads.
	Name string
	// Owner identifies whoever holds the lease, beyond the life of a process. A Log takes the lease at
	// once that another Log with the same Owner left. So at most one Log with an Owner may be open:
	// the caller must exclude a second one, for instance with a lock. Empty means that only this Log
	// is the owner of its lease.
	Owner string
	// Logger gets a line when Begin waits, and why. Default: none.
	Logger *slog.Logger
	// Existing makes Open fail if the run has no log; the error matches [runlog.ErrNoLog]. With
	// Existing, Open creates nothing at all. Begin and AddMembers create the streams and buckets that
	// are missing, except the stream of records.
	Existing bool
}

func (c Config) withDefaults() (Config, error) {
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.LeaseTTL == 0 {
		c.LeaseTTL = DefaultLeaseTTL
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Conn == nil:
		return c, fmt.Errorf("%w: Conn is nil", runlog.ErrConfig)
	case c.Replicas < 1 || c.Replicas > 5:
		return c, fmt.Errorf("%w: Replicas must be 1, 3 or 5, got %d", runlog.ErrConfig, c.Replicas)
	case c.LeaseTTL < minLeaseTTL:
		return c, fmt.Errorf("%w: LeaseTTL must be at least %v, got %v", runlog.ErrConfig,
			minLeaseTTL, c.LeaseTTL)
	case c.MaxBytes < 0:
		return c, fmt.Errorf("%w: MaxBytes must be positive, got %d", runlog.ErrConfig, c.MaxBytes)
	case c.Timeout < 0:
		return c, fmt.Errorf("%w: Timeout must be positive, got %v", runlog.ErrConfig, c.Timeout)
	}
	if err := plan.CheckName(c.Run); err != nil {
		return c, fmt.Errorf("%w: Run: %w", runlog.ErrConfig, err)
	}
	return c, nil
}

// A Log is a [runlog.Log] in NATS JetStream. Several coordinators may have the log open: one
// coordinator leads, and the others wait in Begin. A Log also implements [runlog.Objects] and
// [runlog.Epochs]. In JetStream, a log consists of
//
//	stream ZO_<run>_LOG          record n is message n
//	stream ZO_<run>_MEMBERS      changes of the roster, see package roster
//	bucket ZO_<run>_LEASE        who leads, while it renews its lease
//	bucket ZO_<run>_EPOCH        the last epoch, a record that was stored, and decisions
//	objects ZO_<run>_OBJECTS     with transport=dense, the vectors
//
// # What the broker must be set to
//
// jetstream { sync_interval: always }, on every server. By default a server acknowledges messages
// at once and writes them to its disk every two minutes. Devices apply a record once the server has
// acknowledged it. If the server then loses the record in a power cut, the devices' history differs
// from the log's. Ordinary connections cannot read this setting; [CheckSync] asks the servers over
// a connection to their system account. max_payload must have room for a record and publishHead
// bytes more.
//
// # Safety
//
// The broker stores record n only if the stream's last message is n-1. If an answer is lost, Append
// reads message n from the stream's leader. So there is only one record n, even if several
// coordinators believe that they lead. The lease only keeps coordinators from doing the same work
// twice.
//
// # Goroutines
//
// Only the goroutine that leads may use a Log, with these exceptions. Any goroutine may call Last,
// Read, Lost, Members, Retired and Object. Between Begin and Close a goroutine of the Log renews
// the lease; see lease.
//
// Invariants:
//  1. tail is the end of the chain of records that l has seen in the stream, and records.n is
//     tail.N. Neither ever decreases.
//  2. members and retired are the result of messages 1..roster.n of the second stream, and sealed
//     is the sum of message roster.n.
type Log struct {
	cfg     Config
	js      jetstream.JetStream
	records *ledger
	roster  *ledger
	lease   *lease
	epochs  *counter
	seen    *seen
	objects objectBucket

	decisions *decisions
	handing   handover // what is to be stored with the next record

	mu      sync.Mutex // guards what follows
	tail    runlog.Chain
	epoch   uint64    // of the last record
	first   wire.Hash // of record 1
	members []string
	retired []string
	sealed  roster.Sum
	lost    chan struct{}
}

var _ runlog.Log = (*Log)(nil)

// Open opens the log of a run, or creates the log. Open reads and verifies all records. Open does
// not make the caller the leader; [Log.Begin] does.
//
// Errors match [runlog.ErrConfig], [runlog.ErrNoLog] or [runlog.ErrCorrupt], or come from the
// broker. While no server leads the log's streams, Open waits until the servers elect a leader.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("jetlog: %w", err)
	}
	l := &Log{cfg: cfg, lost: make(chan struct{})}
	err = l.open(ctx)
	if err == nil {
		err = l.refresh(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("jetlog: run %s: %w", cfg.Run, err)
	}
	return l, nil
}

// open finds the streams and buckets of the log, or creates them unless Config.Existing is set.
func (l *Log) open(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if l.js, err = jetstream.New(l.cfg.Conn); err != nil {
		return err
	}
	run := l.cfg.Run
	l.records = l.ledger("ZO_"+run+"_LOG", subjects.Log(run), "records")
	if err := l.records.open(ctx, l.cfg.Replicas, !l.cfg.Existing); err != nil {
		return err
	}
	l.cfg.MaxBytes = cmp.Or(l.cfg.MaxBytes, max(l.records.most, 0))
	l.roster = l.ledger("ZO_"+run+"_MEMBERS", subjects.Members(run), "members")
	if !l.cfg.Existing {
		return l.complete(ctx)
	}
	if err := l.roster.open(ctx, l.records.replicas, false); !errors.Is(err, runlog.ErrNoLog) {
		return err
	}
	return nil // there are no members
}

// complete finds or creates the streams and buckets of the log, except the stream of records.
func (l *Log) complete(ctx context.Context) error {
	if l.epochs != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	replicas := l.records.replicas
	if err := l.roster.open(ctx, replicas, true); err != nil {
		return err
	}
	lease, err := openLease(ctx, l, replicas)
	if err != nil {
		return err
	}
	seen, err := openSeen(ctx, l, replicas)
	if err != nil {
		return err
	}
	epochs, err := openCounter(ctx, l, replicas)
	if err == nil {
		l.lease, l.epochs, l.seen, l.decisions = lease, epochs, seen, seen.decisions()
	}
	return err
}

func (l *Log) ledger(name, subject, what string) *ledger {
	return &ledger{nc: l.cfg.Conn, js: l.js, name: name, subject: subject, what: what,
		timeout: l.cfg.Timeout, most: cmp.Or(l.cfg.MaxBytes, -1)}
}

// MaxBytes returns how many bytes each of the streams may have, 0 for any number.
func (l *Log) MaxBytes() int64 { return l.cfg.MaxBytes }

// Last implements [runlog.Log].
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail.N
}

// Members implements [runlog.Log].
func (l *Log) Members() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.members...), nil
}

// Retired implements [runlog.Log].
func (l *Log) Retired() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.retired...), nil
}

// Lost implements [runlog.Log]. The Log also closes the channel if it could not renew the lease in
// time.
func (l *Log) Lost() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Close implements [runlog.Log]. Close deletes the lease, so that a waiting coordinator takes over
// at once.
func (l *Log) Close() error {
	if l.lease == nil {
		return nil // this Log never led
	}
	l.objects.sweep.rest(l.cfg.Timeout)
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
	defer cancel()
	var kept error
	if l.lease.holds() {
		kept = l.seen.store(ctx, l.Last())
	}
	if err := errors.Join(kept, l.lease.release(ctx)); err != nil {
		return fmt.Errorf("log: lease: %w", err)
	}
	return nil
}
