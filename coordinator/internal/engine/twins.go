package engine

import (
	"hash/crc32"
	"math"

	"github.com/zofl/zofl/coordinator/internal/crowd"
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	wiregroups "github.com/zofl/zofl/wire/grouping"
	"github.com/zofl/zofl/wire/masked"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// mostSame bounds how many ids a status names as which two devices send.
const mostSame = 8

// checksum sums bytes and numbers, quickly. Who makes two answers with one sum hides that two
// devices send, and nothing else.
func checksum(b []byte, numbers ...uint32) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	for _, n := range numbers {
		sum = (sum ^ n) * 16777619 // as FNV-1a does with bytes
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// compare looks whether a contribution is another one than the member's last to this record.
func (c *Core) compare(m gather.Member, r *wire.Reply) {
	if r.Kind != wire.Contribution || !c.timely(r.N, r.Tip) {
		return
	}
	group, _ := wiregroups.OfReply(r)
	c.same(m, crowd.Answer{Record: r.N,
		Form:    checksum(nil, uint32(len(r.Values)), uint32(survey.Answered(r.Rest)), uint32(group)),
		Numbers: checksum(r.Values, r.Weight, math.Float32bits(r.Loss))})
}

// compareVector does so with a piece of a vector, which names the whole vector's digest.
func (c *Core) compareVector(m gather.Member, u *wire.Upload) {
	if c.timely(u.N, u.Tip) {
		c.same(m, crowd.Answer{Record: u.N, Form: uint32(u.Size),
			Numbers: checksum(u.Digest[:], u.Weight, math.Float32bits(u.Loss))})
	}
}

// compareKeys does so with the keys of an attempt of secure aggregation, which a device makes once.
func (c *Core) compareKeys(m gather.Member, r *masked.Request) {
	if r.N == c.N+1 && r.Step == secagg.StepKeys {
		c.same(m, crowd.Answer{Record: r.N, Form: checksum(r.Nonce[:]), Numbers: checksum(r.Body)})
	}
}

// same tells when a member's answers show that two devices send as this member.
func (c *Core) same(m gather.Member, a crowd.Answer) {
	if !c.roster.Open && c.crowd.Compare(m.Slot, a) {
		c.emitEvent(report.Event{Kind: report.SameID, ID: m.ID})
	}
}

// sameID returns the first members as which two devices send.
func (c *Core) sameID() (names []string) {
	for _, slot := range c.crowd.Twins() {
		if !c.crowd.Members[slot].Retired && len(names) < mostSame {
			names = append(names, c.roster.IDs[slot])
		}
	}
	return names
}
