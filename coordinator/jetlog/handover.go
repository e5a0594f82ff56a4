package jetlog

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

var _ runlog.Handovers = (*Log)(nil)

// handoverHeader is the header of a record's message that has the handover: the record's tip and,
// in base64, the state. So the broker stores both at once, or neither. Readers of records ignore
// it.
const handoverHeader = "Zofl-Handover"

// headerRoom is how many bytes a message has at most besides its data and its handover.
const headerRoom = 256

// A handover is to be stored with the record that has the tip.
type handover struct {
	tip   wire.Tip
	value string
	most  int64 // bytes of a message
}

// header returns the header of a record, or nil if nothing is to be stored with the record. Without
// room for the handover, the record goes without.
func (h *handover) header(record []byte, tip wire.Tip) nats.Header {
	if h.value == "" || h.tip != tip || int64(len(record)+len(h.value)+headerRoom) > h.most {
		return nil
	}
	return nats.Header{handoverHeader: []string{h.value}}
}

// HandOver implements [runlog.Handovers]. Append stores the handover.
func (l *Log) HandOver(_ context.Context, _ uint64, tip wire.Tip, state []byte) error {
	if len(state) > runlog.MaxHandover {
		return fmt.Errorf("log: handover: %d bytes, at most %d are kept", len(state),
			runlog.MaxHandover)
	}
	value := fmt.Sprintf("%v %s", tip, base64.StdEncoding.EncodeToString(state))
	l.handing = handover{tip, value, min(l.cfg.Conn.MaxPayload(), wire.MaxFrame)}
	return nil
}

// HandedOver implements [runlog.Handovers]. A damaged header counts as none, and the logger says
// so: nobody can take a header out of a stream, and the run can go on without.
func (l *Log) HandedOver(ctx context.Context) (state []byte, err error) {
	l.mu.Lock()
	tail := l.tail
	l.mu.Unlock()
	if tail.N == 0 {
		return nil, nil
	}
	var m storedMessage
	err = patiently(ctx, l.cfg.Conn, func(ctx context.Context) (err error) {
		m, err = l.records.message(ctx, tail.N)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("log: stream %s: message %d: handover: %w", l.records.name, tail.N, err)
	}
	state, err = handoverOf(m.Header, tail.Hash.Tip())
	if err != nil {
		l.cfg.Logger.Warn("what the coordinator before handed over is damaged: the run goes on without, "+
			"with other steps or groups", "stream", l.records.name, "record", tail.N, "err", err)
		return nil, nil
	}
	return state, nil
}

// handoverOf returns the state in the header of the record with a tip, or nil if it has none.
func handoverOf(header []byte, tip wire.Tip) ([]byte, error) {
	if len(header) == 0 {
		return nil, nil
	}
	h, err := nats.DecodeHeadersMsg(header)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
	}
	of, coded, ok := strings.Cut(h.Get(handoverHeader), " ")
	if !ok || of != tip.String() {
		return nil, nil
	}
	state, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || len(state) > runlog.MaxHandover {
		return nil, fmt.Errorf("%w: %d letters that are no state", runlog.ErrCorrupt, len(coded))
	}
	return state, nil
}
