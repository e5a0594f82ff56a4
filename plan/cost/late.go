package cost

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Late returns the bytes that a device receives to catch up the given number of rounds, in replies
// of the largest size. The replies hold records as the log has them, even if announcements have the
// short form. For many rounds a snapshot takes fewer bytes than Late returns. With DenseVectors the
// device also receives the last round's vectors, and Late does not count them.
func Late(p *plan.Plan, in Input, rounds uint64) (t Traffic) {
	const head, most = 3, wire.MaxFrame - 64 // bytes of a record's length; bytes that fit into a reply
	s := sampleOf(p, max(in.Round, 1))
	reply, size := wire.CatchUpReply{From: s.n(0), Last: s.n(0)}, 0
	flush := func() {
		t.add(received(inbox, reply.Append(nil)))
		reply.Records, size = wire.Records{}, 0
	}
	for range rounds {
		for _, record := range s.records {
			if size > 0 && size+len(record)+head > most {
				flush()
			}
			reply.Records.Add(record)
			size += len(record) + head
		}
	}
	flush()
	return t
}
