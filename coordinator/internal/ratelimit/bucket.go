package ratelimit

import "time"

// A Limit is a rate a second, and how many may come at once. A Rate of 0 is no limit.
type Limit struct{ Rate, Burst float64 }

// A Bucket of tokens holds up to Limit.Burst of them, and refills at Limit.Rate. The zero Bucket is
// full.
type Bucket struct {
	used float64   // tokens that are missing
	at   time.Time // when used was right
}

// Take takes a token. If there is none, it returns when there will be one.
func (b *Bucket) Take(now time.Time, l Limit) (ready time.Time, ok bool) {
	if l.Rate == 0 {
		return now, true
	}
	b.used = max(0, b.used-now.Sub(b.at).Seconds()*l.Rate)
	b.at = now
	if lacks := b.used + 1 - l.Burst; lacks > 0 {
		return now.Add(time.Duration(lacks/l.Rate*float64(time.Second)) + 1), false
	}
	b.used++
	return now, true
}

// Buckets hold one bucket for each of many names. A bucket that has become full, because it was not
// used, is forgotten. Others are forgotten too if there are more than most.
type Buckets struct {
	limit       Limit
	most        int
	now, before map[string]*Bucket // touched in this period, and in the one before
	since       time.Time
}

// NewBuckets returns buckets with a limit each.
func NewBuckets(l Limit, most int) *Buckets {
	return &Buckets{limit: l, most: most, now: map[string]*Bucket{}}
}

// Take is [Bucket.Take] of a name's bucket.
func (b *Buckets) Take(name string, now time.Time) (ready time.Time, ok bool) {
	if b.limit.Rate == 0 {
		return now, true
	}
	fills := time.Duration(b.limit.Burst / b.limit.Rate * float64(time.Second))
	if now.Sub(b.since) > fills || len(b.now) >= b.most {
		b.now, b.before, b.since = map[string]*Bucket{}, b.now, now
	}
	bucket := b.now[name]
	if bucket == nil {
		if bucket = b.before[name]; bucket == nil {
			bucket = &Bucket{}
		}
		b.now[name] = bucket
	}
	return bucket.Take(now, b.limit)
}
