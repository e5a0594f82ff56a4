package ratelimit

import "time"

// A Limit is a rate per second, and the number that may come at once. A Rate of 0 is no limit.
type Limit struct{ Rate, Burst float64 }

// A Bucket holds up to Limit.Burst tokens, and refills at Limit.Rate. The zero Bucket is full.
type Bucket struct {
	used float64   // tokens that are missing
	at   time.Time // when used was right
}

// Take takes a token. If there is none, Take returns the time when there will be a token.
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

// Buckets hold one bucket for each of many names. Buckets forget a bucket that has become full,
// because it was not used. If there are more than most buckets, Buckets may forget others too.
type Buckets struct {
	limit       Limit
	most        int
	now, before map[string]*Bucket // touched in this period, and in the one before
	since       time.Time
}

// NewBuckets returns buckets that each have the limit l.
func NewBuckets(l Limit, most int) *Buckets {
	return &Buckets{limit: l, most: most, now: map[string]*Bucket{}}
}

// Take takes a token from a name's bucket, as [Bucket.Take] does.
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
