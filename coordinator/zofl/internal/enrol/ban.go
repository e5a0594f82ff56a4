package enrol

import (
	"cmp"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

const (
	// banAfter is how many messages of a user are turned away until the user is banned. Each that was
	// more than an hour ago counts no longer, as if they came at an even rate.
	banAfter = 10_000
	// closingCost is for how many such messages a connection counts that was one too many.
	closingCost = 10
	// firstBan is the length of a user's first ban. Each is twice as long as the one before, up to
	// longestBan, unless that ended more than longestBan ago.
	firstBan   = time.Minute
	longestBan = time.Hour
	// barEvery is the shortest time after which the broker is told again whom to let in no more.
	barEvery = time.Second
)

// A ban is what a user did, and until when the user is banned for that.
type ban struct {
	debt  float64   // messages that were turned away, and have not been forgotten
	at    time.Time // when debt was right
	total uint64    // of all messages that were turned away, at the last look
	until time.Time
	last  time.Duration // how long the last ban is or was
}

// TurnedAway tells how many messages of a device the coordinator has turned away in all. The guard
// closes the connections of a device that had 10,000 of them turned away, refuses new ones for a
// minute, and twice as long each further time.
func (g *Guard) TurnedAway(id string, total uint64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range g.users {
		if u.name != id {
			continue
		}
		if total < u.total { // another coordinator counts
			u.total = 0
		}
		g.charge(u, total-u.total, now)
		u.total = total
	}
}

// charge adds to what a user did, and bans the user if that is too much.
func (g *Guard) charge(u *user, messages uint64, now time.Time) {
	forgotten := now.Sub(u.at).Hours() * banAfter
	u.debt, u.at = max(0, u.debt-forgotten)+float64(messages), now
	if u.debt < banAfter || now.Before(u.until) {
		return
	}
	if now.Sub(u.until) > longestBan {
		u.last = 0
	}
	u.last = min(cmp.Or(2*u.last, firstBan), longestBan)
	u.until, u.debt = now.Add(u.last), 0
	g.bar(now)
	for _, id := range u.open {
		_ = g.broker.HangUp(id) // an error means that it is gone
	}
	time.AfterFunc(u.last, g.lift)
	g.logger.Warn("a user is banned for a while: too many of its messages or connections were turned "+
		"away. zofl device revoke shuts it out for good", "id", u.name, "for", u.last,
		"turned_away", u.total)
}

// bar tells the broker whom to let in no more.
func (g *Guard) bar(now time.Time) {
	var keys []string
	for key, u := range g.users {
		if now.Before(u.until) {
			keys = append(keys, key)
		}
	}
	g.barred = now
	if err := g.broker.Bar(g.account, keys); err != nil {
		g.logger.Warn("the broker lets banned users in, and the guard closes their connections",
			"err", err)
	}
}

// lift lets users in whose bans are over.
func (g *Guard) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bar(time.Now())
}

// Banned returns the users who may not connect now.
func (g *Guard) Banned(now time.Time) (list []operate.Ban) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range g.users {
		if now.Before(u.until) {
			list = append(list, operate.Ban{ID: u.name, Until: u.until})
		}
	}
	slices.SortFunc(list, func(a, b operate.Ban) int { return cmp.Compare(a.ID, b.ID) })
	return list
}
