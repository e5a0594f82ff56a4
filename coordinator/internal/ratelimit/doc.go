// Package ratelimit shares a coordinator between those who ask: a [Queue] takes turns, a [Bucket]
// bounds a rate, and [Offenders] remember who asked for more than his share.
package ratelimit
