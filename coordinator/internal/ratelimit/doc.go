// Package ratelimit shares a coordinator among its senders: a [Queue] takes turns, a [Bucket]
// bounds a rate, and [Offenders] remember who sent more than a fair share.
package ratelimit
