// Package grouping chooses the devices of a round's groups. The devices of a group share
// directions. The package knows which members are present and which have contributed, but not
// frames or the clock. The same inputs give the same groups.
package grouping
