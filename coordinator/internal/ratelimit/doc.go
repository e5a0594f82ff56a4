// Package ratelimit shares a coordinator among its senders: a [Queue] serves senders in turn, a
// [Bucket] bounds a rate, and [Offenders] remember senders that send too much.
package ratelimit
