package soak

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
)

var errStopped = errors.New("the coordinator is stopped")

// A leader is a coordinator on a file log that stops and returns. One goroutine at a time starts
// and stops the leader.
type leader struct {
	dir   string
	plan  *plan.Plan
	proxy *bustest.Proxy
	wrong func(error)

	rounds  atomic.Uint64
	last    atomic.Int64 // when the last round ended, in Unix nanoseconds
	longest atomic.Int64 // the longest time between two rounds, in nanoseconds

	c       atomic.Pointer[coordinator.Coordinator]
	log     *filelog.Log
	conn    *nats.Conn
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
}

// start starts the coordinator; the first start begins the run.
func (l *leader) start() (err error) {
	if l.log, err = filelog.Open(filepath.Join(l.dir, "log")); err != nil {
		return err
	}
	if l.conn, err = connect(l.proxy, "coordinator"); err != nil {
		return err
	}
	c, err := coordinator.New(context.Background(), coordinator.Config{
		Conn: l.conn, Plan: l.plan, Log: l.log, Recorder: report.RecorderFunc(l.record),
	})
	if err != nil {
		return err
	}
	l.c.Store(c)
	ctx, cancel := context.WithCancelCause(context.Background())
	l.cancel = cancel
	l.running.Go(func() {
		if err := c.Run(ctx); !errors.Is(err, errStopped) {
			l.wrong(fmt.Errorf("coordinator: Run returned %v", err))
		}
	})
	return nil
}

func (l *leader) stop() error {
	l.cancel(errStopped)
	l.running.Wait()
	l.conn.Close()
	return l.log.Close()
}

func (l *leader) record(e report.Event) error {
	if e.Kind == report.RoundDone {
		now := time.Now().UnixNano()
		if gap := now - l.last.Swap(now); gap > l.longest.Load() {
			l.longest.Store(gap)
		}
		l.rounds.Add(1)
	}
	return nil
}

// stalled returns the time since the last round ended.
func (l *leader) stalled() time.Duration {
	return time.Duration(time.Now().UnixNano() - l.last.Load())
}

// excuse restarts the time that stalled returns.
func (l *leader) excuse() { l.last.Store(time.Now().UnixNano()) }

// follow applies to a replica the records that the replica lacks.
func (l *leader) follow(r *replica.Replica) error {
	var failed error
	err := l.log.Read(context.Background(), r.N()+1, func(n uint64, record []byte) bool {
		if failed = r.Apply(record); failed != nil {
			failed = fmt.Errorf("log, record %d: %w", n, failed)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}
