// Package ratelimit shares a coordinator among its senders: a [Queue] takes turns, a [Bucket]
// bounds a rate, and [Offenders] remember senders of more than a fair share.
package ratelimit
