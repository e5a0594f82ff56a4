package catchup

import (
	"log/slog"

	"github.com/zofl/zofl/coordinator/internal/ratelimit"
	"github.com/zofl/zofl/internal/share"
)

const (
	// strangersTimes is how many shares all strangers have together, where they can make up ids.
	strangersTimes = 64
	// operatorID is the id of all operators together.
	operatorID = "zofl"
)

// shares bound what senders draw from a service. The goroutine of Serve owns shares.
type shares struct {
	each      share.Shares
	strangers share.Shares // all draw under one name
}

// has says how many bytes the service has to send.
func (s *shares) has(bytes int64) {
	s.each.Has(bytes)
	s.strangers.Has(bytes)
}

// add says that so many bytes are new.
func (s *shares) add(bytes int64) {
	s.each.Add(bytes)
	s.strangers.Add(bytes)
}

// of says whose share a sender draws from: its own, and that of all strangers. Operators, who have
// one id, draw only from the latter.
func (s *answerer) of(sender ratelimit.Sender) (own, strangers bool) {
	operator, r := sender.ID == operatorID, s.register
	return !operator, operator || !sender.Member && !r.Open && !r.Authenticated
}

// mayDraw says whether a sender has not drawn its share yet. The log names a sender that has.
func (s *answerer) mayDraw(sender ratelimit.Sender) bool {
	own, strangers := s.of(sender)
	left, tell, who := true, false, sender.Name
	if own {
		left, tell = s.shares.each.Left(sender.Name)
	}
	if left && strangers {
		left, tell = s.shares.strangers.Left("")
		who = "all strangers together"
	}
	if tell {
		s.logger.Warn("has drawn its share, and gets answers seldom", "what", s.what,
			slog.String("device", sender.ID), slog.String("share", who))
	}
	return left
}

// draw notes that a sender got an answer.
func (s *answerer) draw(sender ratelimit.Sender, bytes int) {
	own, strangers := s.of(sender)
	if own {
		s.shares.each.Draw(sender.Name, bytes)
	}
	if strangers {
		s.shares.strangers.Draw("", bytes)
	}
}
