package catchup

import (
	"container/list"
	"context"
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A segmentCache keeps the segments of a log that devices requested most recently. One goroutine
// owns a segmentCache.
//
// Invariants:
//  1. order has the elements of at. The most recently requested segment is in front.
//  2. size is the sum of the segments' sizes. size is at most most, unless there is only one.
type segmentCache struct {
	log        runlog.Log
	most, size int
	at         map[int]*list.Element
	order      *list.List // of *heldSegment
}

// A heldSegment has a segment's records up to last. The log's last segment may grow.
type heldSegment struct {
	index   int
	last    uint64
	records wire.Records
	size    int
}

func newSegmentCache(log runlog.Log, most int) *segmentCache {
	return &segmentCache{log: log, most: most, at: map[int]*list.Element{}, order: list.New()}
}

// get returns the records of a segment, which are valid until the next call. get reads a segment
// from the log if the cache does not hold it.
func (c *segmentCache) get(ctx context.Context, s Span) (*heldSegment, error) {
	e, ok := c.at[s.index]
	if !ok {
		e = c.order.PushFront(&heldSegment{index: s.index, last: s.First - 1})
		c.at[s.index] = e
	}
	c.order.MoveToFront(e)
	h := e.Value.(*heldSegment)
	c.size -= h.size
	err := h.read(ctx, c.log, s.last)
	c.size += h.size
	for c.size > c.most && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
	if err != nil {
		c.drop(e)
	}
	return h, err
}

func (c *segmentCache) drop(e *list.Element) {
	h := c.order.Remove(e).(*heldSegment)
	c.size -= h.size
	delete(c.at, h.index)
}

// read adds the records up to last to the segment.
func (h *heldSegment) read(ctx context.Context, log runlog.Log, last uint64) error {
	if h.last >= last {
		return nil
	}
	err := log.Read(ctx, h.last+1, func(n uint64, record []byte) bool {
		if n != h.last+1 || n > last {
			return false
		}
		h.records.Add(record)
		h.last, h.size = n, h.size+len(record)+RecordHead
		return n < last
	})
	if err == nil && h.last != last {
		err = fmt.Errorf("record %d: %w: missing", h.last+1, runlog.ErrCorrupt)
	}
	return err
}
