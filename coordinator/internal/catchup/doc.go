// Package catchup answers devices that missed something: with records, in segments with the same
// borders for all devices, and with pieces of vectors. The package also keeps the last records for
// announcements.
package catchup
