// Package catchup answers devices that missed something: with records, in segments that
// are the same for everybody, and with pieces of vectors. It also keeps the last records
// for announcements.
package catchup
